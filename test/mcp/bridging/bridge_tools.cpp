// Answers of the scripted server to single requests: tools, prompts, resources, completions, tasks.
#include "test/mcp/bridging/bridge_server.hpp"

#include <utility>

namespace mcpbx::test {
namespace {

std::string text_members(std::string_view text) {
  return R"("content":[{"type":"text","text":)" + json::json_quoted(text) + "}]";
}

/// A series of questions about one request, at a legacy server.
struct asking : std::enable_shared_from_this<asking> {
  asking(std::shared_ptr<server_life> l, const mcp::rpc::rpc_id& i, std::vector<std::string> q, bool turns)
      : life(std::move(l)), id(i), questions(std::move(q)), in_turn(turns) {}
  std::shared_ptr<server_life> life;
  mcp::rpc::rpc_id id;
  std::vector<std::string> questions;
  bool in_turn;
  std::size_t next = 0, answered = 0;
  std::string heard;

  void go() {
    while (next < questions.size()) {
      const std::string& q = questions[next++];
      life->ask(id, json::member_text(json::raw_json::own(q), "method"), member_at(q, {"params"}),
                [self = shared_from_this()](const mcp::rpc::message& m) { self->take(m); });
      if (in_turn) return;
    }
  }
  void take(const mcp::rpc::message& m) {
    heard += (heard.empty() ? "" : " ") + std::string(m.result ? m.result.text() : m.error.text());
    if (++answered == questions.size()) return life->answer(id, text_members(heard));
    if (in_turn) go();
  }
};

}  // namespace

void bridge_server::ask_for(server_life& l, const mcp::rpc::message& m, const std::vector<std::string>& questions,
                            bool in_turn) {
  if (!modern) return std::make_shared<asking>(l.shared_from_this(), m.id, questions, in_turn)->go();
  const std::string state = json::member_text(m.params, "requestState");
  const std::size_t round = state.empty() ? 0 : std::stoul(state.substr(state.rfind('-') + 1));
  const json::raw_json responses = json::find_member(m.params, "inputResponses");
  if (round != 0 && (!in_turn || round == questions.size()) && responses)
    return l.answer(m.id, text_members(responses.text()));
  std::string requests;
  for (std::size_t i = in_turn ? round : 0; i < (in_turn ? round + 1 : questions.size()); ++i)
    requests += (requests.empty() ? "" : ",") + ("\"k" + std::to_string(i + 1)) + "\":" + questions[i];
  // The id of an elicitation is a thing of 2025-11-25.
  constexpr std::string_view id = R"(,"elicitationId":"e1")";
  if (const auto at = requests.find(id); at != std::string::npos) requests.erase(at, id.size());
  l.answer_raw(m.id, R"({"resultType":"input_required","requestState":"state-)" +
                         std::to_string(in_turn ? round + 1 : 1) + R"(","inputRequests":{)" + requests + "}}");
}

void bridge_server::call(server_life& l, const mcp::rpc::message& m) {
  const std::string name = json::member_text(m.params, "name");
  if (m.method() == "tools/call") return call_tool(l, m, name);
  if (m.method() == "prompts/get") {
    if (name == "ask") return ask_for(l, m, {question::form}, false);
    return l.answer(m.id, R"("messages":[{"role":"user","content":{"type":"text","text":"Hello"}}])");
  }
  if (m.method() == "resources/read") {
    const std::string uri = json::member_text(m.params, "uri");
    if (uri.ends_with("missing"))
      return l.refuse(m.id, modern ? -32602 : -32002, "Resource not found",
                      R"({"uri":)" + json::json_quoted(uri) + "}");
    return l.answer(m.id, R"("contents":[{"uri":)" + json::json_quoted(uri) + R"(,"text":"a note"}])", true);
  }
  if (m.method() == "completion/complete")
    return l.answer(m.id, R"("completion":{"values":["Ann","Anton"],"hasMore":false})");
  l.refuse(m.id, -32601, "Method not found");
}

void bridge_server::call_tool(server_life& l, const mcp::rpc::message& m, const std::string& tool) {
  const json::raw_json arguments = json::find_member(m.params, "arguments");
  const json::raw_json token = json::find_member(json::find_member(m.params, "_meta"), "progressToken");
  const auto later = [&](auto then) {
    bridge_.turns->post([life = l.shared_from_this(), id = m.id, t = std::move(then)] {
      if (life->open.contains(std::string(id.token()))) t(*life, id);
    });
  };
  if (tool == "echo") return l.answer(m.id, text_members(name + " " + json::member_text(arguments, "text")));
  if (tool == "hold") return;
  if (tool == "steps") {
    for (int n = 1; n <= 2; ++n)
      later([n, t = std::string(token.text())](server_life& life, const mcp::rpc::rpc_id&) {
        life.notify("notifications/progress",
                    R"({"progressToken":)" + t + R"(,"progress":)" + std::to_string(n) + R"(,"total":2})");
      });
    return later([](server_life& life, const mcp::rpc::rpc_id& id) { life.answer(id, text_members("done")); });
  }
  if (tool == "log") {
    for (const std::string level : {"debug", "warning"})
      later([level](server_life& life, const mcp::rpc::rpc_id&) {
        life.notify("notifications/message", R"({"level":")" + level + R"(","data":"a )" + level + "\"}");
      });
    return later([](server_life& life, const mcp::rpc::rpc_id& id) { life.answer(id, text_members("logged")); });
  }
  if (tool == "ask") return ask_for(l, m, {question::form}, false);
  if (tool == "ask_two") return ask_for(l, m, {question::form, question::sampling}, false);
  if (tool == "ask_twice") return ask_for(l, m, {question::form, question::form}, true);
  if (tool == "sample") return ask_for(l, m, {question::sampling}, false);
  if (tool == "roots") return ask_for(l, m, {question::roots}, false);
  if (tool == "visit") return ask_for(l, m, {question::url}, false);
  if (tool == "job") {
    const bool wanted =
        modern ? json::find_member(json::find_member(json::find_member(json::find_member(m.params, "_meta"),
                                                                       "io.modelcontextprotocol/clientCapabilities"),
                                                     "extensions"),
                                   "io.modelcontextprotocol/tasks")
                     .is_object()
               : json::find_member(m.params, "task").is_object();
    if (!wanted) return l.answer(m.id, text_members("done at once"));
    l.tasks["t1"] = "working";
    if (modern)
      return l.answer_raw(m.id, R"({"resultType":"task","taskId":"t1","status":"working","pollIntervalMs":20})");
    return l.answer(m.id, R"("task":{"taskId":"t1","status":"working","pollInterval":20})");
  }
  if (tool == "fail") {
    const auto code = json::find_member(arguments, "code").as_integer();
    return l.refuse(m.id, static_cast<int>(code.value_or(-32050)), "it failed",
                    json::find_member(arguments, "data").text());
  }
  l.refuse(m.id, -32602, "unknown tool");
}

void bridge_server::task_method(server_life& l, const mcp::rpc::message& m) {
  const std::string id = json::member_text(m.params, "taskId");
  const auto task = l.tasks.find(id);
  if (task == l.tasks.end()) return l.refuse(m.id, -32602, "unknown task");
  if (m.method() == "tasks/get" && ++l.polls[id] > 1 && task->second == "working") task->second = "completed";
  if (m.method() == "tasks/cancel") task->second = "cancelled";
  const std::string state = R"("taskId":"t1","status":")" + task->second + R"(","pollInterval":20)";
  if (m.method() == "tasks/result")
    return l.answer(
        m.id, text_members("the job is done") + R"(,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}})");
  if (modern && task->second == "completed")
    return l.answer(m.id, state + R"(,"result":{)" + text_members("the job is done") + "}");
  l.answer(m.id, state);
}

}  // namespace mcpbx::test
