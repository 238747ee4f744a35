// Reads params of calls, and edits the name in them.
#include "mcp/server/incoming_call.hpp"

#include "mcp/protocol/revisions.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/server/base/param_reader.hpp"
#include "mcp/support/text.hpp"

#include <utility>

namespace mcpbx::mcp::callers {
namespace {

std::unexpected<error> wrong(std::string what) {
  return fail(errc::invalid_argument, std::move(what));
}

result<json::raw_json> checked_token(json::raw_json token) {
  if (!token || token.is_string() || rpc::rpc_id::from(token)) return token;
  return wrong("params._meta.progressToken: expected a string or an integer, got " + server::describe(token));
}

result<json::raw_json> progress_token_of(const json::raw_json& meta) {
  if (meta.empty() || meta.is_null()) return json::raw_json();
  if (!meta.is_object()) return wrong("params._meta: expected an object, got " + server::describe(meta));
  const auto members = json::read_members(meta, {protocol::meta_key::progress_token});
  if (!members) return wrong("params._meta: " + members.error().message);
  if (members->front().empty()) return json::raw_json();
  return checked_token(meta.slice(members->front().text()));
}

/// Reads the ref of a completion (2025-11-25, completion, "Reference Types").
result<void> read_ref(const json::raw_json& ref, incoming_call& to) {
  if (!ref.is_object()) return wrong("params.ref: expected an object with type, got " + server::describe(ref));
  const auto members = json::read_members(ref, {"type", "name", "uri"});
  if (!members) return wrong("params.ref: " + members.error().message);
  const auto& [type_token, name, uri] = *members;
  const auto type = type_token.as_string();
  to.by_prompt = type == "ref/prompt";
  if (!to.by_prompt && type != "ref/resource")
    return wrong("params.ref.type: expected \"ref/prompt\" or \"ref/resource\", got " + server::describe(type_token));
  const json::raw_json& key = to.by_prompt ? name : uri;
  auto text = key.as_string();
  if (!text)
    return wrong(std::string("params.ref.") + (to.by_prompt ? "name" : "uri") + ": expected a string, got " +
                 server::describe(key));
  to.key = key.text();
  to.name = std::move(*text);
  return {};
}

result<void> read_answers(const json::raw_json& params, const json::raw_json& state, const json::raw_json& responses,
                          incoming_call& to) {
  if (state && !state.is_string())
    return wrong("params.requestState: expected a string, got " + server::describe(state));
  if (state) to.state = params.slice(state.text());
  if (!responses || responses.is_null()) return {};
  if (!responses.is_object())
    return wrong("params.inputResponses: expected an object, got " + server::describe(responses));
  const auto each = json::raw_object::open(params.slice(responses.text()));
  if (!each) return wrong("params.inputResponses: " + each.error().message);
  std::string bad;
  each->for_each([&](std::string_view key, const json::raw_json& value) {
    if (bad.empty() && !value.is_object())
      bad = "params.inputResponses[" + json::json_quoted(cut_utf8(key, 64)) + "]: expected an object, got " +
            server::describe(value);
  });
  if (!bad.empty()) return wrong(std::move(bad));
  to.responses = params.slice(responses.text());
  return {};
}

// Returns the params with the server's own name in them.
own_params with_own_name(const json::raw_json& params, const incoming_call& call, const std::string& own) {
  if (own == call.name) return {params, call.meta};
  const std::string name = json::json_quoted(own);
  own_params out{json::with_replaced(params, call.key, name), json::raw_json()};
  if (!call.meta) return out;
  const std::string_view meta = call.meta.text();
  const bool behind = meta.data() > call.key.data();
  const auto at =
      static_cast<std::size_t>(meta.data() - params.text().data()) + (behind ? name.size() - call.key.size() : 0);
  out.meta = out.params.slice(out.params.text().substr(at, meta.size()));
  return out;
}

}  // namespace

result<void> read_call(const call_shape& shape, const json::raw_json& params, const server::modern_request* modern,
                       incoming_call& to) {
  if (params.empty())
    return wrong("params: expected an object with " + std::string(shape.key) +
                 (shape.has_arguments ? " and arguments" : ""));
  const auto members =
      json::read_members(params, {shape.key, "arguments", "_meta", "task", "requestState", "inputResponses"});
  if (!members) return wrong("params: " + members.error().message);
  const auto& [key, arguments, meta, task, state, responses] = *members;
  if (arguments) to.arguments = params.slice(arguments.text());
  if (meta) to.meta = params.slice(meta.text());
  to.has_task = !task.empty();
  if (shape.to == call_shape::target::completion) {
    if (auto read = read_ref(key, to); !read) return read;
  } else {
    auto name = key.as_string();
    if (name) to.name = std::move(*name);
    if (!name) return wrong("params." + std::string(shape.key) + ": expected a string, got " + server::describe(key));
    to.key = key.text();
  }
  if (shape.has_arguments && arguments && !arguments.is_object() && !arguments.is_null())
    return wrong("params.arguments: expected an object, got " + server::describe(arguments));
  if (to.meta) {
    auto token = modern ? checked_token(modern->token) : progress_token_of(to.meta);
    if (!token) return std::unexpected(token.error());
    to.token = std::move(*token);
  }
  return read_answers(params, state, responses, to);
}

result<void> read_extension_call(const json::raw_json& params, incoming_call& to) {
  if (params.empty()) return {};
  const auto members = json::read_members(params, {"_meta"});
  if (!members) return wrong("params: " + members.error().message);
  if (const auto& meta = members->front()) to.meta = params.slice(meta.text());
  auto token = progress_token_of(to.meta);
  if (!token) return std::unexpected(token.error());
  to.token = std::move(*token);
  return {};
}

own_params params_for(const json::raw_json& params, const incoming_call& call, const std::string& own,
                      bool modern_server) {
  own_params out = with_own_name(params, call, own);
  if (modern_server || !call.responses) return out;
  auto o = json::raw_object::open(out.params);
  if (!o) return out;
  o->erase("inputResponses");
  return {o->json(), std::nullopt};
}

}  // namespace mcpbx::mcp::callers
