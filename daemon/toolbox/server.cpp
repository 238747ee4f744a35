// Protocol of the toolbox: initialize, ping, tools/list, tools/call, and an error for everything else.
#include "daemon/toolbox/server.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/server/base/batch.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::toolbox {
namespace {

using mcp::rpc::message;
using mcp::rpc::rpc_error;

// Requests are small; a larger message is a mistake and is not stored.
constexpr std::size_t max_message_bytes = 4u << 20;
constexpr int max_json_depth = 64;
constexpr std::size_t max_batch = 64;

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
    : options_(std::move(o)), files_(std::move(files)), framer_({max_message_bytes, max_json_depth, false}) {
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
  return std::exchange(out_, {});
}

std::string server::finish() {
  framer_.finish(*this);
  return std::exchange(out_, {});
}

const mcp::server::method_table<server>& server::methods() {
  static const mcp::server::method_table<server> table = [] {
    mcp::server::method_table<server> m;
    const auto open_only = [](void (server::*handle)(const json::raw_json&, const mcp::server::reply_once&) const) {
      return [handle](const server& s, const json::raw_json& params, const mcp::server::reply_once& reply) {
        if (!s.revision_.empty()) return (s.*handle)(params, reply);
        reply.error(
            rpc_error{mcp::rpc::code::invalid_request, "The session is not open yet: send initialize first.", {}});
      };
    };
    m.add("initialize", [](server& s, const json::raw_json& params, const mcp::server::reply_once& reply) {
      s.initialize(params, reply);
    });
    m.add("ping", [](server&, const json::raw_json&, const mcp::server::reply_once& reply) {
      reply.result(json::raw_json::literal("{}"));
    });
    m.add("tools/list", open_only(&server::list_tools));
    m.add("tools/call", open_only(&server::call_tool));
    return m;
  }();
  return table;
}

void server::write_line(const json::segments& text) {
  for (const auto& piece : text.pieces()) out_ += piece.text();
  out_ += '\n';
}

void server::write(const json::segments& text, const std::shared_ptr<mcp::server::reply_batch>& batch) {
  if (!batch) return write_line(text);
  batch->add(text);
  if (const json::segments whole = batch->end_one(); !whole.empty()) write_line(whole);
}

void server::refuse(const mcp::rpc::rpc_id& id, int code, std::string message,
                    const std::shared_ptr<mcp::server::reply_batch>& batch) {
  write(mcp::rpc::make_error(id, rpc_error{code, std::move(message), {}}), batch);
}

// Handles a message. Notifications need no action, including notifications/cancelled: a call ends before the next line
// is read.
void server::on_message(message&& m) {
  if (m.type == message::kind::request) return take_request(m, nullptr);
  if (m.type == message::kind::batch) take_batch(m);
}

void server::on_fault(mcp::rpc::message_fault f) {
  // Ignores a broken response, since the toolbox sends no requests.
  if (f.envelope.is_response) return;
  using kind = mcp::rpc::message_fault::kind;
  const int code = f.type == kind::noise || f.type == kind::oversized || f.type == kind::too_deep
                       ? (f.type == kind::noise ? mcp::rpc::code::parse_error : mcp::rpc::code::invalid_request)
                       : f.envelope.code;
  auto what = f.envelope.what.empty() ? std::string("the line is no message") : f.envelope.what;
  refuse(f.envelope.id, code,
         (code == mcp::rpc::code::parse_error ? "Parse error: " : "Invalid request: ") + what + ".");
}

void server::take_request(const message& m, std::shared_ptr<mcp::server::reply_batch> batch) {
  const boost::intrusive_ptr request(new mcp::server::open_request(static_cast<mcp::server::reply_taker*>(this),
                                                                   mcp::rpc::rpc_id(m.id), next_serial_++));
  request->batch = std::move(batch);
  const mcp::server::reply_once reply(request);
  if (const auto* handler = methods().find(m.method())) return (*handler)(*this, m.params, reply);
  reply.error(rpc_error{
      mcp::rpc::code::method_not_found, "Method not found: " + redact::printable(cut_utf8(m.method(), 100)) + ".", {}});
}

void server::take_batch(const message& m) {
  const auto parts = mcp::server::read_batch(m, revision_, max_batch, max_json_depth);
  if (!parts) return refuse({}, mcp::rpc::code::invalid_request, "Invalid request: " + parts.error() + ".");
  const auto batch = std::make_shared<mcp::server::reply_batch>();
  batch->expect();  // counts this function itself, so that the array leaves after every element was read
  for (const auto& part : *parts) {
    if (part ? part->type != message::kind::request : part.error().is_response) continue;
    batch->expect();
    if (part)
      take_request(*part, batch);
    else
      refuse(part.error().id, part.error().code, "Invalid request: " + part.error().what + ".", batch);
  }
  if (const json::segments whole = batch->end_one(); !whole.empty()) write_line(whole);
}

void server::initialize(const json::raw_json& params, const mcp::server::reply_once& reply) {
  const auto asked = json::find_member(params, "protocolVersion").as_string();
  if (!asked) return refuse_params(reply, "initialize needs the text protocolVersion.");
  revision_ = mcp::protocol::revision::is_legacy(*asked) ? *asked : mcp::protocol::revision::latest_legacy;
  std::string instructions = "Small tools that need no network: clock, time zones, arithmetic";
  instructions += files_.empty() ? "." : ", and reading files in " + files_.names() + ".";
  std::string text;
  json::json_writer out(text);
  out.begin_object().member("protocolVersion", revision_);
  out.key("capabilities").begin_object().key("tools").begin_object().end_object().end_object();
  out.key("serverInfo").begin_object().member("name", "mcpbx-toolbox").member("title", "mcpbx toolbox");
  out.member("version", options_.version).end_object();
  reply.result(out.member("instructions", instructions).end_object().json());
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
