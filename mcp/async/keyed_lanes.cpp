// Gives each key a lane of one thread while its work runs; the lane then serves the next waiting key.
#include "mcp/async/keyed_lanes.hpp"

#include "mcp/async/lane.hpp"
#include "mcp/redact/cut_text.hpp"

#include <boost/asio/post.hpp>

#include <deque>
#include <map>
#include <utility>

namespace mcpbx::async {

namespace asio = boost::asio;

class keyed_lanes::core : public std::enable_shared_from_this<core> {
 public:
  core(asio::any_io_executor executor, std::string name, options o)
      : executor_(std::move(executor)), name_(std::move(name)), options_(o) {}

  result<void> post(const std::string& key, std::function<void()> work) {
    auto& k = keys_[key];
    if (k.waiting.size() >= options_.waiting || waiting_ >= 4 * options_.waiting) {
      auto refused = too_much(key);
      if (!k.on && k.waiting.empty()) keys_.erase(key);
      return refused;
    }
    k.waiting.push_back(std::move(work));
    ++waiting_;
    if (k.on || k.waiting.size() > 1) return {};
    if (busy_ == options_.threads) {
      queue_.push_back(key);
      return {};
    }
    auto on = spare_ ? std::exchange(spare_, nullptr) : std::make_unique<lane>(name_, 1);
    auto begun = run(key, std::move(on));
    if (!begun) {
      --waiting_;
      keys_.erase(key);
    }
    return begun;
  }

  std::size_t busy() const noexcept { return busy_; }

  void join() {
    for (auto& [key, k] : keys_)
      if (k.on) k.on->join();
    if (spare_) spare_->join();
  }

 private:
  struct key_state {
    std::deque<std::function<void()>> waiting;
    std::unique_ptr<lane> on;  // its lane while its work runs
  };
  // Notifies the speaking thread at the end of a job, even if an exception ends it.
  struct at_end {
    asio::any_io_executor executor;
    std::weak_ptr<core> owner;
    std::string key;
    ~at_end() {
      asio::post(executor, [owner = std::move(owner), key = std::move(key)] {
        if (const auto self = owner.lock()) self->finished(key);
      });
    }
  };

  result<void> run(const std::string& key, std::unique_ptr<lane> on) {
    auto& k = keys_.at(key);
    auto begun = on->post([work = k.waiting.front(), executor = executor_, weak = weak_from_this(), key]() mutable {
      const at_end end{executor, weak, key};
      std::exchange(work, nullptr)();
    });
    if (!begun) return begun;
    k.waiting.pop_front();
    --waiting_;
    k.on = std::move(on);
    ++busy_;
    return {};
  }

  void finished(const std::string& key) {
    auto& k = keys_.at(key);
    auto on = std::move(k.on);
    --busy_;
    if (k.waiting.empty())
      keys_.erase(key);
    else
      queue_.push_back(key);
    if (!queue_.empty()) {
      const auto next = std::move(queue_.front());
      queue_.pop_front();
      // The lane has its thread already, unless it was joined meanwhile.
      if (run(next, std::move(on))) return;
      queue_.push_front(next);
    } else if (!spare_) {
      spare_ = std::move(on);
    }
  }

  std::unexpected<error> too_much(const std::string& key) const {
    return fail(errc::limit, "too much waits for the " + name_ + " threads (" + redact::cut_for_people(key, 80) +
                                 "): what they are at hangs or is slow");
  }

  asio::any_io_executor executor_;
  std::string name_;
  options options_;
  std::map<std::string, key_state> keys_;  // those with work that runs or waits
  std::deque<std::string> queue_;          // keys that wait for a thread
  std::unique_ptr<lane> spare_;
  std::size_t busy_ = 0, waiting_ = 0;
};

keyed_lanes::keyed_lanes(asio::any_io_executor executor, std::string name, options o)
    : core_(std::make_shared<core>(std::move(executor), std::move(name), o)) {}

keyed_lanes::~keyed_lanes() = default;

result<void> keyed_lanes::post(const std::string& key, std::function<void()> work) {
  return core_->post(key, std::move(work));
}

std::size_t keyed_lanes::busy() const noexcept {
  return core_->busy();
}

void keyed_lanes::join() {
  core_->join();
}

}  // namespace mcpbx::async
