// Fetches the prompt and the resources with which a run begins, before it does: all of them at once, from their
// servers.
#pragma once
#include "daemon/front/chat/chat_opening.hpp"
#include "daemon/front/rpc/opening_questions.hpp"
#include "daemon/front/rpc/rpc_caller.hpp"
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/client/client.hpp"
#include "mcp/server/base/reply_once.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mcpbx::daemon {

class opening_reads : public std::enable_shared_from_this<opening_reads> {
 public:
  using opened_handler = std::function<void(const opened_chat&)>;
  /// Fetches for a request of this caller under a profile ("": none). Calls `then` once all is here, in a later turn.
  /// On a failure answers `reply` with the reason instead. Does neither if the request was cancelled or its caller
  /// left.
  static void start(rpc_caller& c, chat_opening what, std::string profile, const mcp::reply_once& reply,
                    opened_handler then);

 private:
  struct ask {
    std::string what;  // for people: "the prompt \"x\""
    std::string server;
    std::weak_ptr<mcp::client> client;
    mcp::client::ticket ticket = 0;
    raw_json result;
    mcp::finished_call record;
  };

  opening_reads(rpc_caller& c, chat_opening what, std::string profile, const mcp::reply_once& reply,
                opened_handler then);
  void look(bool settled);
  void send_all(const mcp::catalog& tools);
  void send(std::string what, const std::weak_ptr<mcp::client>& owner, const mcp::feature_kind& kind,
            const std::string& own, raw_json params, mcp::finished_call record);
  void note(mcp::finished_call record, mcp::call_end end, std::size_t bytes = 0);
  void arrived(std::size_t number, const mcp::call_outcome& outcome);
  std::string unanswered() const;
  void give_up(const error& why);
  void cancel(std::string_view reason);

  rpc_caller& caller_;  // lives while reply_ is open
  chat_opening what_;
  std::string profile_;
  mcp::reply_once reply_;
  opened_handler then_;
  std::shared_ptr<mcp::call_recorder> recorder_;  // null: the audit is off
  std::shared_ptr<opening_questions> questions_;
  std::vector<ask> asks_;  // the prompt first, if there is one, then the resources
  std::size_t open_ = 0, bytes_ = 0;
};

}  // namespace mcpbx::daemon
