// A caller of either era, before a caller session of its own: what the front door is for a real one. It counts the
// answers to each of its requests, and answers questions by itself: a legacy caller those that are sent to it, a modern
// one by sending its request again.
#pragma once
#include "mcp/server/caller_session.hpp"
#include "test/mcp/bridging/bridge.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::test {

class bridge_caller final : private mcp::server::caller_host {
 public:
  /// One request of this caller.
  struct request {
    std::string method, members, meta;
    std::vector<std::string> answers{};  ///< whole messages; a right one is alone
    bool sent = false;
    int step = 0;            ///< its number among the messages that are counted
    bool cancelled = false;  ///< by this caller
    std::string retry{};     ///< id of the request that goes on with it
  };

  bridge_caller(bridge& b, std::string name, std::string principal, bool modern);
  ~bridge_caller() override;
  bridge_caller(const bridge_caller&) = delete;
  bridge_caller& operator=(const bridge_caller&) = delete;

  const std::string name;
  const bool modern;
  std::string principal_name;
  std::string capabilities = "{}";      ///< those that it declares
  std::string revision = "2025-11-25";  ///< revision that a legacy one asks for
  std::string client_info = R"({"name":"reader","version":"1"})";
  std::string level;  ///< of logs that each modern request asks for; "": none
  /// Returns the answer to a question: a result object, or "" to leave it open.
  std::function<std::string(std::string_view method, const json::raw_json& params)> answerer;
  int retries = 1;  ///< times that each retry of its own is sent

  /// Opens the conversation, which a modern caller need not.
  void open();
  /// Sends a request and returns its id. `members` are params without braces ("\"name\":\"x\""), `meta` members of
  /// `_meta` beside those of the era.
  std::string ask(std::string_view method, const std::string& members = "", const std::string& meta = "");
  /// The same with an id of the test's own, as JSON.
  void ask_as(const std::string& id, std::string_view method, const std::string& members = "",
              const std::string& meta = "");
  std::string call(const std::string& tool, const std::string& arguments = "{}", const std::string& meta = "") {
    return ask("tools/call", R"("name":")" + tool + R"(","arguments":)" + arguments, meta);
  }
  void notify(std::string_view method, const std::string& params = "");
  void cancel(const std::string& id);
  /// Sends any line. `id`: the id of the request in it.
  void say(const std::string& line, const std::string& id = {});
  /// Closes the connection.
  void leave();
  /// Destroys the session, as the owner of a closed connection does in a later turn.
  void forget() { session_.reset(); }
  /// Returns the id of the last request that has been sent, has no answer and was not cancelled; "": none.
  std::string open_request() const;

  bool left() const { return left_; }
  mcp::callers::caller_session& session() { return *session_; }
  const std::map<std::string, request>& requests() const { return requests_; }
  /// Returns the last answer to a request or to the retry that goes on with it; "": none yet.
  std::string answer(const std::string& id) const;
  /// Returns the result of that answer, "" for an error.
  std::string result(const std::string& id) const { return member_at(answer(id), {"result"}); }
  std::string error_code(const std::string& id) const { return member_at(answer(id), {"error", "code"}); }
  /// Returns the id of the request that goes on with this one last.
  std::string last_id(std::string id) const;
  /// Returns the messages with this method that came, oldest first.
  std::vector<std::string> got(std::string_view method) const;
  /// Messages that came after this caller left, answers to nobody, and second answers.
  std::vector<std::string> wrong;
  const std::vector<std::string>& received() const { return received_; }
  void list_changed(const mcp::protocol::feature_kind& kind);

 private:
  // Implements caller_host.
  void send(const mcp::server::answered& what, const json::segments& text) override;
  void send_nothing(std::uint64_t) override {}
  void send_progress(std::uint64_t, const json::segments& text) override { out(text); }
  void send_list_changed(const mcp::protocol::feature_kind& kind, const json::segments& text) override {
    out(text, std::string(kind.changed));
  }
  void send_ask(std::uint64_t, const json::segments& text, mcp::rpc::outgoing) override { out(text); }
  void send_note(const mcp::server::note& n, const json::segments& text) override {
    out(text, n.same.empty() ? std::string() : std::to_string(n.about) + std::string(n.same));
  }
  time_source& time() override { return bridge_.rig.time; }
  const std::string& principal() const override { return principal_name; }
  bool hears_of_others() const override { return principal_name.starts_with("uid:"); }
  mcp::catalogs::catalog_ptr tools() const override { return bridge_.rig.supervisor->snapshot(); }
  mcpbx::result<void> admit_call() const override;
  mcp::callers::held_calls* held() override { return &bridge_.held; }
  mcp::server::task_routes* tasks() override { return &bridge_.tasks; }
  mcp::clients::call_scope_ptr scope() const override { return scope_; }
  bool settled() const override { return bridge_.rig.supervisor->settled(); }
  void when_settled(milliseconds at_most, std::function<void()> then) override;
  bool handle(std::string_view, const json::raw_json&, const mcp::server::reply_once&) override { return false; }
  std::vector<std::string_view> methods() const override { return {}; }

  void out(const json::segments& text, const std::string& same = {});
  void take(const std::string& line);
  void take_answer(const mcp::rpc::message& m, const std::string& line);
  void take_question(const mcp::rpc::message& m);
  void go_on(const std::string& id, const json::raw_json& result);
  std::string params_of(const request& r) const;

  bridge& bridge_;
  const mcp::clients::call_scope_ptr scope_ = mcp::clients::call_scope::of_caller(name);
  std::unique_ptr<mcp::callers::caller_session> session_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
  std::map<std::string, request> requests_;
  std::vector<std::string> received_;
  std::set<std::string> withdrawn_;
  std::set<std::string> unread_;  // keys of messages that stand for others like them until they are read
  int next_id_ = 1;
  bool left_ = false;
};

}  // namespace mcpbx::test
