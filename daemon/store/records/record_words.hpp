// Words of the journal for the enums of records, in the order of their values. They never change; a new value gets a
// new word at the end.
#pragma once
#include "daemon/store/records/record.hpp"
#include "mcp/json/enum_words.hpp"
#include "providers/model/message_format.hpp"

namespace mcpbx {

template <>
struct json::enum_words<daemon::stored::stop_reason>
    : json::spoken<daemon::stored::stop_reason, daemon::stored::stop_reason::repeated_calls> {};
template <>
struct json::enum_words<daemon::stored::record::result_cause>
    : json::spoken<daemon::stored::record::result_cause, daemon::stored::record::result_cause::refused> {};
template <conf::loop::worded E>
struct json::enum_words<E> : json::listed<E, conf::loop::words_of<E>> {};

}  // namespace mcpbx
