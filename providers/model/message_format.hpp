// A message as files keep it: one JSON object, both ways lossless. The journal and recordings are written with it.
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
struct enum_words<providers::role> : spoken<providers::role, providers::role::tool_results> {};
template <>
struct enum_words<providers::end_reason> : spoken<providers::end_reason, providers::end_reason::unknown> {};
template <>
struct enum_words<providers::model_error::kind> : listed<providers::model_error::kind, providers::model_error_words> {};

namespace providers {

/// JSON inside of the message (arguments, results, the provider's own message) stands there byte for byte; texts must
/// be UTF-8 (what is not is written as U+FFFD).
void append_message(json_writer& w, const message& m);
/// Reads what append_message wrote, from `json`, which stands in the member `name` of what `within` reads. Members that
/// are not known are ignored, absent ones have their default. Complaints go where those of `within` go; wrong are
/// members of another kind, unknown words, two calls of one id.
message_ptr read_message(raw_json json, const json_reader& within, std::string_view name);

void append_usage(json_writer& w, const usage& u);
/// As read_message.
usage read_usage(raw_json json, const json_reader& within, std::string_view name);

void append_settings(json_writer& w, const call_settings& s);
/// As read_message.
call_settings read_settings(raw_json json, const json_reader& within, std::string_view name);

}  // namespace providers
}  // namespace mcpbx
