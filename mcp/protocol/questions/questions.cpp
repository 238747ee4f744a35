// Edits the params of questions, and declines questions.
#include "mcp/protocol/questions/questions.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/revisions.hpp"

#include <utility>

namespace mcpbx::mcp::questions {

bool is_question(std::string_view method) {
  return method == "elicitation/create" || method == "sampling/createMessage" || method == "roots/list";
}

result<json::raw_json> question_params(const json::raw_json& params, std::string_view server, bool modern_caller,
                                       const std::string& elicitation_id, std::string_view progress_token) {
  auto o = json::raw_object::open(params ? params : json::raw_json::literal("{}"), {"_meta"});
  if (!o) return std::unexpected(o.error());
  const json::raw_json meta = o->find("_meta");
  auto members = json::raw_object::open(meta.is_object() ? meta : json::raw_json::literal("{}"));
  if (!members) return std::unexpected(members.error());
  if (progress_token.empty())
    members->erase(protocol::meta_key::progress_token);
  else
    members->set(protocol::meta_key::progress_token, json::raw_json::string(progress_token));
  members->set(protocol::meta_key::asking_server, json::raw_json::string(server));
  o->set("_meta", members->json());
  if (modern_caller) {
    o->erase("elicitationId");
    o->erase("task");
  } else if (o->find("mode").as_string() == "url" && !o->contains("elicitationId")) {
    o->set("elicitationId", json::raw_json::string(elicitation_id));
  }
  return o->json();
}

json::raw_json declined_answer(std::string_view method, bool& error) {
  error = method != "elicitation/create";
  if (!error) return json::raw_json::literal(R"({"action":"decline"})");
  std::string json;
  json::json_writer(json)
      .begin_object()
      .member("code", -32601)
      .member("message", method == "roots/list"
                             ? std::string("the caller of this call has no roots, and none are configured")
                             : "the caller of this call cannot answer " + std::string(method))
      .end_object();
  return json::raw_json::own(json);
}

}  // namespace mcpbx::mcp::questions
