// Fetches the prompt and the resources with which a run begins, before it does: all of them at once, from their
// servers.
#pragma once
#include "daemon/front/chat/chat_opening.hpp"
#include "daemon/front/rpc/opening_questions.hpp"
#include "daemon/front/rpc/rpc_caller.hpp"
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/client/client.hpp"
#include "mcp/server/base/reply_once.hpp"
#include "mcp/support/time.hpp"
#include "mcp/trace/trace_context.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mcpbx::daemon::rpc_door {

class opening_reads : public std::enable_shared_from_this<opening_reads> {
 public:
  using opened_handler = std::function<void(const chat::opened_chat&)>;
  /// The run that is to begin.
  struct beginning {
    std::string profile;                  ///< or "": none
    std::shared_ptr<run::run_feed> feed;  ///< of the run; unless it is kept (a detached run), its caller reads it
    milliseconds question_limit;          ///< longest time for the answer to a question
    trace::trace_context trace;           ///< of the run, or none
  };
  /// Fetches for a request of this caller, which calls leave() if it cancels the request or leaves. Calls `then` once
  /// all is here, in a later turn. On a failure tells the feed and, for a detached run, `reply` the reason instead.
  static std::shared_ptr<opening_reads> start(rpc_caller& c, chat::chat_opening what, beginning of,
                                              const mcp::server::reply_once& reply, opened_handler then);
  /// Returns the owner of the run.
  const std::string& principal() const noexcept { return principal_; }
  /// Returns the feed of the run.
  const std::shared_ptr<run::run_feed>& feed() const noexcept { return of_.feed; }
  bool detached() const noexcept { return of_.feed->kept(); }
  /// Returns the serial of the request that is to begin the run.
  std::uint64_t serial() const noexcept { return reply_.serial(); }
  /// Returns false once the run has begun or cannot begin.
  bool is_open() const noexcept { return static_cast<bool>(then_); }
  /// Ends the run that has not begun: its caller gets errc::cancelled with this sentence.
  void stop(std::string sentence) { give_up({errc::cancelled, std::move(sentence)}); }
  /// Ends it because its caller has cancelled the request or left.
  void leave() { stop("the caller that was to begin the run cancelled it or left"); }
  /// As opening_questions::answer().
  result<void> answer(const std::string& question, const json::raw_json& body) {
    return questions_->answer(question, body);
  }

 private:
  struct ask {
    std::string what;  // for people: "the prompt \"x\""
    std::string server;
    std::weak_ptr<mcp::clients::client> client;
    mcp::clients::client::ticket ticket = 0;
    json::raw_json result;
    mcp::server::finished_call record;
  };

  opening_reads(rpc_caller& c, chat::chat_opening what, beginning of, const mcp::server::reply_once& reply,
                opened_handler then);
  void look(bool settled);
  void send_all(const mcp::catalogs::catalog& tools);
  void send(std::string what, const std::weak_ptr<mcp::clients::client>& owner, const mcp::protocol::feature_kind& kind,
            const std::string& own, json::raw_json params, mcp::server::finished_call record);
  void note(mcp::server::finished_call record, mcp::server::call_end end, std::size_t bytes = 0);
  void arrived(std::size_t number, const mcp::rpc::call_outcome& outcome);
  std::string unanswered() const;
  void give_up(const error& why);
  void cancel(std::string_view reason);

  rpc_caller& caller_;  // lives while reply_ is open
  chat::chat_opening what_;
  beginning of_;
  std::string principal_;
  mcp::server::reply_once reply_;
  opened_handler then_;
  std::shared_ptr<mcp::server::call_recorder> recorder_;  // null: the audit is off
  std::shared_ptr<opening_questions> questions_;
  std::vector<ask> asks_;  // the prompt first, if there is one, then the resources
  std::size_t open_ = 0, bytes_ = 0;
};

}  // namespace mcpbx::daemon::rpc_door
