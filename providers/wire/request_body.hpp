// Members of a request's body beside the conversation: those of the codec, overridden by those of the configuration.
#pragma once
#include "mcp/json/json_writer.hpp"
#include "providers/model/message.hpp"

#include <string_view>

namespace mcpbx::providers::wire {

/// Returns true for members that a configuration cannot replace: the conversation, its tools, and the wish to stream.
bool is_reserved_member(std::string_view key);

/// Writes the members of `ours` into the object begun in `w`. `extra`, an object or absent, wins: objects are merged,
/// null removes our member. Its reserved members are ignored.
void write_members(json::segment_writer& w, std::string_view ours, const json::raw_json& extra);

/// Writes the settings of sampling that are set; `top_p` is the API's name of that one.
void write_sampling(json::json_writer& w, const call_settings& settings, std::string_view top_p = "top_p");

}  // namespace mcpbx::providers::wire
