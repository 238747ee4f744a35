// Messages of a scripted server, and its lists and methods. Its tools are in bridge_tools.cpp.
#include "test/mcp/bridging/bridge_server.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::test {

namespace question {
const std::string form =
    R"({"method":"elicitation/create","params":{"message":"Which one?","requestedSchema":{"type":"object","properties":{"one":{"type":"string"}}}}})";
const std::string url =
    R"({"method":"elicitation/create","params":{"mode":"url","message":"Sign in","url":"https://sign.example/in","elicitationId":"e1"}})";
const std::string sampling =
    R"({"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"Say a word"}}],"maxTokens":9}})";
const std::string roots = R"({"method":"roots/list"})";
}  // namespace question

namespace {

std::string braced(const std::string& members) {
  return "{" + members + "}";
}

}  // namespace

void server_life::say(const std::string& line) {
  if (process_.exited) return;
  server_.owner().step({bridge_step::way::server_out, server_.name, line});
  if (server_.mute) return kept_back_.push_back(line);
  if (!std::exchange(server_.cuts_next, false)) return process_.say(line);
  process_.say_bytes(line.substr(0, line.size() / 2));
  process_.die(9);
}

void server_life::answer_raw(const mcp::rpc::rpc_id& id, const std::string& result) {
  if (open.erase(std::string(id.token())) == 0) return;  // cancelled
  say(R"({"jsonrpc":"2.0","id":)" + std::string(id.token()) + R"(,"result":)" + result + "}");
}

void server_life::answer(const mcp::rpc::rpc_id& id, const std::string& members, bool cacheable) {
  std::string all = server_.modern ? R"("resultType":"complete")" : "";
  if (server_.modern && cacheable && !server_.list_hints.empty()) all += "," + server_.list_hints;
  if (!members.empty()) all += (all.empty() ? "" : ",") + members;
  answer_raw(id, braced(all));
}

void server_life::refuse(const mcp::rpc::rpc_id& id, int code, std::string_view text, std::string_view data) {
  if (open.erase(std::string(id.token())) == 0) return;
  say(R"({"jsonrpc":"2.0","id":)" + std::string(id.token()) + R"(,"error":{"code":)" + std::to_string(code) +
      R"(,"message":)" + json::json_quoted(text) + (data.empty() ? "" : R"(,"data":)" + std::string(data)) + "}}");
}

void server_life::notify(std::string_view method, const std::string& params) {
  say(R"({"jsonrpc":"2.0","method":")" + std::string(method) + '"' + (params.empty() ? "" : R"(,"params":)" + params) +
      "}");
}

void server_life::ask(const mcp::rpc::rpc_id& request, const std::string& method, const std::string& params,
                      std::function<void(const mcp::rpc::message&)> then) {
  const std::string id = "\"q" + std::to_string(next_question_++) + "\"";
  asked[id] = 0;
  about[id] = request.token();
  then_[id] = std::move(then);
  say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + '"' +
      (params.empty() ? "" : R"(,"params":)" + params) + "}");
}

void server_life::tell(std::string_view method, const std::string& members) {
  std::string all = members;
  if (server_.modern) {
    if (listens.empty()) return;
    all += (all.empty() ? "" : ",") +
           (R"("_meta":{"io.modelcontextprotocol/subscriptionId":)" + listens.rbegin()->first + "}");
  }
  notify(method, all.empty() ? "" : braced(all));
}

void bridge_server::unmute() {
  mute = false;
  for (const auto& l : lives)
    for (const auto& line : std::exchange(l->kept_back_, {})) l->process_.say(line);
}

bridge_server::bridge_server(bridge& b, std::string n, bool new_era) : name(std::move(n)), modern(new_era), bridge_(b) {
  capabilities =
      R"("tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"completions":{},"logging":{})";
  add_tool("echo");
  prompts = {R"({"name":"greet","arguments":[{"name":"who"}]})"};
  resources = {R"({"uri":"note://a","name":"a"})", R"({"uri":"note://b","name":"b"})"};
  templates = {R"({"uriTemplate":"page://{n}","name":"page"})"};
}

// Questions that are never answered hold the lives that ask them.
bridge_server::~bridge_server() {
  for (const auto& l : lives) l->then_.clear();
}

void bridge_server::add_tool(const std::string& tool, const std::string& more) {
  tools.push_back(tool_definition(tool, more));
}

std::vector<std::string> bridge_server::got(std::string_view method) const {
  std::vector<std::string> out;
  for (const auto& line : received_)
    if (member_at(line, {"method"}) == json::json_quoted(method)) out.push_back(line);
  return out;
}

script bridge_server::life_script() {
  return [this, l = lives.back()](scripted_process&, const mcp::rpc::message& m) { take(*l, m); };
}

void bridge_server::take(server_life& l, const mcp::rpc::message& m) {
  const auto keep = l.shared_from_this();
  received_.emplace_back(m.whole.text());
  bridge_.step({bridge_step::way::server_in, name, std::string(m.whole.text())});
  if (l.process_.exited || !l.process_.reads) return;
  if (m.type == mcp::rpc::message::kind::request) return take_request(l, m);
  if (m.type == mcp::rpc::message::kind::response) {
    const std::string id(m.id.token());
    const auto asked = l.asked.find(id);
    if (modern || asked == l.asked.end() || ++asked->second > 1) return l.stray.emplace_back(m.whole.text()), void();
    if (const auto then = std::exchange(l.then_[id], {})) then(m);
  } else if (m.method() == "notifications/cancelled") {
    const std::string id(json::find_member(m.params, "requestId").text());
    l.open.erase(id);
    l.listens.erase(id);
  }
}

void bridge_server::take_request(server_life& l, const mcp::rpc::message& m) {
  const std::string method(m.method()), id(m.id.token());
  l.open[id] = method;
  if (first && first(l, m)) return;
  if (!modern && method == "initialize")
    return l.answer(m.id, R"("protocolVersion":")" + revision + R"(","capabilities":{)" + capabilities +
                              R"(},"serverInfo":{"name":")" + name + R"(","version":"1"})");
  if (!modern && method == "ping") return l.answer(m.id, "");
  if (modern && method == "server/discover")
    return l.answer(m.id, R"("supportedVersions":["2026-07-28"],"capabilities":{)" + capabilities + "}", true);
  if (modern && method == "subscriptions/listen") {
    const std::string wanted(json::find_member(m.params, "notifications").text());
    l.listens[id] = wanted;
    return l.notify(
        "notifications/subscriptions/acknowledged",
        R"({"_meta":{"io.modelcontextprotocol/subscriptionId":)" + id + R"(},"notifications":)" + wanted + "}");
  }
  if (method == "tools/list") return list(l, m, "tools", tools);
  if (method == "prompts/list") return list(l, m, "prompts", prompts);
  if (method == "resources/list") return list(l, m, "resources", resources);
  if (method == "resources/templates/list") return list(l, m, "resourceTemplates", templates);
  if (!modern && method == "logging/setLevel") return l.answer(m.id, "");
  if (!modern && (method == "resources/subscribe" || method == "resources/unsubscribe")) {
    const std::string uri = json::member_text(m.params, "uri");
    if (method == "resources/subscribe")
      l.subscribed.insert(uri);
    else
      l.subscribed.erase(uri);
    return l.answer(m.id, "");
  }
  if (method.starts_with("tasks/")) return task_method(l, m);
  call(l, m);
}

void bridge_server::list(server_life& l, const mcp::rpc::message& m, std::string_view member,
                         const std::vector<std::string>& items) {
  const auto cursor = json::find_member(m.params, "cursor").as_string();
  const std::size_t from = cursor ? std::stoul(*cursor) : 0;
  const std::size_t to = page == 0 ? items.size() : std::min(items.size(), from + page);
  std::string out;
  for (std::size_t i = from; i < to; ++i) out += (out.empty() ? "" : ",") + items[i];
  out = json::json_quoted(member) + ":[" + out + "]";
  if (to < items.size()) out += R"(,"nextCursor":")" + std::to_string(to) + '"';
  l.answer(m.id, out, true);
}

}  // namespace mcpbx::test
