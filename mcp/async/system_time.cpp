// The real clock. A cancelled timer drops its pending call itself, since the handler of an expired Asio timer may
// already be queued.
#include "mcp/async/system_time.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <sys/random.h>

#include <chrono>
#include <utility>

namespace mcpbx::async {
namespace {

class real_timer final : public timer {
 public:
  explicit real_timer(const boost::asio::any_io_executor& executor) : state_(std::make_shared<state>(executor)) {}
  ~real_timer() override { real_timer::cancel(); }
  real_timer(const real_timer&) = delete;
  real_timer& operator=(const real_timer&) = delete;

  void arm(time_point when, std::function<void()> fire) override {
    const auto number = take(std::move(fire));
    state_->clock.expires_at(when);
    state_->clock.async_wait([s = state_, number](const boost::system::error_code&) { s->expired(number); });
  }
  // Post the call: an Asio timer that is due already would set the kernel's timer twice and wait for it.
  void arm_next(std::function<void()> fire) override {
    const auto number = take(std::move(fire));
    state_->clock.cancel();
    boost::asio::post(state_->clock.get_executor(), [s = state_, number] { s->expired(number); });
  }
  void cancel() override {
    ++state_->arming;
    auto dropped = std::exchange(state_->fire, nullptr);  // destroyed last, because it may own this timer
    state_->clock.cancel();
  }

 private:
  struct state {
    explicit state(const boost::asio::any_io_executor& executor) : clock(executor) {}
    void expired(std::uint64_t number) {
      if (arming == number && fire) std::exchange(fire, nullptr)();
    }
    boost::asio::steady_timer clock;
    std::function<void()> fire;
    std::uint64_t arming = 0;
  };
  std::uint64_t take(std::function<void()> fire) {
    state_->fire = std::move(fire);
    return ++state_->arming;
  }
  std::shared_ptr<state> state_;
};

}  // namespace

time_point system_time::now() const {
  return std::chrono::steady_clock::now();
}

std::int64_t system_time::wall_ms() const {
  return std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::unique_ptr<timer> system_time::make_timer() {
  return std::make_unique<real_timer>(executor_);
}

system_random::system_random() : state_(0) {
  if (getrandom(&state_, sizeof state_, 0) != static_cast<ssize_t>(sizeof state_))
    state_ = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

// Returns the next number of SplitMix64.
std::uint64_t system_random::next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace mcpbx::async
