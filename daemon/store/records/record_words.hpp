// Words of the journal for the enums of records, in the order of their values. They never change; a new value gets a
// new word at the end.
#pragma once
#include "daemon/store/records/record.hpp"
#include "mcp/json/enum_words.hpp"
#include "providers/model/message_format.hpp"

#include <array>
#include <string_view>

namespace mcpbx::daemon {

namespace record_words {

inline constexpr std::array<std::string_view, 3> approval_mode{"ask", "all", "none"};

}  // namespace record_words

}  // namespace mcpbx::daemon

namespace mcpbx {

template <>
struct enum_words<daemon::stop_reason> : spoken<daemon::stop_reason, daemon::stop_reason::repeated_calls> {};
template <>
struct enum_words<daemon::record::result_cause>
    : spoken<daemon::record::result_cause, daemon::record::result_cause::refused> {};
template <conf::worded E>
struct enum_words<E> : listed<E, conf::words_of<E>> {};
template <>
struct enum_words<daemon::approval_mode> : listed<daemon::approval_mode, daemon::record_words::approval_mode> {};

}  // namespace mcpbx
