// Delivery of an answer. An exchange is closed before the outlet gets its last call, so that calls from inside have no
// effect.
#include "daemon/front/exchange/exchange.hpp"

#include <utility>

namespace mcpbx::daemon::routes {

exchange::exchange(front::door_context& door, outlet& out, request r)
    : door_(&door), out_(&out), request_(std::move(r)) {}

void exchange::keep(std::shared_ptr<work> w) {
  if (open()) work_ = std::move(w);
}

// Closes the exchange and returns its outlet. The outlet may drop the exchange, and the exchange its work, during a
// call, so callers of this function keep both until they return.
exchange::outlet* exchange::close() {
  request_.body = {};
  return std::exchange(out_, nullptr);
}

void exchange::reply(http::servers::server_answer a, bool fault) {
  if (!open() || begun_) return;
  const auto self = shared_from_this();
  const auto ended = std::exchange(work_, nullptr);
  close()->answer(std::move(a), fault);
}

void exchange::begin(int status, std::vector<http::header> headers) {
  if (!open() || std::exchange(begun_, true)) return;
  out_->begin(status, std::move(headers));
}

void exchange::send(std::string_view part) {
  if (open() && begun_ && !part.empty()) out_->send(part);
}

void exchange::send_alone(std::string_view part) {
  if (open() && begun_ && !part.empty()) out_->send_alone(part);
}

void exchange::finish(bool whole) {
  if (!open() || !begun_) return;
  const auto self = shared_from_this();
  const auto ended = std::exchange(work_, nullptr);
  close()->finish(whole);
}

void exchange::drained() {
  const auto self = shared_from_this();
  if (const auto w = work_) w->on_drained();
}

void exchange::leave() {
  if (!open()) return;
  const auto self = shared_from_this();
  close();
  if (const auto w = std::exchange(work_, nullptr)) w->on_left();
}

}  // namespace mcpbx::daemon::routes
