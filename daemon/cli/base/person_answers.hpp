// Questions for input that a tool server asks this command as an MCP client, during one request (elicitation/create):
// answered one after another, at the terminal or by a rule.
#pragma once
#include "daemon/cli/base/context.hpp"
#include "daemon/cli/link/daemon_connection.hpp"
#include "daemon/cli/terminal/input_prompt.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>

namespace mcpbx::cli {

/// Returns the capabilities for initialize() of a command that answers so; unset: it answers nothing.
std::string_view answerable(std::optional<terminals::input_mode> input);

/// Returns the answers of a command without --input: those of the person, if one can be asked.
std::optional<terminals::input_mode> person_of(const context& c);

/// All references must outlive this object.
class person_answers {
 public:
  person_answers(context& c, link::daemon_connection& link, terminals::input_mode mode)
      : c_(c), link_(link), mode_(mode) {}

  /// Takes a request of the daemon. Ignores those that are no questions for input.
  void take(const mcp::rpc::message& request);
  /// Takes a notification, which may withdraw a question.
  void notified(std::string_view method, const json::raw_json& params);
  /// Answers the first question. To be called when no message waits.
  void answer();

 private:
  struct question {
    mcp::rpc::rpc_id id;
    json::raw_json params;
  };
  static constexpr std::size_t most_waiting = std::size_t{4} << 20;

  context& c_;
  link::daemon_connection& link_;
  terminals::input_mode mode_;
  std::deque<question> open_;
};

/// Sends a request and answers the questions about it.
result<link::answer> call_with_questions(context& c, link::daemon_connection& link, std::string_view method,
                                         std::string_view params, std::optional<terminals::input_mode> input);

}  // namespace mcpbx::cli
