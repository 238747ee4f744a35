// The working part of a stream transport. Its handlers keep it alive, so that its user may drop the transport at any
// moment, also inside a callback. The keeper holds it too, to report an exit after the last output.
#pragma once
#include "mcp/rpc/line_framer.hpp"
#include "mcp/transport/transport.hpp"
#include "mcp/transport/write_queue.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace mcpbx::mcp::transports {

class stream_core final : public std::enable_shared_from_this<stream_core>, private rpc::message_sink {
 public:
  /// Takes ownership of both descriptors, which may be equal.
  stream_core(const boost::asio::any_io_executor& executor, int read_fd, int write_fd,
              rpc::line_framer::options framing);
  ~stream_core() override;

  void start(transport_events& events);
  void send(const json::segments& text);
  void hold() noexcept { held_ = true; }
  void release();
  std::size_t unsent() const noexcept { return outbox_.size(); }
  void pause_reading(bool paused);
  void finish_sending();
  void close();

  /// Returns true if nothing more will be delivered: the reading side has ended or never began.
  bool reading_ended() const noexcept { return ended_ || !events_; }
  /// Reads the rest of a dead peer's output, paused or not, and calls `done` once the stream is empty or has ended.
  void drain(std::function<void()> done);

 private:
  class turn;

  void on_message(rpc::message&& m) override;
  void on_fault(rpc::message_fault f) override;

  void wait_readable();
  void post_turn();
  void read_turn();
  bool read_once();
  void reading_blocked();
  void end_of_stream();
  void wait_for_hangup();
  void post_flush();
  void flush();
  void write_failed(int number);
  void fail(error why);
  void report_end(const error& why);
  void finish_draining();
  void shut_sending();

  boost::asio::posix::stream_descriptor in_;
  std::optional<boost::asio::posix::stream_descriptor> out_;  // absent when one socket is used both ways
  int read_fd_, write_fd_;
  std::optional<rpc::line_framer> framer_;
  transport_events* events_ = nullptr;
  write_queue outbox_;
  std::function<void()> drained_;
  std::optional<error> write_error_;  // the connection ends with this error once nothing is left to read
  int turns_after_error_ = 0;
  bool open_ = true;          // not closed yet; sending may go on after the end of the stream
  bool ended_ = false;        // nothing more will be delivered
  bool half_closed_ = false;  // the peer sends no more but still reads answers
  bool write_is_socket_ = false;
  bool feeding_ = false, paused_ = false;
  bool waiting_ = false, turn_posted_ = false;
  bool flushing_ = false;  // a flush is posted or waits until the descriptor is writable
  bool held_ = false;      // sends post no flush
  bool sending_ended_ = false, sending_shut_ = false;
  bool widened_in_ = false, widened_out_ = false;
  bool wide_socket_ = false;  // it counts among the wide sockets of the process
};

/// The transport that a user holds. Destroying it closes the core.
class stream_handle final : public transport {
 public:
  explicit stream_handle(std::shared_ptr<stream_core> core) : core_(std::move(core)) {}
  ~stream_handle() override { core_->close(); }
  stream_handle(const stream_handle&) = delete;
  stream_handle& operator=(const stream_handle&) = delete;

  void start(transport_events& events) override { core_->start(events); }
  void send(const json::segments& text, rpc::outgoing) override { core_->send(text); }
  void hold_writes() override { core_->hold(); }
  void release_writes() override {
    const auto kept = core_;  // its user may drop the transport in on_drained
    kept->release();
  }
  std::size_t unsent() const noexcept override { return core_->unsent(); }
  void pause_reading(bool paused) override { core_->pause_reading(paused); }
  void finish_sending() override { core_->finish_sending(); }
  void close() override { core_->close(); }

 private:
  std::shared_ptr<stream_core> core_;
};

}  // namespace mcpbx::mcp::transports
