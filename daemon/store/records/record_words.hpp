// Words of the journal for the enums of records, in the order of their values. They never change; a new value gets a
// new word at the end.
#pragma once
#include "daemon/store/records/record.hpp"
#include "mcp/json/enum_words.hpp"
#include "providers/model/message_format.hpp"

namespace mcpbx {

template <>
struct enum_words<daemon::stop_reason> : spoken<daemon::stop_reason, daemon::stop_reason::repeated_calls> {};
template <>
struct enum_words<daemon::record::result_cause>
    : spoken<daemon::record::result_cause, daemon::record::result_cause::refused> {};
template <conf::worded E>
struct enum_words<E> : listed<E, conf::words_of<E>> {};

}  // namespace mcpbx
