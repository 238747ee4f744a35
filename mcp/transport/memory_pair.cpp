// Implements the memory pair: each end queues its messages and delivers them to the other end in a later turn.
#include "mcp/transport/memory_pair.hpp"

#include <boost/asio/post.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::mcp::transports {
namespace {

namespace asio = boost::asio;

// One end. It owns the messages on their way to the other end, as the kernel's buffers would.
class memory_end final : public std::enable_shared_from_this<memory_end> {
 public:
  explicit memory_end(asio::any_io_executor executor) : executor_(std::move(executor)) {}
  void connect(const std::shared_ptr<memory_end>& peer) { peer_ = peer; }

  void start(transport_events& events) {
    if (ended_ || events_) return;
    events_ = &events;
    ask_peer();
  }
  void send(const json::segments& text) {
    if (closed_ || sending_ended_ || peer_gone()) return;
    unsent_ += text.size();
    outbox_.push_back(text.str());
    post_delivery();
  }
  std::size_t unsent() const noexcept { return unsent_; }
  void pause_reading(bool paused) {
    paused_ = paused;
    if (!paused) ask_peer();
  }
  void finish_sending() {
    if (closed_) return;
    sending_ended_ = true;
    post_delivery();
  }
  void close() {
    if (closed_) return;
    closed_ = ended_ = true;
    drop_outbox();
    if (auto peer = peer_.lock())
      asio::post(executor_, [peer] {
        peer->drop_outbox();
        peer->end({errc::unavailable, "the other side closed the connection"});
      });
  }

 private:
  bool peer_gone() const {
    auto peer = peer_.lock();
    return !peer || peer->closed_;
  }
  void ask_peer() {
    if (auto peer = peer_.lock()) peer->post_delivery();
  }
  void post_delivery() {
    if (delivery_posted_ || closed_) return;
    delivery_posted_ = true;
    asio::post(executor_, [self = shared_from_this()] {
      self->delivery_posted_ = false;
      self->deliver();
    });
  }
  void deliver() {
    auto peer = peer_.lock();
    if (closed_ || !peer || !peer->reads()) return;
    if (!outbox_.empty()) {
      unsent_ = 0;
      for (const std::string& text : std::exchange(outbox_, {})) peer->take(text);
      if (closed_) return;
      if (events_ && !ended_ && outbox_.empty()) events_->on_drained();
    }
    if (sending_ended_ && outbox_.empty() && peer->reads()) peer->end_of_stream();
  }
  bool reads() const { return events_ && !ended_ && !half_closed_ && !paused_; }

  void take(const std::string& text) {
    if (ended_) return;
    auto m = rpc::parse_message(json::raw_json::own(text));
    if (m) return events_->on_message(std::move(*m));
    rpc::message_fault fault;
    fault.type = rpc::message_fault::kind::malformed;
    fault.envelope = std::move(m.error());
    fault.bytes = text.size();
    fault.excerpt = text.substr(0, 200);
    events_->on_fault(std::move(fault));
  }
  void drop_outbox() {
    outbox_.clear();
    unsent_ = 0;
  }
  void end_of_stream() {
    half_closed_ = events_->on_input_end();
    if (half_closed_) return;
    end({errc::unavailable, "the other side closed the connection"});
  }
  void end(const error& why) {
    if (std::exchange(ended_, true)) return;
    if (events_) events_->on_closed(why);
  }

  asio::any_io_executor executor_;
  std::weak_ptr<memory_end> peer_;
  transport_events* events_ = nullptr;
  std::vector<std::string> outbox_;
  std::size_t unsent_ = 0;
  bool closed_ = false, ended_ = false, paused_ = false;
  bool sending_ended_ = false, half_closed_ = false, delivery_posted_ = false;
};

class memory_handle final : public transport {
 public:
  explicit memory_handle(std::shared_ptr<memory_end> end) : end_(std::move(end)) {}
  ~memory_handle() override { end_->close(); }
  memory_handle(const memory_handle&) = delete;
  memory_handle& operator=(const memory_handle&) = delete;

  void start(transport_events& events) override { end_->start(events); }
  void send(const json::segments& text, rpc::outgoing) override { end_->send(text); }
  std::size_t unsent() const noexcept override { return end_->unsent(); }
  void pause_reading(bool paused) override { end_->pause_reading(paused); }
  void finish_sending() override { end_->finish_sending(); }
  void close() override { end_->close(); }

 private:
  std::shared_ptr<memory_end> end_;
};

}  // namespace

std::pair<std::unique_ptr<transport>, std::unique_ptr<transport>> make_memory_pair(
    const asio::any_io_executor& executor) {
  auto a = std::make_shared<memory_end>(executor);
  auto b = std::make_shared<memory_end>(executor);
  a->connect(b);
  b->connect(a);
  return {std::make_unique<memory_handle>(a), std::make_unique<memory_handle>(b)};
}

}  // namespace mcpbx::mcp::transports
