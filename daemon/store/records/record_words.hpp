// The words that the journal writes for the enums of records, in the order of their values. They never change; a new
// value gets a new word at the end.
#pragma once
#include "daemon/store/records/record.hpp"
#include "mcp/json/json_members.hpp"
#include "providers/model/message_format.hpp"

#include <array>
#include <string_view>

namespace mcpbx::daemon {

namespace record_words {

inline constexpr std::array<std::string_view, 2> on_limit{"synthesize", "stop"};
inline constexpr std::array<std::string_view, 2> on_tool_error{"continue", "stop"};
inline constexpr std::array<std::string_view, 3> status_mode{"off", "names", "model"};
inline constexpr std::array<std::string_view, 2> round_prompt_mode{"implicit", "progressive"};
inline constexpr std::array<std::string_view, 3> approval_mode{"ask", "all", "none"};

}  // namespace record_words

}  // namespace mcpbx::daemon

namespace mcpbx {

template <>
struct enum_words<daemon::stop_reason> : spoken<daemon::stop_reason, daemon::stop_reason::repeated_calls> {};
template <>
struct enum_words<daemon::record::result_cause>
    : spoken<daemon::record::result_cause, daemon::record::result_cause::refused> {};
template <>
struct enum_words<daemon::on_limit> : listed<daemon::on_limit, daemon::record_words::on_limit> {};
template <>
struct enum_words<daemon::on_tool_error> : listed<daemon::on_tool_error, daemon::record_words::on_tool_error> {};
template <>
struct enum_words<daemon::status_mode> : listed<daemon::status_mode, daemon::record_words::status_mode> {};
template <>
struct enum_words<daemon::round_prompt_mode>
    : listed<daemon::round_prompt_mode, daemon::record_words::round_prompt_mode> {};
template <>
struct enum_words<daemon::approval_mode> : listed<daemon::approval_mode, daemon::record_words::approval_mode> {};

}  // namespace mcpbx
