// The methods of tools beside their list: tools/call, which serves the tools of all tool servers.
#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/eras.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/server/caller_session.hpp"
#include "mcp/support/text.hpp"

#include <utility>

namespace mcpbx::mcp {
namespace {

/// Returns the caller's progress token, absent if it wants none, or the error in it.
result<raw_json> progress_token_of(const raw_json& meta) {
  if (meta.empty() || meta.is_null()) return raw_json();
  if (!meta.is_object()) return fail(errc::invalid_argument, "params._meta: expected an object, got " + describe(meta));
  const auto opened = raw_object::open(meta, {meta_key::progress_token});
  if (!opened) return fail(errc::invalid_argument, "params._meta: " + opened.error().message);
  raw_json token = opened->find(meta_key::progress_token);
  if (token.empty() || token.is_string() || rpc_id::from(token)) return token;
  return fail(errc::invalid_argument,
              "params._meta.progressToken: expected a string or an integer, got " + describe(token));
}

/// Returns the error for an unknown tool. Similar names also stand in data.similar, for callers that compose their own
/// text.
rpc_error unknown_tool(const catalog& tools, std::string_view name) {
  rpc_error e = invalid_params("unknown tool " + json_quoted(cut_utf8(name, 128)));
  const auto& near = tools.similar(name);
  std::string json;
  json_writer data(json);
  data.begin_object().key("similar").begin_array();
  for (const auto& one : near) data.value(one);
  data.end_array().end_object();
  e.data = data.json();
  if (near.empty()) {
    e.message +=
        tools.entries().empty() ? "; no tool server offers any tool now" : "; tools/list tells which there are";
    return e;
  }
  e.message += near.size() == 1 ? "; a similar one is " : "; similar ones are ";
  for (std::size_t i = 0; i < near.size(); ++i) e.message.append(i == 0 ? "" : ", ").append(json_quoted(near[i]));
  return e;
}

/// Passes the outcome of a call on to the caller.
void answer(const tool_call_reply& reply, const catalog_entry& tool, const call_outcome& outcome) {
  const auto server = tool.owner.lock();
  const bool modern = server && server->era() == era::modern;
  switch (outcome.type) {
    case call_outcome::kind::result:
      if (modern) return reply.result(strip_modern_result(outcome.value));
      return reply.result(outcome.value);
    case call_outcome::kind::error:
      if (modern) return reply.error(legacy_error(outcome.value));
      return reply.error(outcome.value);
    case call_outcome::kind::failed:
      return reply.failed(to_rpc_error(outcome.failure, tool.server));
  }
}

}  // namespace

void caller_session::add_tool_methods(methods& m) {
  m.add("tools/call", [](caller_session& s, const raw_json& params, const reply_once& reply) {
    s.call_tool(params, {reply, s.host_.recorder()}, false);
  });
}

void caller_session::call_tool(const raw_json& params, const tool_call_reply& reply, bool settled) {
  if (params.empty()) return reply.refused(invalid_params("params: expected an object with name and arguments"));
  const auto members = read_members(params, {"name", "arguments", "_meta"});
  if (!members) return reply.refused(invalid_params("params: " + members.error().message));
  const auto& [name_token, arguments, meta] = *members;
  auto name = name_token.as_string();
  reply.about(name.value_or(""), arguments ? params.slice(arguments.text()) : raw_json());
  if (!name) return reply.refused(invalid_params("params.name: expected a string, got " + describe(name_token)));
  if (!arguments.empty() && !arguments.is_object() && !arguments.is_null())
    return reply.refused(invalid_params("params.arguments: expected an object, got " + describe(arguments)));
  result<raw_json> token;
  if (meta) token = progress_token_of(params.slice(meta.text()));
  if (!token) return reply.refused(invalid_params(token.error().message));
  if (auto admitted = host_.admit_call(); !admitted) return reply.refused(to_rpc_error(admitted.error()));

  const auto tools = host_.tools();
  entry_ptr tool = tools->find(*name);
  if (!tool)
    if (const withheld_tool* withheld = tools->find_withheld(*name))
      return reply.refused(to_rpc_error({errc::config, withheld_text(*name, *withheld)}, withheld->server));
  if (!tool && !settled)  // its server may be ready soon
    return host_.when_settled(options_.settle, [this, params, reply] {
      if (reply.open()) call_tool(params, reply, true);
    });
  if (!tool) return reply.refused(unknown_tool(*tools, *name), call_decision::unknown);
  if (auto admitted = host_.admit_call(*tool); !admitted) return reply.refused(to_rpc_error(admitted.error()));
  const auto server = tool->owner.lock();
  if (!server)
    return reply.refused(to_rpc_error(
        {errc::unavailable, "the tool server " + json_quoted(tool->server) + " is no longer there"}, tool->server));

  server_call call;
  call.params = tool->tool == *name ? params : with_replaced(params, name_token.text(), json_quoted(tool->tool));
  call.has_meta = !meta.empty();
  call.name = std::move(*name);
  call.limits = tool->manner.limits;
  call.caller.client_info = client_info_;
  call.asker = this;
  call.scope = host_.scope();
  if (!token->empty())
    // Tokens of two callers may be equal, so servers see mcpbx's token only; the caller gets its own back.
    call.progress = [this, reply, token = *token](const raw_json& progress) {
      if (!reply.open()) return;
      auto edited = raw_object::open(progress);
      if (!edited) return;
      edited->set(meta_key::progress_token, token);
      host_.send_progress(reply.request().serial(), make_notification("notifications/progress", edited->build()));
    };
  reply.called(tool->server);
  // Init-captures, since plain ones would be const here: they could not be moved, nor the handler kept without
  // allocating.
  call.done = [reply = tool_call_reply(reply), tool = std::move(tool)](const call_outcome& outcome) {
    if (reply.open()) return answer(reply, *tool, outcome);
    reply.abandoned();
  };
  const client::ticket ticket = server->call(std::move(call));
  reply.request().on_cancel([owner = std::weak_ptr(server), ticket] {
    if (const auto s = owner.lock()) s->cancel(ticket, "cancelled by its caller");
  });
}

}  // namespace mcpbx::mcp
