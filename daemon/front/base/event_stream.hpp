// The events of a run as lines for one request, each with request, run and number in front. Every request that starts a
// run or attaches to it has a stream of its own.
#pragma once
#include "daemon/front/base/outgoing_queue.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/server/base/reply_once.hpp"
#include "mcp/support/error.hpp"

#include <memory>
#include <optional>
#include <string>

namespace mcpbx::daemon::front {

class event_stream final : public outgoing_queue::source,
                           public std::enable_shared_from_this<event_stream>,
                           private run::run_feed::listener {
 public:
  class owner {
   public:
    virtual ~owner() = default;
    /// Like outgoing_queue::ready.
    virtual void on_ready(const std::shared_ptr<event_stream>& stream, outgoing_queue::pace how) = 0;
    /// Called when the last event is in the outbox; the owner answers the request now.
    virtual void on_end(event_stream& stream) = 0;
  };

  /// `told` must outlive the stream, or leave() must be called before.
  event_stream(owner& told, mcp::server::reply_once reply, std::string run);

  /// Begins to read; events that are present leave at once.
  void read(run::run_feed& feed, run::run_feed::wish w);
  /// Stops reading and reports no end. Like feed_reader::leave.
  void leave(std::string why);

  /// Like feed_reader::answer_no_more.
  void answer_no_more() {
    if (reader_) reader_->answer_no_more();
  }

  const mcp::server::reply_once& reply() const noexcept { return reply_; }
  const std::string& run() const noexcept { return run_; }
  /// Returns the reason if the run did not begin; otherwise result() is set. Only after the end.
  const std::optional<error>& refusal() const noexcept { return reader_->refusal(); }
  /// Returns the result of the run. Only after the end.
  const json::raw_json& result() const noexcept { return reader_->result(); }

  json::segments next(std::string& scratch) override;
  std::size_t waiting() const override { return reader_ ? reader_->waiting() : 0; }

 private:
  void on_ready(run::run_event::kind latest) override;
  json::segments line(const run::run_feed::entry& e, std::string& scratch) const;

  owner* owner_;  // null after the end or after leave()
  mcp::server::reply_once reply_;
  std::string run_;
  std::string head_;  // beginning of a line, up to the number
  std::unique_ptr<run::feed_reader> reader_;
};

}  // namespace mcpbx::daemon::front
