// The four limits (docs/guarantees.md, G30) and the wait in the pool, with one timer.
#include "mcp/http/client/client_connection.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace mcpbx::http::clients {
namespace {

std::string seconds(milliseconds limit) {
  const auto ms = limit.count();
  auto text = std::to_string(ms / 1000);
  if (ms % 1000 != 0) text += "." + std::to_string(ms % 1000 / 100);
  return text + " s";
}

}  // namespace

time_point client_connection::deadline() const {
  if (!task_) return keep_until_;
  const auto& l = task_->request.limits;
  const auto total = task_->started + l.total;
  switch (stage_) {
    case stage::resolve:
    case stage::connect:
    case stage::tls:
      return std::min({total, task_->connecting_since + l.connect, attempt_until_});
    case stage::send:
    case stage::first_byte:
      return std::min(total, stage_began_ + l.first_byte);
    case stage::body:
      return held_back_ ? total : std::min(total, stage_began_ + l.idle);
  }
  return total;
}

void client_connection::arm(time_point when) {
  // A timer that is armed for an earlier time will do, since on_timer() checks again. Most exchanges never touch it.
  if (when == never || (armed_ != never && armed_ <= when)) return;
  armed_ = when;
  timer_->arm(when, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->on_timer();
  });
}

void client_connection::on_timer() {
  armed_ = never;
  if (closed_) return;
  if (time_.now() < deadline()) return arm(deadline());
  if (!task_) return close();
  on_time_limit();
}

void client_connection::on_time_limit() {
  const auto& l = task_->request.limits;
  const auto now = time_.now();
  if (now >= task_->started + l.total)
    return fail(stage_, errc::timed_out,
                "was not done within " + seconds(l.total) + " (the limit on the whole answer)");
  switch (stage_) {
    case stage::resolve:
    case stage::connect:
    case stage::tls:
      if (now < task_->connecting_since + l.connect) {
        // Only this address timed out: end the pending connect and try the next one.
        attempt_until_ = never;
        arm(deadline());
        boost::system::error_code ignored;
        socket_.close(ignored);
        return;
      }
      if (stage_ == stage::resolve)
        return fail(stage_, errc::timed_out,
                    "was not found within " + seconds(l.connect) +
                        " (the limit on connecting): its name's look-up hangs; check the name servers of this machine");
      return fail(stage_, errc::timed_out,
                  "could not be reached within " + seconds(l.connect) + " (the limit on connecting)");
    case stage::send:
    case stage::first_byte:
      return fail(stage_, errc::timed_out,
                  "did not begin to answer within " + seconds(l.first_byte) + " (the limit for the first byte)");
    case stage::body:
      return fail(stage_, errc::timed_out,
                  "fell silent for " + seconds(l.idle) + " in the middle of its answer (the idle limit)");
  }
}

}  // namespace mcpbx::http::clients
