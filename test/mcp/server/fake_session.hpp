// The surroundings of a caller's session for tests: tool servers that answer when the test says so, and an outbox that
// keeps every message.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/rpc/line_framer.hpp"
#include "mcp/server/base/task_routes.hpp"
#include "mcp/server/caller_session.hpp"
#include "mcp/server/held_calls.hpp"
#include "test/support/manual_time.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::test {

/// A tool server that keeps its calls until the test ends them.
class fake_client final : public mcp::clients::client {
 public:
  explicit fake_client(std::string name, mcp::clients::era era = mcp::clients::era::legacy)
      : name_(std::move(name)), era_(era) {}
  const std::string& name() const override { return name_; }
  mcp::clients::era era() const override { return era_; }
  std::string_view instructions() const override { return instructed; }
  ticket call(mcp::clients::server_call&& c) override {
    calls.push_back(std::move(c));
    return calls.size();
  }
  void cancel(ticket t, std::string_view) override { cancelled.push_back(t); }
  mcp::clients::watch watch_resource(std::string_view uri, std::function<void(const json::raw_json&)> updated,
                                     mcp::clients::watch_decided decided = {}) override {
    if (!subscribes) return nullptr;
    const auto held = std::make_shared<std::string>(uri);
    watching[std::string(uri)].push_back({held, std::move(updated)});
    if (!decided) return held;
    if (decides)
      decided({mcp::rpc::call_outcome::kind::result, json::raw_json::literal("{}"), {}});
    else
      undecided.emplace_back(held, std::move(decided));
    return held;
  }
  mcp::clients::watch watch_task_of(const mcp::clients::call_scope_ptr&, std::string_view id,
                                    std::function<void(const json::raw_json&)> told,
                                    mcp::clients::watch_decided decided) override {
    return watch_resource("task:" + std::string(id), std::move(told), std::move(decided));
  }
  mcp::clients::watch watch_logs(std::string_view level, std::function<void(const json::raw_json&)> logged) override {
    const auto held = std::make_shared<std::string>(level);
    logging[std::string(level)].push_back({held, std::move(logged)});
    return held;
  }
  const std::string& log_subject() const override { return subject; }
  void roots_changed() override { ++roots_changes; }
  const mcp::protocol::server_offers& offers() const override { return declared; }
  mcp::clients::watch watch_extensions(mcp::clients::extension_note_handler told) override {
    const auto held = std::make_shared<mcp::clients::extension_note_handler>(std::move(told));
    heard_by.push_back(held);
    return held;
  }
  void notify(const mcp::clients::call_scope_ptr&, std::string_view method, const json::raw_json&) override {
    notified.emplace_back(method);
  }

  struct watcher {
    std::weak_ptr<void> held;
    std::function<void(const json::raw_json&)> told;
  };
  using watchers = std::map<std::string, std::vector<watcher>>;
  /// Returns the number of watches that are still held.
  static std::size_t held(const watchers& all, const std::string& key) {
    std::size_t n = 0;
    if (const auto found = all.find(key); found != all.end())
      for (const watcher& w : found->second) n += w.held.expired() ? 0 : 1;
    return n;
  }
  static void tell(const watchers& all, const std::string& key, std::string_view params) {
    const auto found = all.find(key);
    if (found == all.end()) return;
    for (const watcher& w : std::vector(found->second))
      if (!w.held.expired()) w.told(json::raw_json::own(params));
  }

  void answer(std::size_t index, std::string_view result) {
    calls.at(index).done({mcp::rpc::call_outcome::kind::result, json::raw_json::own(result), {}});
  }
  void answer_error(std::size_t index, std::string_view error) {
    calls.at(index).done({mcp::rpc::call_outcome::kind::error, json::raw_json::own(error), {}});
  }

  std::vector<mcp::clients::server_call> calls;
  std::vector<ticket> cancelled;
  std::string instructed;
  watchers watching, logging;  ///< by URI, and by level
  std::string subject;         ///< of its logs
  int roots_changes = 0;
  mcp::protocol::server_offers declared;  ///< its capabilities
  std::vector<std::weak_ptr<mcp::clients::extension_note_handler>> heard_by;
  std::vector<std::string> notified;  ///< notifications of callers
  bool subscribes = true;
  bool decides = true;  ///< accepts subscriptions at once; false: when the test says so
  std::vector<std::pair<std::weak_ptr<void>, mcp::clients::watch_decided>> undecided;

  /// Answers the subscriptions that wait for it and are still held.
  void decide(const mcp::rpc::call_outcome& answer) {
    for (auto& [held, decided] : std::exchange(undecided, {}))
      if (!held.expired()) decided(answer);
  }

 private:
  std::string name_;
  mcp::clients::era era_;
};

inline mcp::catalogs::entry_ptr make_tool(const std::shared_ptr<mcp::clients::client>& owner,
                                          const std::string& exposed, const std::string& own) {
  auto e = std::make_shared<mcp::catalogs::catalog_entry>();
  e->name = exposed;
  e->server = owner->name();
  e->tool = own;
  e->definition = json::raw_json::own(R"({"name":)" + json::json_quoted(own) + R"(,"inputSchema":{"type":"object"}})");
  e->exposed = json::raw_json::own(R"({"name":)" + json::json_quoted(exposed) + R"(,"inputSchema":{"type":"object"}})");
  e->legacy = e->exposed;
  e->description = "does " + own;
  e->owner = owner;
  return e;
}

inline mcp::catalogs::feature_entry_ptr make_feature(const std::shared_ptr<mcp::clients::client>& owner,
                                                     const std::string& key, const std::string& own) {
  auto e = std::make_shared<mcp::catalogs::feature_entry>();
  e->key = key;
  e->server = owner->name();
  e->own_key = own;
  e->definition = json::raw_json::own(R"({"name":)" + json::json_quoted(own) + "}");
  e->exposed = json::raw_json::own(R"({"name":)" + json::json_quoted(key) + "}");
  e->owner = owner;
  return e;
}

/// The things that the servers of a test offer.
struct offered {
  std::vector<mcp::catalogs::entry_ptr> tools{};
  std::vector<mcp::catalogs::feature_entry_ptr> prompts{}, resources{}, templates{};
  mcp::catalogs::catalog_offers offers{};
  std::vector<mcp::catalogs::extension_route> extensions{};
};
inline mcp::catalogs::catalog_ptr make_catalog(offered o) {
  auto prompts = std::make_shared<mcp::catalogs::feature_entries>(mcp::protocol::prompt_kind(), std::move(o.prompts));
  auto resources = std::make_shared<mcp::catalogs::feature_entries>(mcp::protocol::resource_kind(), o.resources);
  auto templates =
      std::make_shared<mcp::catalogs::feature_entries>(mcp::protocol::template_kind(), std::move(o.templates));
  std::vector<mcp::catalogs::resource_server> servers;
  for (const auto& r : o.resources)
    if (std::ranges::find(servers, r->server, &mcp::catalogs::resource_server::name) == servers.end())
      servers.push_back({r->server, r->server, r->owner, nullptr});
  mcp::catalogs::catalog_rest rest{.others = {prompts, resources, templates}, .offers = std::move(o.offers)};
  rest.routes = std::make_shared<mcp::catalogs::resource_routes>(std::move(servers), resources, templates,
                                                                 std::make_shared<mcp::catalogs::seen_uris>());
  if (!o.extensions.empty())
    rest.extensions = std::make_shared<const std::vector<mcp::catalogs::extension_route>>(std::move(o.extensions));
  return std::make_shared<mcp::catalogs::catalog>(std::move(o.tools), 1, mcp::catalogs::withheld_tools(),
                                                  std::vector<mcp::catalogs::dropped_item>(), std::move(rest));
}

/// Answers questions in a caller's place when the test says so.
struct fake_answers final : mcp::clients::question_handler {
  ticket ask(mcp::clients::server_question q, done_handler done) override {
    asked.push_back(std::move(q));
    dones.push_back(std::move(done));
    return asked.size();
  }
  void withdraw(ticket t, std::string_view) override { withdrawn.push_back(t); }
  std::vector<mcp::clients::server_question> asked;
  std::vector<done_handler> dones;
  std::vector<ticket> withdrawn;
};

/// A recorder that keeps the records of calls, and holds their answers back until the test releases them.
class fake_recorder final : public mcp::server::call_recorder {
 public:
  void record(mcp::server::finished_call c, std::function<void()> then) override {
    records.push_back(std::move(c));
    waiting.push_back(std::move(then));
  }
  void write() {
    for (auto& then : std::exchange(waiting, {})) then();
  }
  std::vector<mcp::server::finished_call> records;
  std::vector<std::function<void()>> waiting;
};

/// The surroundings of one session; with several sessions, each has its own.
class fake_host final : public mcp::server::caller_host {
 public:
  void send(const mcp::server::answered& what, const json::segments& text) override {
    answers.push_back(what);
    sent.push_back(text.str());
  }
  void send_nothing(std::uint64_t about) override { unanswered.push_back(about); }
  void send_progress(std::uint64_t, const json::segments& text) override { sent.push_back(text.str()); }
  void send_list_changed(const mcp::protocol::feature_kind&, const json::segments& text) override {
    sent.push_back(text.str());
  }
  void send_ask(std::uint64_t about, const json::segments& text, mcp::rpc::outgoing what) override {
    asks_about.push_back(about);
    asks_as.push_back(what);
    sent.push_back(text.str());
  }
  void send_note(const mcp::server::note& n, const json::segments& text) override {
    notes.push_back({n.about, std::string(n.same), n.droppable});
    sent.push_back(text.str());
  }
  time_source& time() override { return clock; }
  const std::string& principal() const override { return who; }
  bool hears_of_others() const override { return person; }
  mcp::catalogs::catalog_ptr tools() const override { return catalog; }
  mcp::callers::held_calls* held() override { return table; }
  mcp::server::task_routes* tasks() override { return &task_table; }
  std::shared_ptr<mcp::clients::question_handler> own_answers(const mcp::clients::server_question& q) override {
    return q.method == own_method ? own : nullptr;
  }
  result<void> admit_call() const override {
    if (stopping) return fail(errc::unavailable, "mcpbx is stopping");
    return {};
  }
  bool uses_extensions() const override { return may_use_extensions; }
  result<void> admit_read(const mcp::protocol::feature_kind& kind, std::string_view server,
                          std::string_view own) const override {
    if (read_refusal.empty()) return {};
    return fail(errc::unavailable,
                std::string(kind.noun) + " " + std::string(server) + " " + std::string(own) + " " + read_refusal);
  }
  std::shared_ptr<mcp::server::call_recorder> recorder() const override { return calls; }
  bool settled() const override { return !starting; }
  void when_settled(milliseconds, std::function<void()> then) override { waiting.push_back(std::move(then)); }
  bool handle(std::string_view method, const json::raw_json& params, const mcp::server::reply_once& reply) override {
    if (method == "mcpbx/echo") {
      reply.result(params.empty() ? json::raw_json::literal("{}") : params);
    } else if (method == "mcpbx/slow") {
      reply.on_cancel([this] { ++ended; });
      slow.push_back(reply);
    } else if (method == "mcpbx/forget") {
      // A handler that loses its request.
    } else {
      return false;
    }
    return true;
  }
  std::vector<std::string_view> methods() const override { return {"mcpbx/echo", "mcpbx/slow", "mcpbx/forget"}; }

  /// Returns what was sent since the last time.
  std::vector<std::string> take() { return std::exchange(sent, {}); }
  void settle() {
    for (auto& then : std::exchange(waiting, {})) then();
  }

  mcp::catalogs::catalog_ptr catalog =
      std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>(), 1);
  std::vector<std::string> sent;
  std::vector<mcp::server::answered> answers;
  std::vector<std::uint64_t> unanswered;
  std::vector<std::uint64_t> asks_about;
  std::vector<mcp::rpc::outgoing> asks_as;
  struct sent_note {
    std::uint64_t about = 0;
    std::string same;
    bool droppable = false;
  };
  std::vector<sent_note> notes;
  std::string who = "uid:1000";
  mcp::callers::held_calls* table = nullptr;  ///< calls that wait for modern callers
  mcp::server::task_routes task_table;
  std::string own_method;  ///< questions of this method are answered by `own`
  std::shared_ptr<fake_answers> own = std::make_shared<fake_answers>();
  manual_time clock;
  std::vector<std::function<void()>> waiting;
  std::vector<mcp::server::reply_once> slow;
  std::string read_refusal;              ///< reason why prompts and resources may not be read; "": they may
  std::shared_ptr<fake_recorder> calls;  ///< null: calls are not recorded
  int ended = 0;
  bool stopping = false;
  bool person = true;
  bool may_use_extensions = true;
  bool starting = false;  ///< a tool server is starting for the first time
};

/// Returns params of a modern request: `members` with a comma behind them, or "", before `_meta`.
inline std::string modern_params(const std::string& members = "", const std::string& capabilities = "{}",
                                 const std::string& more_meta = "") {
  return "{" + members + R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)" +
         R"("io.modelcontextprotocol/clientCapabilities":)" + capabilities + more_meta + "}}";
}
inline std::string request(const std::string& id, const std::string& method, const std::string& params) {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":)" + params + "}";
}
/// Returns the member of a message at this path, as text.
inline std::string at(const std::string& line, std::initializer_list<std::string_view> path) {
  auto parsed = json::raw_json::parse(line);
  json::raw_json value = parsed ? *parsed : json::raw_json();
  for (const std::string_view key : path) value = json::find_member(value, key);
  return std::string(value.text());
}

/// Returns the code of an error response, or 0 if it is none.
inline int code_of(const std::string& line) {
  auto parsed = json::raw_json::parse(line);
  if (!parsed) return 0;
  return static_cast<int>(json::find_member(json::find_member(*parsed, "error"), "code").as_integer().value_or(0));
}
inline std::string text_of(const std::string& line) {
  auto parsed = json::raw_json::parse(line);
  if (!parsed) return "";
  return json::find_member(json::find_member(*parsed, "error"), "message").as_string().value_or("");
}
inline std::string id_of(const std::string& line) {
  auto parsed = json::raw_json::parse(line);
  if (!parsed) return "";
  return std::string(json::find_member(*parsed, "id").text());
}

}  // namespace mcpbx::test
