// Writes messages as JSON objects and reads them back without loss. The journal and recordings use this format.
#pragma once
#include "mcp/json/json_reader.hpp"
#include "mcp/json/json_writer.hpp"
#include "providers/model/message.hpp"

#include <array>
#include <string>
#include <string_view>

namespace mcpbx {

namespace providers {
inline constexpr std::array<std::string_view, 9> model_error_words{"connection", "time_limit",  "refused",
                                                                   "overloaded", "bad_request", "context_full",
                                                                   "cut",        "garbage",     "configuration"};
}  // namespace providers

template <>
struct json::enum_words<providers::role> : json::spoken<providers::role, providers::role::tool_results> {};
template <>
struct json::enum_words<providers::end_reason> : json::spoken<providers::end_reason, providers::end_reason::unknown> {};
template <>
struct json::enum_words<providers::model_error::kind>
    : json::listed<providers::model_error::kind, providers::model_error_words> {};

namespace providers {

/// Appends `m` as a JSON object. JSON inside the message (arguments, results, the provider's own message) is copied
/// byte for byte; invalid UTF-8 in texts becomes U+FFFD.
void append_message(json::json_writer& w, const message& m);
/// Reads an object that append_message() wrote. `json` is the member `name` of the object that `within` reads, and
/// errors go to `within`. Unknown members are ignored, absent ones have their default.
message_ptr read_message(json::raw_json json, const json::json_reader& within, std::string_view name);

void append_usage(json::json_writer& w, const usage& u);
/// Reads a usage object, as read_message() does.
usage read_usage(json::raw_json json, const json::json_reader& within, std::string_view name);

void append_settings(json::json_writer& w, const call_settings& s);
/// Reads a settings object, as read_message() does.
call_settings read_settings(json::raw_json json, const json::json_reader& within, std::string_view name);

}  // namespace providers
}  // namespace mcpbx
