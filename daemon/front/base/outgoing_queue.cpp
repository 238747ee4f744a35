// The queue: merging, turns of the sources, and the limits for slow callers.
#include "daemon/front/base/outgoing_queue.hpp"

#include "mcp/support/shared_bytes.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::daemon::front {
namespace {

/// Cost of an item besides its text.
constexpr std::size_t overhead = sizeof(void*) * 24;
constexpr std::size_t longest_scratch = 256u << 10;

}  // namespace

outgoing_queue::outgoing_queue(const options& o, time_source& time, mcp::transports::transport& to, owner& told)
    : options_(o), time_(time), transport_(to), owner_(told) {}

outgoing_queue::~outgoing_queue() {
  close();
}

void outgoing_queue::close() {
  closed_ = true;
  deadline_.reset();
  soon_.reset();
  for (auto& i : items_)
    if (i.from) i.from->place_ = nullptr;
  merged_.clear();
  items_.clear();
  progress_.clear();
  waiting_ = 0;
}

void outgoing_queue::push(const json::segments& text, mcp::rpc::outgoing what) {
  if (closed_) return;
  if (may_send())
    send(text, what);
  else
    add({.type = kind::message, .text = text, .what = what});
  watch_bound();
}

void outgoing_queue::push_progress(std::uint64_t request, const json::segments& text) {
  if (closed_) return;
  if (may_send()) {
    send(text, {});
  } else if (const auto found = progress_.find(request); found != progress_.end()) {
    found->second->text = text;
    recount(*found->second);
  } else {
    progress_.emplace(request, &add({.type = kind::progress, .text = text, .request = request}));
  }
  watch_bound();
}

void outgoing_queue::push_merged(std::string key, const json::segments& text) {
  if (closed_ || merged_.contains(key)) return;
  // Queues always, so that all changes of one turn become one notification.
  merged_.insert(add({.type = kind::merged, .text = text, .key = std::move(key)}).key);
  watch_bound();
}

void outgoing_queue::ready(const std::shared_ptr<source>& s, pace how) {
  if (closed_) return;
  if (s->place_ != nullptr) {
    recount(*s->place_);
    // The source is alone in the queue, so that its delayed messages can leave now as well.
    if (how == pace::at_once && items_.size() == 1) return flush();
    ask_flush(how);
  } else if (how != pace::at_once || !may_send() || !pull(*s)) {
    if (!closed_) s->place_ = &add({.type = kind::source, .from = s}, how);
  }
  watch_bound();
}

outgoing_queue::item& outgoing_queue::add(item i, pace how) {
  items_.push_back(std::move(i));
  recount(items_.back());
  ask_flush(how);
  return items_.back();
}

void outgoing_queue::ask_flush(pace how) {
  if (flush_asked_ || transport_.unsent() >= options_.feed_below) return;
  if (how != pace::soon) {
    flush_asked_ = true;
    return owner_.ask_flush();
  }
  if (std::exchange(soon_set_, true)) return;
  if (!soon_) soon_ = time_.make_timer();
  soon_->arm(time_.now() + options_.soon, [this] {
    soon_set_ = false;
    flush();
  });
}

void outgoing_queue::recount(item& i) {
  waiting_ -= i.cost;
  i.cost = overhead + (i.from ? i.from->waiting() : i.text.size() + i.key.size());
  waiting_ += i.cost;
}

// Removes a leaving item from the indexes.
void outgoing_queue::forget(item& i) {
  waiting_ -= i.cost;
  if (i.type == kind::progress) progress_.erase(i.request);
  if (i.type == kind::merged) merged_.erase(i.key);
  if (i.from) i.from->place_ = nullptr;
}

void outgoing_queue::flush() {
  if (pulling_) return;
  flush_asked_ = false;
  while (!closed_ && !items_.empty() && transport_.unsent() < options_.feed_below) {
    item& first = items_.front();
    if (first.type == kind::source) {
      take_turn();
      continue;
    }
    forget(first);
    send(first.text, first.what);
    items_.pop_front();
  }
  watch_bound();
}

// Pulls from the first source in line. A source that has more than the transport takes goes to the end, so that an
// endless stream blocks nobody.
void outgoing_queue::take_turn() {
  const auto from = items_.front().from;
  const bool dry = pull(*from);
  if (closed_) return;
  forget(items_.front());
  items_.pop_front();
  if (!dry) from->place_ = &add({.type = kind::source, .from = from});
}

// Pulls messages from a source. Returns true if it has no more.
bool outgoing_queue::pull(source& s) {
  if (scratch_.capacity() > longest_scratch)
    std::string().swap(scratch_);  // swaps, because an assignment keeps the memory
  pulling_ = true;
  bool dry = false;
  while (!dry && !closed_ && transport_.unsent() < options_.feed_below) {
    json::segments text = s.next(scratch_);
    dry = text.empty();
    if (!dry) send(text, {});
  }
  pulling_ = false;
  return dry;
}

void outgoing_queue::send(const json::segments& text, mcp::rpc::outgoing what) {
  given_ += text.size();
  transport_.send(text, what);
}

void outgoing_queue::watch_bound() {
  if (closed_ || pulling_) return;
  const bool over = bytes() > options_.bound;
  // Must be the last action: the owner closes the queue.
  if (over && over_ && neglected())
    return owner_.on_stuck("the caller does not read: more than " + std::to_string(options_.ceiling >> 20) +
                           " MiB wait for it");
  if (over == over_) return;
  over_ = over;
  if (over) {
    if (!deadline_) deadline_ = time_.make_timer();
    unsent_when_armed_ = transport_.unsent();
    taken_when_over_ = given_ - transport_.unsent();
    deadline_->arm(time_.now() + options_.grace, [this] { on_deadline(); });
  } else {
    deadline_->cancel();
  }
  owner_.pause_reading(over);
}

// Returns true if the queue is over the ceiling and the caller has taken less than an eighth of it since it came over
// the bound: it does not read, and memory of all others would pay for it.
bool outgoing_queue::neglected() const {
  return waiting_ > options_.ceiling && given_ - transport_.unsent() - taken_when_over_ < waiting_ / 8;
}

void outgoing_queue::on_deadline() {
  if (closed_) return;
  watch_bound();
  if (!over_) return;
  // Gives more time to a single large message while the caller still reads.
  if (items_.empty() && transport_.unsent() < unsent_when_armed_) {
    unsent_when_armed_ = transport_.unsent();
    deadline_->arm(time_.now() + options_.grace, [this] { on_deadline(); });
    return;
  }
  owner_.on_stuck("the caller does not read: more than " + std::to_string(options_.bound >> 10) +
                  " KiB waited for it for " + std::to_string(options_.grace.count() / 1000) + " s");
}

}  // namespace mcpbx::daemon::front
