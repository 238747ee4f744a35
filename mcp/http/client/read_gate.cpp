// Hands out permissions to read, and watches the bytes in use by a timer.
#include "mcp/http/client/read_gate.hpp"

#include "mcp/support/heap.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::http::clients {
namespace {

constexpr milliseconds look_every{20};
constexpr unsigned looks_for_heap = 2;  // looks between two returns of free memory to the system

}  // namespace

read_gate::place::~place() {
  if (gate_) gate_->leave(number_);
}

bool read_gate::place::may_read(resumption resume) {
  return !gate_ || gate_->admits(number_, std::move(resume));
}

// Returns the number of exchanges that may read. Above the bound it is 0 while bytes become fewer: ended answers are
// still leaving to callers, and no exchange need read for that.
std::size_t read_gate::places() const {
  if (byte_account::total() <= byte_account::limit()) return most_short;
  return draining_ ? 0 : 1;
}

bool read_gate::is_open() const {
  return waiting_.empty() && !byte_account::runs_short();
}

bool read_gate::admits(std::uint64_t number, resumption resume) {
  if (is_open()) return true;
  const auto known = std::ranges::find(reading_, number, &reader::number);
  if (known != reading_.end() && static_cast<std::size_t>(known - reading_.begin()) < places()) {
    known->last = time_.now();
    return true;
  }
  if (known != reading_.end()) {
    reading_.erase(known);
  } else if (waiting_.empty() && reading_.size() < places()) {
    reading_.push_back({number, time_.now()});
    return true;
  }
  if (waiting_.empty()) looks_ = 0;
  waiting_.insert_or_assign(number, std::move(resume));
  arm();
  return false;
}

void read_gate::leave(std::uint64_t number) {
  waiting_.erase(number);
  if (std::erase_if(reading_, [&](const auto& one) { return one.number == number; }) > 0 && !waiting_.empty()) arm();
}

void read_gate::let_in() {
  while (!waiting_.empty() && (reading_.size() < places() || !byte_account::runs_short())) {
    auto next = waiting_.extract(waiting_.begin());
    reading_.push_back({next.key(), time_.now()});
    if (!next.mapped()()) std::erase_if(reading_, [&](const auto& one) { return one.number == next.key(); });
  }
}

void read_gate::look() {
  armed_ = false;
  const auto total = byte_account::total();
  draining_ = total < std::exchange(last_total_, total);
  std::erase_if(reading_, [&](const auto& one) { return time_.now() - one.last >= patience; });
  let_in();
  if (is_open()) reading_.clear();
  if (waiting_.empty()) return;
  // Give freed blocks back, since the heap keeps them between blocks in use and new reads would come on top.
  if (looks_++ % looks_for_heap == 0) give_back_free_memory();
  arm();
}

void read_gate::arm() {
  if (std::exchange(armed_, true)) return;
  if (!timer_) timer_ = time_.make_timer();
  timer_->arm(time_.now() + look_every, [this] { look(); });
}

}  // namespace mcpbx::http::clients
