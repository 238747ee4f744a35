// Formatting of event lines into one string, because at hundreds of thousands of tokens a second each piece counts.
#include "daemon/front/base/event_stream.hpp"

#include "mcp/json/json_writer.hpp"

#include <charconv>
#include <utility>

namespace mcpbx::daemon::front {
namespace {

using pace = outgoing_queue::pace;

// Returns how long an event may wait for others. Progress events come in bursts (a reply, its calls, their results and
// the next round within milliseconds); text that is read live and questions are sent at once.
pace pace_of(run::run_event::kind latest) {
  using enum run::run_event::kind;
  switch (latest) {
    case text:
    case reasoning:
      return pace::turn;
    case status:
    case round:
    case tool_call:
    case tool_result:
    case usage:
      return pace::soon;
    default:
      return pace::at_once;
  }
}

/// Largest body of an event that is copied into its line. To pass on the pieces of a shorter one costs more.
constexpr std::size_t largest_copied = 1024;

void append_number(std::string& out, std::uint64_t n) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, n).ptr);
}

}  // namespace

event_stream::event_stream(owner& told, mcp::server::reply_once reply, std::string run)
    : owner_(&told), reply_(std::move(reply)), run_(std::move(run)) {
  json::json_writer w(head_);
  w.begin_object().member("jsonrpc", "2.0").member("method", "mcpbx/event").key("params").begin_object();
  w.key("request").token(reply_.id().token()).member("run", run_).key("seq");
}

void event_stream::read(run::run_feed& feed, run::run_feed::wish w) {
  reader_ = feed.attach(*this, w);
  owner_->on_ready(shared_from_this(), pace::at_once);
}

void event_stream::on_ready(run::run_event::kind latest) {
  owner_->on_ready(shared_from_this(), pace_of(latest));
}

void event_stream::leave(std::string why) {
  owner_ = nullptr;
  if (reader_) reader_->leave(std::move(why));
}

json::segments event_stream::next(std::string& scratch) {
  if (owner_ == nullptr) return {};
  if (const auto* e = reader_->peek()) {
    json::segments text = line(*e, scratch);
    reader_->pop();
    return text;
  }
  // Reports the end only now, so that `done` is sent before the response.
  if (reader_->ended()) std::exchange(owner_, nullptr)->on_end(*this);
  return {};
}

json::segments event_stream::line(const run::run_feed::entry& e, std::string& scratch) const {
  scratch = head_;
  append_number(scratch, e.seq);
  json::segments out;
  if (e.event.is_delta()) {
    scratch +=
        e.event.type == run::run_event::kind::text ? R"(,"type":"text","text":)" : R"(,"type":"reasoning","text":)";
    json::append_quoted(scratch, e.event.text);
    scratch += "}}";
    out.append_copy(scratch);
    return out;
  }
  if (e.dropped > 0) {
    scratch += ",\"dropped\":";
    append_number(scratch, e.dropped);
  }
  scratch += ',';
  const bool short_body = e.event.body.size() <= largest_copied;
  if (!short_body) out.append_copy(scratch);
  std::size_t skip = 1;  // the line already has the body's opening brace
  for (const auto& piece : e.event.body.pieces()) {
    const auto text = piece.text().substr(std::exchange(skip, 0));
    if (short_body)
      scratch += text;
    else
      out.append(piece.slice(text));
  }
  if (!short_body) {
    out.append_literal("}");
    return out;
  }
  scratch += '}';
  out.append_copy(scratch);
  return out;
}

}  // namespace mcpbx::daemon::front
