// A message as files keep it: one JSON object, both ways lossless. The journal and recordings are written with it.
#pragma once
#include "mcp/support/json_members.hpp"
#include "providers/model/message.hpp"

#include <string>

namespace mcpbx {

template <>
struct words_of<providers::role> : spoken<providers::role, providers::role::tool_results> {};
template <>
struct words_of<providers::end_reason> : spoken<providers::end_reason, providers::end_reason::malformed_call> {};

namespace providers {

/// JSON inside of the message (arguments, results, the provider's own message) stands there byte for byte; texts must
/// be UTF-8 (what is not is written as U+FFFD).
void append_message(std::string& out, const message& m);
/// Reads what append_message wrote. Members that are not known are ignored, absent ones have their default. `place` and
/// `wrong` as with object_reader; wrong are members of another kind, unknown words, two calls of one id.
message_ptr read_message(const raw_json& json, const std::string& place, std::string& wrong);

void append_usage(std::string& out, const usage& u);
usage read_usage(const raw_json& json, const std::string& place, std::string& wrong);

}  // namespace providers
}  // namespace mcpbx
