// Questions that tool servers ask while they work on calls of one run: which a person answers, which mcpbx answers
// itself, and the way of each answer back to its server.
#pragma once
#include "daemon/answers/own_answers.hpp"
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "daemon/loop/run/runner.hpp"
#include "daemon/policy/decision.hpp"
#include "daemon/store/records/record.hpp"
#include "mcp/client/client.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::run {

/// Belongs to one run. Writes no record itself: the run records the questions and answers.
class server_questions {
 public:
  class call_handler;
  /// A question that a server has asked. `at` takes its answer under `ticket`.
  struct asked {
    std::shared_ptr<call_handler> at;
    mcp::clients::question_handler::ticket ticket = 0;
    std::string call;
    mcp::clients::server_question question;
  };
  /// A question that its server does not wait for any more.
  struct gone {
    std::shared_ptr<call_handler> at;
    mcp::clients::question_handler::ticket ticket = 0;
  };
  /// Gets the questions of the calls while the run exists. Call take() and withdrawn() in a later turn.
  class listener {
   public:
    virtual ~listener() = default;
    virtual void on_server_question(asked a) = 0;
    virtual void on_question_gone(gone g) = 0;
  };
  /// Data and services of the run. All of them must outlive this object.
  struct subject {
    const core::run_core& core;
    const run_request& request;
    const run_feed& feed;
    const policy::terms_ptr& entries;  ///< approval rules of the configured servers; null: none
    time_source& time;
    random_source& random;
    boost::asio::any_io_executor executor;
    answers::own_answers* answers;  ///< null: mcpbx answers nothing itself
  };
  explicit server_questions(subject of) : of_(of) {}

  /// Adds to a call the part that answers questions, and the capabilities that the server may ask for.
  void attach_to(mcp::clients::server_call& call, const std::string& id, const std::weak_ptr<listener>& told);

  /// The consequence of a question: it is to be recorded and shown, or it has been answered, or is being so.
  struct reaction {
    std::optional<stored::record::question> question;
    std::string status;  ///< sentence for people about a refusal, or ""
  };
  reaction take(asked a);
  /// Returns the record that ends a withdrawn question; nullopt: it is not open.
  std::optional<stored::record::answer> withdrawn(const gone& g);
  /// Returns the body of an answer as it may be recorded: without the values of fields that are secrets by their name,
  /// `format: "password"` or `writeOnly`. pass() gives the server the whole.
  json::raw_json kept(const stored::record::question& q, const json::raw_json& body);
  /// Checks the body of an answer before it is recorded. errc::invalid_argument with the place.
  static result<void> check(const stored::record::question& q, const json::raw_json& body);
  /// Gives a recorded answer to the server. Ignored if the server does not wait any more.
  void pass(const stored::record::question& q, const stored::record::answer& a);
  /// Forgets all questions, because their calls are cancelled.
  void forget() { open_.clear(); }

 private:
  struct open_question {
    std::string id;
    asked from;
    json::raw_json said;  // the answer, if the record does not have all of it
  };
  reaction take_input(asked a);
  reaction take_sampling(asked a);
  stored::record::question question_of(const asked& a, std::string_view kind, json::raw_json body) const;
  policy::decision judge(const asked& a, const answers::sampling_tool& tool, const std::string& sha256) const;
  std::string hash_of(const asked& a) const;
  std::string tool_of(const std::string& call) const;
  bool reachable() const { return of_.feed.kept() || of_.feed.answers(); }
  std::shared_ptr<mcp::clients::question_handler> own();

  subject of_;
  std::shared_ptr<mcp::clients::question_handler> own_;  // null until it is needed
  std::vector<open_question> open_;
};

}  // namespace mcpbx::daemon::run
