// A question_handler that keeps what it is asked, until the test answers.
#pragma once
#include "mcp/client/client.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::test {

class question_recorder final : public mcp::clients::question_handler {
 public:
  struct asked {
    mcp::clients::server_question question;
    done_handler done;
    bool withdrawn = false;
    std::string reason;
  };
  std::vector<asked> questions;
  bool able = true;              ///< answer of can_answer()
  std::function<void()> on_ask;  ///< called inside ask()

  ticket ask(mcp::clients::server_question q, done_handler done) override {
    questions.push_back({std::move(q), std::move(done), false, {}});
    const auto t = questions.size();
    if (on_ask) on_ask();
    return t;
  }
  bool can_answer(const mcp::clients::server_question&) override { return able; }
  void withdraw(ticket t, std::string_view reason) override {
    auto& q = questions.at(t - 1);
    q.withdrawn = true;
    q.reason = reason;
  }

  void answer(std::size_t i, std::string_view result) {
    questions.at(i).done({mcp::rpc::call_outcome::kind::result, json::raw_json::own(result), {}});
  }
  void refuse(std::size_t i, std::string_view error) {
    questions.at(i).done({mcp::rpc::call_outcome::kind::error, json::raw_json::own(error), {}});
  }
};

}  // namespace mcpbx::test
