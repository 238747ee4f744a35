// Questions of tool servers about a prompt or a resource with which a run is to begin. The run does not exist yet, so
// the caller itself is asked, as an MCP client, or a model of ours answers.
#pragma once
#include "daemon/front/rpc/rpc_caller.hpp"
#include "mcp/client/client.hpp"
#include "mcp/server/base/reply_once.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::daemon {

class opening_questions final : public mcp::question_handler, public std::enable_shared_from_this<opening_questions> {
 public:
  /// `caller` must live while `reply`, the request of the run, is open.
  opening_questions(rpc_caller& caller, const mcp::reply_once& reply);

  ticket ask(mcp::server_question q, done_handler done) override;
  void withdraw(ticket t, std::string_view reason) override;
  /// Returns a clause about a question that nobody could answer, or "".
  const std::string& unanswered() const noexcept { return unanswered_; }

 private:
  struct question {
    done_handler done;
    mcp::call_number asked = 0;  // of the caller
    std::shared_ptr<mcp::question_handler> other;
    ticket other_ticket = 0;
  };
  void answered(ticket t, mcp::call_outcome&& outcome);

  boost::asio::any_io_executor executor_;
  rpc_caller& caller_;
  mcp::reply_once reply_;
  std::map<ticket, question> open_;
  ticket last_ = 0;
  std::string unanswered_;
};

}  // namespace mcpbx::daemon
