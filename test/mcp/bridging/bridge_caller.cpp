// Messages of a caller in both directions.
#include "test/mcp/bridging/bridge_caller.hpp"

#include <utility>

namespace mcpbx::test {

bridge_caller::bridge_caller(bridge& b, std::string n, std::string principal, bool new_era)
    : name(std::move(n)),
      modern(new_era),
      principal_name(std::move(principal)),
      bridge_(b),
      session_(new mcp::callers::caller_session(*this, b.session_options)) {}

bridge_caller::~bridge_caller() = default;

void bridge_caller::open() {
  if (modern) return;
  ask("initialize",
      R"("protocolVersion":")" + revision + R"(","capabilities":)" + capabilities + R"(,"clientInfo":)" + client_info);
  notify("notifications/initialized");
}

std::string bridge_caller::params_of(const request& r) const {
  std::string meta = r.meta;
  if (modern) {
    std::string own =
        R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":)" +
        client_info + R"(,"io.modelcontextprotocol/clientCapabilities":)" + capabilities;
    if (!level.empty()) own += R"(,"io.modelcontextprotocol/logLevel":")" + level + '"';
    meta = own + (meta.empty() ? "" : ",") + meta;
  }
  std::string out = r.members;
  if (!meta.empty()) out += (out.empty() ? "" : ",") + (R"("_meta":{)" + meta) + "}";
  return out;
}

std::string bridge_caller::ask(std::string_view method, const std::string& members, const std::string& meta) {
  const std::string id = std::to_string(next_id_++);
  ask_as(id, method, members, meta);
  return id;
}

void bridge_caller::ask_as(const std::string& id, std::string_view method, const std::string& members,
                           const std::string& meta) {
  if (left_) return;
  const request& r = requests_[id] = {std::string(method), members, meta};
  const std::string params = params_of(r);
  say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + std::string(method) + '"' +
          (params.empty() ? "" : R"(,"params":{)" + params + "}") + "}",
      id);
}

void bridge_caller::notify(std::string_view method, const std::string& params) {
  say(R"({"jsonrpc":"2.0","method":")" + std::string(method) + '"' + (params.empty() ? "" : R"(,"params":)" + params) +
      "}");
}

void bridge_caller::cancel(const std::string& id) {
  if (const auto r = requests_.find(id); r != requests_.end()) r->second.cancelled = true;
  notify("notifications/cancelled", R"({"requestId":)" + id + R"(,"reason":"enough"})");
}

void bridge_caller::say(const std::string& line, const std::string& id) {
  if (left_) return;
  bridge_.step({bridge_step::way::caller_in, name, line});
  if (left_) return;
  if (!id.empty()) {
    requests_.at(id).sent = true;
    requests_.at(id).step = bridge_.steps();
  }
  auto m = mcp::rpc::parse_message(json::raw_json::own(line));
  if (!m) FAIL(line);
  session_->on_message(std::move(*m));
}

void bridge_caller::leave() {
  if (std::exchange(left_, true)) return;
  alive_.reset();
  session_->close();
}

std::string bridge_caller::last_id(std::string id) const {
  for (auto r = requests_.find(id); r != requests_.end() && !r->second.retry.empty(); r = requests_.find(id))
    id = r->second.retry;
  return id;
}

std::string bridge_caller::answer(const std::string& id) const {
  const auto r = requests_.find(last_id(id));
  return r == requests_.end() || r->second.answers.empty() ? std::string() : r->second.answers.back();
}

std::string bridge_caller::open_request() const {
  std::string last;
  for (const auto& [id, r] : requests_)
    if (r.sent && r.answers.empty() && !r.cancelled &&
        (last.empty() || id.size() > last.size() || (id.size() == last.size() && id > last)))
      last = id;
  return last;
}

std::vector<std::string> bridge_caller::got(std::string_view method) const {
  std::vector<std::string> out;
  for (const auto& line : received_)
    if (member_at(line, {"method"}) == json::json_quoted(method)) out.push_back(line);
  return out;
}

void bridge_caller::list_changed(const mcp::protocol::feature_kind& kind) {
  if (!left_) session_->list_changed(kind);
}

void bridge_caller::send(const mcp::server::answered&, const json::segments& text) {
  out(text);
}

result<void> bridge_caller::admit_call() const {
  if (bridge_.stopping) return fail(errc::unavailable, "mcpbx is stopping");
  return {};
}

void bridge_caller::when_settled(milliseconds at_most, std::function<void()> then) {
  bridge_.rig.supervisor->when_settled(at_most, [alive = std::weak_ptr(alive_), t = std::move(then)] {
    if (!alive.expired()) t();
  });
}

// Takes a message of the session. A real caller reads it in a later turn.
void bridge_caller::out(const json::segments& text, const std::string& same) {
  if (!same.empty() && !unread_.insert(same).second) return;
  std::string line = text.str();
  if (left_) {
    wrong.push_back("after it left: " + line);
    return;
  }
  const auto answered = requests_.find(member_at(line, {"id"}));
  if (member_at(line, {"method"}).empty() && answered != requests_.end() && answered->second.cancelled)
    wrong.push_back("an answer to a cancelled request: " + line);
  bridge_.step({bridge_step::way::caller_out, name, line});
  if (left_) return;
  received_.push_back(line);
  bridge_.turns->post([this, same, line = std::move(line)] {
    unread_.erase(same);
    take(line);
  });
}

void bridge_caller::take(const std::string& line) {
  const auto m = mcp::rpc::parse_message(json::raw_json::own(line));
  if (!m) return wrong.push_back("no message: " + line);
  if (m->type == mcp::rpc::message::kind::response) return take_answer(*m, line);
  if (m->type == mcp::rpc::message::kind::request) return take_question(*m);
  if (m->method() == "notifications/cancelled")
    withdrawn_.insert(std::string(json::find_member(m->params, "requestId").text()));
}

void bridge_caller::take_answer(const mcp::rpc::message& m, const std::string& line) {
  const std::string id(m.id.token());
  const auto r = requests_.find(id);
  if (r == requests_.end()) return wrong.push_back("an answer to nothing: " + line);
  r->second.answers.push_back(line);
  if (r->second.answers.size() > 1) wrong.push_back("a second answer: " + line);
  if (json::find_member(m.result, "resultType").as_string() == "input_required") go_on(id, m.result);
}

// Answers the questions of a result and sends the request again.
void bridge_caller::go_on(const std::string& id, const json::raw_json& result) {
  if (left_ || !answerer) return;
  const request before = requests_.at(id);
  std::string answers;
  bool open = false;
  if (const auto all = json::raw_object::open(json::find_member(result, "inputRequests")))
    all->for_each([&](std::string_view key, const json::raw_json& one) {
      const std::string given = answerer(json::member_text(one, "method"), json::find_member(one, "params"));
      if (given.empty()) open = true;
      if (!given.empty()) answers += (answers.empty() ? "" : ",") + json::json_quoted(key) + ":" + given;
    });
  if (open && answers.empty()) return;
  // The members of the request itself stay; those of an earlier retry go.
  std::string members = before.members.substr(0, before.members.find(R"(,"inputResponses":)"));
  members = members.substr(0, members.find(R"(,"requestState":)"));
  if (!answers.empty()) members += R"(,"inputResponses":{)" + answers + "}";
  if (const json::raw_json state = json::find_member(result, "requestState"))
    members += R"(,"requestState":)" + std::string(state.text());
  std::string meta = before.meta;
  for (int n = 0; n < retries; ++n) {
    const std::string again = ask(before.method, members, meta);
    if (n == 0) requests_.at(id).retry = again;
  }
}

void bridge_caller::take_question(const mcp::rpc::message& m) {
  const std::string id(m.id.token());
  if (m.method() == "ping") return say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{}})");
  const std::string given = answerer ? answerer(m.method(), m.params) : std::string();
  if (given.empty()) return;
  bridge_.turns->post([this, id, given] {
    if (!withdrawn_.contains(id)) say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + given + "}");
  });
}

}  // namespace mcpbx::test
