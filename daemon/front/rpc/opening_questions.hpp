// Questions of tool servers about a prompt or a resource with which a run is to begin. A caller that answers the
// questions of its run gets these as well, as events of the run, which has its name and its feed by then. Other callers
// are asked as MCP clients, or a model of ours answers.
#pragma once
#include "daemon/front/rpc/rpc_caller.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "daemon/store/records/record.hpp"
#include "mcp/client/client.hpp"
#include "mcp/server/base/reply_once.hpp"
#include "mcp/support/time.hpp"
#include "mcp/trace/trace_context.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::daemon::rpc_door {

class opening_questions final : public mcp::clients::question_handler,
                                public std::enable_shared_from_this<opening_questions> {
 public:
  /// `caller` must live while `reply`, the request of the run, is open. `feed`: that of the run. `limit`: time for the
  /// answer to an event. `trace`: that of the run.
  opening_questions(rpc_caller& caller, const mcp::server::reply_once& reply, std::shared_ptr<run::run_feed> feed,
                    milliseconds limit, trace::trace_context trace);

  ticket ask(mcp::clients::server_question q, done_handler done) override;
  void withdraw(ticket t, std::string_view reason) override;
  /// Returns true if a reader of the feed answers questions.
  bool reaches_reader() const { return !feed_->over() && feed_->answers(); }
  /// Answers a question that was sent as an event. errc::not_found: it is not open; errc::invalid_argument: the answer
  /// is wrong, with the place.
  result<void> answer(const std::string& question, const json::raw_json& body);
  /// Ends the questions that were sent as events, because nobody can answer them any more.
  void nobody_answers();
  /// Returns a clause about a question that nobody could answer, or "".
  const std::string& unanswered() const noexcept { return unanswered_; }

 private:
  struct question {
    done_handler done;
    mcp::rpc::call_number asked = 0;  // of the caller
    std::shared_ptr<mcp::clients::question_handler> other;
    ticket other_ticket = 0;
    stored::record::question event;  // its id is "": it was not sent as one
    std::unique_ptr<timer> limit;
  };
  bool ask_by_event(ticket t, const mcp::clients::server_question& q);
  void end_event(ticket t, stored::record::answer a);
  void answered(ticket t, mcp::rpc::call_outcome&& outcome);

  boost::asio::any_io_executor executor_;
  rpc_caller& caller_;
  mcp::server::reply_once reply_;
  std::shared_ptr<run::run_feed> feed_;
  milliseconds limit_;
  trace::trace_context trace_;
  std::map<ticket, question> open_;
  ticket last_ = 0;
  std::string unanswered_;
};

}  // namespace mcpbx::daemon::rpc_door
