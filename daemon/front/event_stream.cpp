// Lines are put together in one string: at hundreds of thousands of tokens a second each piece counts.
#include "daemon/front/event_stream.hpp"

#include <charconv>

namespace mcpbx::daemon {
namespace {

void append_number(std::string& out, std::uint64_t n) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, n).ptr);
}

}  // namespace

event_stream::event_stream(const mcp::rpc_id& request, std::string_view run) {
  head_ = R"({"jsonrpc":"2.0","method":"mcpbx/event","params":{"request":)";
  head_ += request.token();
  head_ += ",\"run\":";
  append_quoted(head_, run);
  head_ += ",\"seq\":";
}

segments event_stream::delta(run_event::kind kind, std::string_view text, std::string& scratch) {
  scratch = head_;
  append_number(scratch, ++seq_);
  scratch += kind == run_event::kind::text ? R"(,"type":"text","text":)" : R"(,"type":"reasoning","text":)";
  append_quoted(scratch, text);
  scratch += "}}";
  segments out;
  out.append_copy(scratch);
  return out;
}

segments event_stream::event(const segments& body, std::uint64_t dropped, std::string& scratch) {
  scratch = head_;
  append_number(scratch, ++seq_);
  if (dropped > 0) {
    scratch += ",\"dropped\":";
    append_number(scratch, dropped);
  }
  scratch += ',';
  segments out;
  out.append_copy(scratch);
  bool first = true;
  for (const auto& piece : body.pieces()) {
    // The body's opening bracket is the one that the line has already.
    out.append(first ? piece.slice(piece.text().substr(1)) : piece);
    first = false;
  }
  out.append_literal("}");
  return out;
}

segments event_stream::done(const raw_json& result, std::string& scratch) {
  segments body;
  body.append_literal(R"({"type":"done","result":)");
  body.append(result);
  body.append_literal("}");
  return event(body, 0, scratch);
}

}  // namespace mcpbx::daemon
