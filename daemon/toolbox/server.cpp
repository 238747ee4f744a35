// The methods of the toolbox, tools/list and tools/call, and what the toolbox says about itself.
#include "daemon/toolbox/server.hpp"

#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::toolbox {
namespace {

using mcp::rpc::rpc_error;

// Requests are small; a larger message is a mistake and is not stored.
constexpr std::size_t max_message_bytes = 4u << 20;
constexpr int max_json_depth = 64;
constexpr mcp::server::refusal_words refusals = {.parse_error = "Parse error: ",
                                                 .invalid_request = "Invalid request: ",
                                                 .end = ".",
                                                 .not_open = "The session is not open yet: send initialize first."};

void refuse_params(const mcp::server::reply_once& reply, std::string message) {
  reply.error(rpc_error{mcp::rpc::code::invalid_params, std::move(message), {}});
}

/// Returns a result of tools/call.
json::raw_json call_result(const answer& a, bool is_error) {
  std::string text;
  json::json_writer out(text);
  out.begin_object().key("content").begin_array();
  for (const auto& t : a.texts) out.begin_object().member("type", "text").member("text", t).end_object();
  out.end_array();
  if (!a.structured.empty()) out.member("structuredContent", json::raw_json::own(a.structured));
  if (is_error) out.member("isError", true);
  return out.end_object().json();
}

}  // namespace

server::server(options o, folders files)
    : served_session(static_cast<mcp::server::reply_outbox&>(*this), {.max_depth = max_json_depth, .words = refusals}),
      options_(std::move(o)),
      files_(std::move(files)),
      framer_({max_message_bytes, max_json_depth, false}) {
  const auto offer = [this](std::span<const tool> tools) {
    for (const auto& t : tools) tools_.push_back(&t);
  };
  offer(time_tools());
  offer(arithmetic_tools());
  if (files_.empty()) return;
  offer(file_tools());
  offer(search_tools());
}

std::string server::feed(std::string_view bytes) {
  framer_.feed(bytes, *this);
  return std::exchange(lines_, {});
}

std::string server::finish() {
  framer_.finish(*this);
  return std::exchange(lines_, {});
}

const server::tables& server::methods() {
  static const tables made = [] {
    tables t;
    add_legacy_opening(t.legacy);
    t.legacy.add("tools/list", [](const server& s, const json::raw_json& params, const mcp::server::reply_once& reply) {
      s.list_tools(params, reply);
    });
    t.legacy.add("tools/call", [](const server& s, const json::raw_json& params, const mcp::server::reply_once& reply) {
      s.call_tool(params, reply);
    });
    return t;
  }();
  return made;
}

void server::send(const mcp::server::answered& /*to*/, const json::segments& text) {
  for (const auto& piece : text.pieces()) lines_ += piece.text();
  lines_ += '\n';
}

void server::on_fault(mcp::rpc::message_fault f) {
  if (f.type == mcp::rpc::message_fault::kind::noise) f.envelope.code = mcp::rpc::code::parse_error;
  served_session::on_fault(std::move(f));
}

void server::dispatch(const mcp::rpc::message& m, mcp::server::reply_once reply) {
  if (call_handler(*this, methods(), m, reply)) return;
  reply.error(rpc_error{
      mcp::rpc::code::method_not_found, "Method not found: " + redact::printable(cut_utf8(m.method(), 100)) + ".", {}});
}

std::expected<std::string, rpc_error> server::read_opening(const json::raw_json& params) {
  if (auto asked = json::find_member(params, "protocolVersion").as_string()) return std::move(*asked);
  return std::unexpected(rpc_error{mcp::rpc::code::invalid_params, "initialize needs the text protocolVersion.", {}});
}

void server::write_capabilities(json::json_writer& out, std::string_view /*revision*/) const {
  out.key("capabilities").begin_object().key("tools").begin_object().end_object().end_object();
}

json::raw_json server::make_server_info() const {
  return json::raw_json::own(
      json::json_object("name", "mcpbx-toolbox", "title", "mcpbx toolbox", "version", options_.version));
}

std::string server::instructions() const {
  return "Small tools that need no network: clock, time zones, arithmetic" +
         (files_.empty() ? "." : ", and reading files in " + files_.names() + ".");
}

void server::list_tools(const json::raw_json& params, const mcp::server::reply_once& reply) const {
  if (const auto cursor = json::find_member(params, "cursor"); cursor && !cursor.is_null())
    return refuse_params(reply, "There is no such cursor: the list of tools has one page.");
  std::string text;
  json::json_writer out(text);
  out.begin_object().key("tools").begin_array();
  for (const auto* t : tools_) out.token(definition(*t, files_));
  reply.result(out.end_array().end_object().json());
}

void server::call_tool(const json::raw_json& params, const mcp::server::reply_once& reply) const {
  if (!params) return refuse_params(reply, "tools/call needs params.");
  const auto members = json::raw_object::open(params, {"name", "arguments", "_meta"});
  if (!members) return refuse_params(reply, members.error().message);
  const auto name = members->find("name").as_string();
  if (!name) return refuse_params(reply, "tools/call needs the text params.name.");
  const auto found = std::ranges::find(tools_, std::string_view(*name), &tool::name);
  if (found == tools_.end()) {
    std::vector<std::string_view> names;
    for (const auto* t : tools_) names.push_back(t->name);
    return refuse_params(reply, "There is no tool \"" + redact::printable(cut_utf8(*name, 100)) + "\"" +
                                    did_you_mean(*name, names) + ".");
  }
  const auto given = members->find("arguments");
  if (given && !given.is_object() && !given.is_null())
    return refuse_params(reply, "params.arguments must be an object.");
  const auto& t = **found;
  const auto names = member_names(t.properties);
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto checked = arguments::open(given.is_object() ? given : json::raw_json(), known);
  const auto outcome =
      checked ? t.run(context{files_, options_.wall_ms}, *checked) : result<answer>(std::unexpected(checked.error()));
  // Returns errors of a tool as results, so that the model can read them and correct itself.
  reply.result(outcome ? call_result(*outcome, false) : call_result({{outcome.error().message}, {}}, true));
}

}  // namespace mcpbx::toolbox
