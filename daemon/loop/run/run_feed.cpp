// Stores, merges, numbers and drops the events of a run, by the rules in run_feed.hpp.
#include "daemon/loop/run/run_feed.hpp"

#include "daemon/loop/json/event_json.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <algorithm>

namespace mcpbx::daemon::run {
namespace {

using kind = run_event::kind;

/// Bytes that an event counts besides its text and body.
constexpr std::size_t overhead = sizeof(run_feed::entry) + 64;

/// Size in bytes from which a delta does not grow any more, because each step on its way copies it whole.
constexpr std::size_t largest_delta = std::size_t{32} << 10;

}  // namespace

run_feed::run_feed(std::string run, options o)
    : run_(std::move(run)), options_(o), last_seq_(o.numbers_above), base_seq_(o.numbers_above) {}

run_feed::~run_feed() {
  for (const auto& e : events_) byte_account::sub(e.event.text.size());
  byte_account::sub(base_.text.size());
}

void run_feed::push(run_event e) {
  const auto self = shared_from_this();  // a notified reader may release the last other reference
  if (over_) reopen();
  const auto latest = e.type;
  if (e.type == kind::tool_log) {
    const auto dropped = make_room_for_log();
    append(std::move(e), dropped);
  } else if (!join(e) && !replace(e)) {
    append(std::move(e));
  }
  tell(latest);
  // After the notification, so that present readers can still pull an event that is larger than the bound.
  drop_over_bound();
}

void run_feed::done(json::raw_json result) {
  const auto self = shared_from_this();
  if (over_) reopen();
  run_event e{kind::done, {}, {}, event_json::done(result)};
  over_ = true;
  result_ = std::move(result);
  append(std::move(e));
  tell(kind::done);
}

void run_feed::refuse(error why) {
  const auto self = shared_from_this();
  refusal_ = std::move(why);
  over_ = true;
  tell(kind::done);
}

void run_feed::reopen() {
  if (!events_.empty()) number_through(end() - 1);
  start_ = end();
  start_seq_ = last_seq_;
  over_ = false;
  result_ = {};
  drop_passed();
}

std::unique_ptr<feed_reader> run_feed::attach(listener& l, wish w) {
  // Dropped events that were never sent get a common number here, so that this reader counts as having missed them.
  if (std::exchange(lost_, false)) base_seq_ = ++last_seq_;
  std::unique_ptr<feed_reader> r(new feed_reader(shared_from_this(), l, w));
  r->place_ = std::max(first_, start_);
  const std::uint64_t had = first_ >= start_ ? base_seq_ : start_seq_;
  // A number above all that were given here comes from an earlier process.
  r->gap_ = w.after < had || w.after > last_seq_;
  if (!r->gap_)
    while (r->place_ < numbered_ && at(r->place_).seq <= w.after) ++r->place_;
  for (auto place = r->place_; place < end(); ++place) r->behind_ += at(place).cost;
  if (over_ && r->place_ == end()) {
    r->end(result_);
    return r;
  }
  readers_.push_back(r.get());
  r->skip();
  return r;
}

void run_feed::append(run_event e, std::uint64_t dropped) {
  const auto place = end();
  byte_account::add(e.text.size());
  if (e.type == kind::tool_progress) progress_.insert_or_assign(e.call, place);
  if (e.type == kind::tool_log) logs_.push_back(place);
  events_.push_back({.event = std::move(e), .dropped = dropped});
  recount(place);
}

bool run_feed::join(const run_event& e) {
  if (!e.is_delta() || numbered_ == end()) return false;
  auto& last = events_.back();
  if (last.event.type != e.type || last.event.text.size() >= largest_delta) return false;
  ++counts_.joined;
  byte_account::add(e.text.size());
  last.event.text += e.text;
  recount(end() - 1);
  return true;
}

bool run_feed::replace(run_event& e) {
  if (e.type != kind::tool_progress) return false;
  const auto found = progress_.find(e.call);
  if (found == progress_.end()) return false;
  ++counts_.replaced;
  at(found->second).event.body = std::move(e.body);
  recount(found->second);
  return true;
}

// Drops the oldest log if there are too many. The log behind it takes over its count of dropped logs; if there is none,
// returns the count for the new log.
std::uint64_t run_feed::make_room_for_log() {
  if (logs_.size() < options_.max_logs) return 0;
  const auto place = logs_.front();
  logs_.pop_front();
  auto& oldest = at(place);
  ++counts_.dropped_logs;
  const std::uint64_t count = oldest.dropped + 1;
  oldest.gone = true;
  oldest.event.body = {};
  recount(place);
  if (logs_.empty()) return count;
  at(logs_.front()).dropped += count;
  return 0;
}

void run_feed::recount(std::uint64_t place) {
  auto& e = at(place);
  const std::size_t before = e.cost;
  e.cost = e.event.text.size() + e.event.body.size() + overhead;
  bytes_ += e.cost - before;
  for (auto* r : readers_)
    if (r != nullptr && r->place_ <= place) r->behind_ += e.cost - before;
}

void run_feed::number_through(std::uint64_t place) {
  for (; numbered_ <= place; ++numbered_) {
    auto& e = at(numbered_);
    if (e.gone) continue;
    e.seq = ++last_seq_;
    lost_ = false;
    forget_merging(e);
  }
}

// Excludes an event from merging and from dropping of logs, because it was sent or is being dropped.
void run_feed::forget_merging(const entry& e) {
  if (e.event.type == kind::tool_progress) progress_.erase(e.event.call);
  if (e.event.type == kind::tool_log) logs_.pop_front();
}

void run_feed::drop_front() {
  auto& e = events_.front();
  if (numbered_ == first_) {
    if (!e.gone) {
      forget_merging(e);
      lost_ = true;
    }
    ++numbered_;
  }
  if (e.seq != 0) base_seq_ = e.seq;
  bytes_ -= e.cost;
  const std::size_t text = base_.text.size();
  if (!e.gone) base_.fold(e.event);
  byte_account::add(base_.text.size());
  byte_account::sub(text + e.event.text.size());
  events_.pop_front();
  ++first_;
}

void run_feed::drop_over_bound() {
  while (bytes_ > options_.bound && events_.size() > 1) {
    number_through(first_);
    auto& e = events_.front();
    for (auto* r : readers_) {
      if (r == nullptr || r->place_ != first_) continue;
      ++r->place_;
      r->behind_ -= e.cost;
      // A reader from before a reopen() still has to end with this `done`.
      if (e.event.type == kind::done) r->own_ = e;
      r->gap_ = r->gap_ || !e.gone;
    }
    drop_front();
  }
}

void run_feed::drop_passed() {
  if (options_.keep) return;
  // A `done` stays for readers that attach to a parked run.
  std::uint64_t least = over_ && !refusal_ ? end() - 1 : end();
  for (const auto* r : readers_)
    if (r != nullptr) least = std::min(least, r->place_);
  while (first_ < least) drop_front();
}

void run_feed::tell(kind latest) {
  ++telling_;
  // By index, because readers may be added and removed meanwhile.
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    auto* r = readers_[i];
    if (r == nullptr) continue;
    if (run_event::is_delta(latest) && !r->deltas_)
      r->skip();
    else
      r->listener_.on_ready(latest);
  }
  if (--telling_ == 0) std::erase(readers_, nullptr);
  drop_passed();
}

void run_feed::remove(feed_reader& r, std::string why) {
  if (telling_ > 0)
    std::ranges::replace(readers_, &r, static_cast<feed_reader*>(nullptr));
  else
    std::erase(readers_, &r);
  drop_passed();
  const bool nobody = std::ranges::all_of(readers_, [](const auto* other) { return other == nullptr; });
  if (!nobody) return tell_mute();
  if (!over_ && !options_.keep && abandoned_) abandoned_(std::move(why));
}

bool run_feed::answers() const noexcept {
  return std::ranges::any_of(readers_, [](const auto* r) { return r != nullptr && r->answers_; });
}

void run_feed::tell_mute() {
  if (!over_ && !options_.keep && mute_ && !answers()) mute_();
}

std::string run_feed::text_before(std::uint64_t place) const {
  auto all = base_.said();
  for (auto i = first_; i < place; ++i) {
    const auto& e = events_[static_cast<std::size_t>(i - first_)].event;
    if (e.type == kind::round) all.clear();
    if (e.type == kind::text) all += e.text;
  }
  return all;
}

void run_feed::share_text(std::shared_ptr<const std::string> text) {
  std::string_view rest = *text;
  if (base_.shared || base_.text.size() > rest.size() || base_.text != rest.substr(0, base_.text.size())) return;
  rest.remove_prefix(base_.text.size());
  for (const auto& e : events_) {
    if (e.event.type == kind::round) return;
    if (e.event.type != kind::text) continue;
    if (!rest.starts_with(e.event.text)) return;
    rest.remove_prefix(e.event.text.size());
  }
  if (!rest.empty()) return;
  byte_account::sub(base_.text.size());
  base_.told = base_.text.size();
  base_.text.clear();
  base_.shared = std::move(text);
}

run_feed::entry run_feed::snapshot_at(std::uint64_t place, bool with_text) {
  state then = base_;
  std::uint64_t seq = base_seq_;
  for (auto i = first_; i < place; ++i) {
    if (at(i).gone) continue;
    then.fold(at(i).event);
    seq = at(i).seq;
  }
  std::vector<json::segments> calls, questions;
  for (auto& one : then.calls) calls.push_back(std::move(one.body));
  for (auto& one : then.questions) questions.push_back(std::move(one.body));
  const auto said = with_text ? then.said() : std::string();
  entry e{.event = {
              kind::snapshot, {}, {}, event_json::snapshot(then.round, with_text ? &said : nullptr, calls, questions)}};
  e.seq = seq;
  return e;
}

void run_feed::state::fold(const run_event& e) {
  switch (e.type) {
    case kind::text:
      if (shared)
        told += e.text.size();
      else
        text += e.text;
      break;
    case kind::round:
      text.clear();
      shared.reset();
      round = e.body;
      break;
    case kind::tool_call:
      calls.push_back({e.call, {}, e.body});
      break;
    case kind::tool_result:
      std::erase_if(calls, [&](const open& one) { return one.call == e.call; });
      std::erase_if(questions, [&](const open& one) { return one.call == e.call; });
      break;
    case kind::question:
      questions.push_back({e.call, e.text, e.body});
      break;
    case kind::answer:
      std::erase_if(questions, [&](const open& one) { return one.question == e.text; });
      break;
    default:
      break;
  }
}

// base_ may have text of an earlier round than this reader is in; then a round event lies between.
bool feed_reader::told_all() const noexcept {
  if (!feed_ || !feed_->base_.shared) return false;
  for (auto i = feed_->first_; i < place_; ++i)
    if (feed_->at(i).event.type == kind::round) return false;
  return true;
}

const run_feed::entry* feed_reader::peek() {
  if (!feed_) return nullptr;
  if (own_) return &*own_;
  if (gap_) {
    own_ = feed_->snapshot_at(place_, deltas_);
    return &*own_;
  }
  skip();
  if (place_ == feed_->end()) {
    if (feed_->refusal_) {
      refusal_ = feed_->refusal_;
      end({});
      return nullptr;
    }
    feed_->drop_passed();
    return nullptr;
  }
  feed_->number_through(place_);
  return &feed_->at(place_);
}

void feed_reader::pop() {
  json::raw_json result;
  if (own_) {
    if (own_->event.type == kind::done) result = event_json::result_of_done(own_->event.body);
    own_.reset();
    gap_ = false;
  } else {
    const auto& e = feed_->at(place_);
    if (e.event.type == kind::done) result = event_json::result_of_done(e.event.body);
    behind_ -= e.cost;
    ++place_;
  }
  if (result)
    end(std::move(result));
  else
    feed_->drop_passed();
}

// Passes events that this reader does not get: dropped ones, and deltas that it did not ask for.
void feed_reader::skip() {
  if (gap_) return;  // the snapshot covers the events before this place only
  for (; place_ < feed_->end(); ++place_) {
    const auto& e = feed_->at(place_);
    if (!e.gone && (deltas_ || !e.event.is_delta())) break;
    behind_ -= e.cost;
  }
}

void feed_reader::end(json::raw_json result) {
  result_ = std::move(result);
  ended_ = true;
  leave({});
}

void feed_reader::answer_no_more() {
  if (std::exchange(answers_, false) && feed_) feed_->tell_mute();
}

void feed_reader::leave(std::string why) {
  if (const auto feed = std::exchange(feed_, nullptr)) feed->remove(*this, std::move(why));
}

}  // namespace mcpbx::daemon::run
