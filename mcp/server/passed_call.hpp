// One request of a caller that a tool server works on: prompts/get, resources/read, completion/complete, tools/call and
// methods like them. It brings progress, logs and the server's questions to the caller, and the outcome back. A modern
// caller cannot be asked while its request is open, so that its request ends with the questions, the call at the server
// stays open, and a retry of the request continues it (2026-07-28, multi round-trip requests).
#pragma once
#include "mcp/client/client.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/caller_capabilities.hpp"
#include "mcp/server/base/reply_once.hpp"
#include "mcp/server/held_calls.hpp"
#include "mcp/server/tool_call_reply.hpp"
#include "mcp/support/time.hpp"
#include "mcp/trace/trace_context.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::callers {

class caller_session;
struct incoming_call;

/// A method whose requests go to one tool server.
struct call_shape {
  enum class target : std::uint8_t { tool, prompt, resource, completion, task, extension };
  std::string_view method;
  target to;
  std::string_view key;        ///< member of the params that says which server: "name", "uri", "ref", "taskId"
  bool has_arguments = false;  ///< `arguments` is an object
  bool cacheable = false;      ///< results have caching hints in the modern era
  bool may_ask = false;        ///< its result may be `input_required`
  bool in_legacy = true, in_modern = true;  ///< the eras that have the method
};

/// The tool server that a request goes to.
struct call_route {
  std::shared_ptr<clients::client> server;
  std::string server_name;                 ///< configured
  std::string own;                         ///< the server's own name, or URI
  std::optional<rpc::call_limits> limits;  ///< absent: the server's
};

class passed_call final : public clients::question_handler,
                          public held_call,
                          public std::enable_shared_from_this<passed_call> {
 public:
  /// Most questions of one call at a time; further ones are refused.
  static constexpr std::size_t most_questions = 16;

  passed_call(caller_session& session, const call_shape& shape, tool_call_reply reply, const call_route& route);

  /// Sends the call. `in` is what its params say.
  void start(clients::server_call&& call, incoming_call&& in);

  // question_handler
  ticket ask(clients::server_question q, done_handler done) override;
  bool can_answer(const clients::server_question& q) override;
  void withdraw(ticket t, std::string_view reason) override;
  // held_call
  void give_up(std::string_view why) override;
  void resume(held_retry retry) override;

 private:
  struct question {
    enum class place : std::uint8_t {
      waiting,  // for its caller: until it is gathered with others, or until the retry
      parked,   // the caller has it in an input_required
      caller,   // asked of a legacy caller
      other,    // asked of the part that answers in the caller's place
      settled   // its outcome comes in the next turn
    };
    ticket number = 0;
    clients::server_question what;
    done_handler done;
    place where = place::waiting;
    rpc::call_number asked = 0;
    std::shared_ptr<clients::question_handler> other;
    ticket other_ticket = 0;
    rpc::call_outcome outcome;
  };

  bool modern() const { return reply_.request().modern() != nullptr; }
  bool attached() const { return session_ && reply_.open(); }
  void attach();
  void detach();
  void cancel(std::string_view why);
  void finish(rpc::call_outcome&& outcome);
  void end_questions(std::string_view why);
  void answer(const rpc::call_outcome& outcome);
  void answer_error(const json::raw_json& error);
  void require_urls(const json::raw_json& elicitations);
  void report_uris(const json::raw_json& result);
  void note_task(const json::raw_json& result);
  void progress(const json::raw_json& params);
  void log(const json::raw_json& params);
  void set_notified(clients::server_call& call, bool has_task);

  question* find(ticket t);
  void route(ticket t);
  bool answers(const clients::server_question& q) const;
  bool ask_caller(question& q);
  bool lacks_sampling(const question& q);
  void settle(ticket t, rpc::call_outcome outcome);
  void decline(question& q);
  void answered(ticket t, rpc::call_outcome&& outcome);
  std::string progress_token(ticket t) const;
  void flush();
  void gather();
  void park();
  void take_answers(const json::raw_json& responses);

  caller_session* session_;  // null: the caller has its answer, or has left
  const call_shape& shape_;
  tool_call_reply reply_;
  std::weak_ptr<clients::client> server_;
  std::string server_name_;
  bool modern_server_;
  bool wants_task_ = false;
  std::string name_;
  json::raw_json arguments_, token_;
  trace::trace_context trace_;  // of the request that made the call
  clients::client::ticket ticket_ = 0;
  bool over_ = false;      // the server's call has ended
  bool answered_ = false;  // the present request has its answer
  std::vector<question> questions_;
  ticket next_ = 1;
  time_source& time_;
  std::unique_ptr<timer> flush_timer_, gather_timer_;  // null until they are needed
  time_point gather_until_ = never;
  held_calls* held_ = nullptr;  // while the call is held
  std::uint64_t held_id_ = 0;
  rpc::call_outcome outcome_;  // came while the call was held
};

}  // namespace mcpbx::mcp::callers
