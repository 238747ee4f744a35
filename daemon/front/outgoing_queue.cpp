// See outgoing_queue.hpp for the rules.
#include "daemon/front/outgoing_queue.hpp"

#include "mcp/support/shared_bytes.hpp"

#include <utility>

namespace mcpbx::daemon {
namespace {

/// What an item costs besides its text.
constexpr std::size_t overhead = sizeof(void*) * 24;
constexpr std::size_t longest_scratch = 256u << 10;
constexpr std::string_view list_changed_line = R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})";

std::string event_key(const event_stream* stream, const std::string& call) {
  return std::to_string(reinterpret_cast<std::uintptr_t>(stream)) + ":" + call;
}

}  // namespace

outgoing_queue::outgoing_queue(const options& o, time_source& time, mcp::transport& to, owner& told)
    : options_(o), time_(time), transport_(to), owner_(told) {}

outgoing_queue::~outgoing_queue() {
  close();
}

void outgoing_queue::close() {
  closed_ = true;
  deadline_.reset();
  for (auto& i : items_) byte_account::sub(i.delta.size());
  items_.clear();
  last_delta_.clear();
  progress_.clear();
  logs_.clear();
  waiting_ = 0;
}

void outgoing_queue::push(const segments& text) {
  if (closed_) return;
  if (may_send())
    transport_.send(text);
  else
    add({.type = kind::message, .text = text});
  watch_bound();
}

void outgoing_queue::push_progress(std::uint64_t request, const segments& text) {
  if (closed_) return;
  if (may_send())
    transport_.send(text);
  else
    replace_or_add({.type = kind::progress, .text = text, .key = "r" + std::to_string(request)});
  watch_bound();
}

void outgoing_queue::push_list_changed() {
  if (closed_ || list_changed_) return;
  segments line;
  line.append_literal(list_changed_line);
  // Through the queue always: all changes of one turn are one notification.
  list_changed_ = true;
  add({.type = kind::list_changed, .text = std::move(line)});
}

void outgoing_queue::push_event(const std::shared_ptr<event_stream>& stream, run_event e) {
  if (closed_) return;
  if (event_stream::is_delta(e.type)) {
    auto last = last_delta_.find(stream.get());
    if (last != last_delta_.end() && last->second->event == e.type) {
      ++counts_.joined;
      byte_account::add(e.text.size());
      last->second->delta += e.text;
      recount(*last->second);
    } else {
      byte_account::add(e.text.size());
      item& added = add({.type = kind::delta, .event = e.type, .delta = std::move(e.text), .stream = stream});
      last_delta_[stream.get()] = &added;
    }
    return watch_bound();
  }
  // Text that comes after this event must stay behind it.
  last_delta_.erase(stream.get());
  if (may_send()) {
    transport_.send(stream->event(e.body, 0, scratch_));
    return watch_bound();
  }
  item waiting{.type = kind::event, .event = e.type, .text = std::move(e.body), .stream = stream};
  if (e.type == run_event::kind::tool_progress) {
    waiting.key = event_key(stream.get(), e.call);
    replace_or_add(std::move(waiting));
  } else if (e.type == run_event::kind::tool_log) {
    if (logs_.size() >= options_.max_logs) drop_oldest_log();
    waiting.type = kind::log;
    logs_.push_back(&add(std::move(waiting)));
  } else {
    add(std::move(waiting));
  }
  watch_bound();
}

void outgoing_queue::push_done(const std::shared_ptr<event_stream>& stream, raw_json result) {
  if (closed_) return;
  last_delta_.erase(stream.get());
  if (may_send()) {
    transport_.send(stream->done(result, scratch_));
  } else {
    item waiting{.type = kind::done, .stream = stream};
    waiting.text.append(std::move(result));
    add(std::move(waiting));
  }
  watch_bound();
}

outgoing_queue::item& outgoing_queue::add(item i) {
  items_.push_back(std::move(i));
  recount(items_.back());
  if (!flush_asked_ && transport_.unsent() < options_.feed_below) {
    flush_asked_ = true;
    owner_.ask_flush();
  }
  return items_.back();
}

void outgoing_queue::recount(item& i) {
  waiting_ -= i.cost;
  i.cost = i.type == kind::gone ? 0 : i.text.size() + i.delta.size() + overhead;
  waiting_ += i.cost;
}

void outgoing_queue::replace_or_add(item i) {
  auto found = progress_.find(i.key);
  if (found == progress_.end()) {
    std::string key = i.key;
    progress_.emplace(std::move(key), &add(std::move(i)));
    return;
  }
  ++counts_.replaced;
  found->second->text = std::move(i.text);
  recount(*found->second);
}

void outgoing_queue::drop_oldest_log() {
  item& oldest = *logs_.front();
  logs_.pop_front();
  ++counts_.dropped_logs;
  const std::uint64_t count = oldest.dropped + 1;
  // The next log that stays tells how many are missing before it.
  if (logs_.empty())
    logs_left_out_ += count;
  else
    logs_.front()->dropped += count;
  oldest.type = kind::gone;
  oldest.text = {};
  oldest.stream.reset();
  recount(oldest);
}

// An item leaves: nothing may find it any more.
void outgoing_queue::forget(item& i) {
  waiting_ -= i.cost;
  byte_account::sub(i.delta.size());
  if (i.type == kind::delta) {
    auto last = last_delta_.find(i.stream.get());
    if (last != last_delta_.end() && last->second == &i) last_delta_.erase(last);
  }
  if (!i.key.empty()) progress_.erase(i.key);
  if (i.type == kind::log) {
    logs_.pop_front();
    i.dropped += std::exchange(logs_left_out_, 0);
  }
  if (i.type == kind::list_changed) list_changed_ = false;
}

segments outgoing_queue::render(item& i) {
  if (scratch_.capacity() > longest_scratch) scratch_ = {};
  switch (i.type) {
    case kind::delta:
      return i.stream->delta(i.event, i.delta, scratch_);
    case kind::event:
    case kind::log:
      return i.stream->event(i.text, i.dropped, scratch_);
    case kind::done:
      return i.stream->done(i.text.pieces().front(), scratch_);
    case kind::message:
    case kind::progress:
    case kind::list_changed:
    case kind::gone:
      break;
  }
  return std::move(i.text);
}

void outgoing_queue::flush() {
  flush_asked_ = false;
  if (closed_) return;
  while (!items_.empty() && transport_.unsent() < options_.feed_below) {
    item& first = items_.front();
    forget(first);
    if (first.type != kind::gone) transport_.send(render(first));
    items_.pop_front();
  }
  watch_bound();
}

void outgoing_queue::watch_bound() {
  const bool over = bytes() > options_.bound;
  if (over == over_) return;
  over_ = over;
  if (over) {
    if (!deadline_) deadline_ = time_.make_timer();
    unsent_when_armed_ = transport_.unsent();
    deadline_->arm(time_.now() + options_.grace, [this] { on_deadline(); });
  } else {
    deadline_->cancel();
  }
  owner_.pause_reading(over);
}

void outgoing_queue::on_deadline() {
  if (closed_) return;
  watch_bound();
  if (!over_) return;
  // One large message alone may take longer, as long as the caller reads it.
  if (items_.empty() && transport_.unsent() < unsent_when_armed_) {
    unsent_when_armed_ = transport_.unsent();
    deadline_->arm(time_.now() + options_.grace, [this] { on_deadline(); });
    return;
  }
  owner_.on_stuck("the caller does not read: more than " + std::to_string(options_.bound >> 10) +
                  " KiB waited for it for " + std::to_string(options_.grace.count() / 1000) + " s");
}

}  // namespace mcpbx::daemon
