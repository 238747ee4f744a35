// The protocol of the toolbox: initialize, ping, tools/list, tools/call, and an error for everything else.
#include "daemon/toolbox/server.hpp"

#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::toolbox {
namespace {

using mcp::message;
using mcp::rpc_error;

// Requests are small; what is larger is a mistake, and need not be held.
constexpr std::size_t max_message_bytes = 4u << 20;
constexpr int max_json_depth = 64;
constexpr std::size_t max_batch = 64;

constexpr std::string_view latest_revision = "2025-11-25";
constexpr std::string_view revisions[] = {"2024-11-05", "2025-03-26", "2025-06-18", latest_revision};
// The only revision in which messages may come as a JSON array.
constexpr std::string_view batch_revision = "2025-03-26";

std::string refusal(const mcp::rpc_id& id, int code, std::string message) {
  return mcp::make_error(id, rpc_error{code, std::move(message), {}}).str();
}

std::string success(const mcp::rpc_id& id, std::string_view result) {
  return mcp::make_result(id, raw_json::own(result)).str();
}

/// A result of tools/call.
std::string call_result(const answer& a, bool is_error) {
  std::string out = R"({"content":[)";
  for (const auto& text : a.texts)
    out.append(&text == &a.texts.front() ? "" : ",").append(R"({"type":"text","text":)").append(json_quoted(text)) +=
        '}';
  out += ']';
  if (!a.structured.empty()) out += ",\"structuredContent\":" + a.structured;
  return out + (is_error ? ",\"isError\":true}" : "}");
}

std::vector<std::string> member_names(std::string_view object) {
  std::vector<std::string> names;
  if (const auto opened = raw_object::open(raw_json::literal(object)))
    opened->for_each([&names](std::string_view key, const raw_json&) { names.emplace_back(key); });
  return names;
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

void server::write(std::string_view line) {
  if (!line.empty()) out_.append(line) += '\n';
}

void server::on_message(message&& m) {
  write(m.type == message::kind::batch ? answer_to_batch(m) : answer_to(m));
}

void server::on_fault(mcp::message_fault f) {
  // A broken response belongs to no request of ours: we send none.
  if (f.envelope.is_response) return;
  using kind = mcp::message_fault::kind;
  const int code = f.type == kind::noise || f.type == kind::oversized || f.type == kind::too_deep
                       ? (f.type == kind::noise ? mcp::code::parse_error : mcp::code::invalid_request)
                       : f.envelope.code;
  auto what = f.envelope.what.empty() ? std::string("the line is no message") : f.envelope.what;
  write(refusal(f.envelope.id, code,
                (code == mcp::code::parse_error ? "Parse error: " : "Invalid request: ") + what + "."));
}

std::string server::answer_to_batch(const message& m) {
  if (revision_ != batch_revision)
    return refusal({}, mcp::code::invalid_request,
                   "Invalid request: this revision has no batches; send one message per line.");
  std::string answers;
  const auto add = [&answers](std::string_view one) {
    if (!one.empty()) answers.append(answers.empty() ? "[" : ",").append(one);
  };
  std::size_t count = 0;
  for_each_element(m.whole, [&](const raw_json& element) {
    if (++count > max_batch) {
      add(refusal({}, mcp::code::invalid_request, "Invalid request: a batch may hold at most 64 messages."));
      return false;
    }
    const auto one = mcp::parse_message(element, max_json_depth);
    if (one && one->type != message::kind::batch)
      add(answer_to(*one));
    else if (one)
      add(refusal({}, mcp::code::invalid_request, "Invalid request: a batch within a batch."));
    else if (!one.error().is_response)
      add(refusal(one.error().id, one.error().code, "Invalid request: " + one.error().what + "."));
    return true;
  });
  if (count == 0) return refusal({}, mcp::code::invalid_request, "Invalid request: the batch is empty.");
  return answers.empty() ? answers : answers + "]";
}

std::string server::answer_to(const message& m) {
  // Notifications need no answer, notifications/cancelled included: a call is over before the next line is read.
  if (m.type != message::kind::request) return {};
  const auto method = m.method();
  if (method == "initialize") return initialize(m);
  if (method == "ping") return success(m.id, "{}");
  const bool known = method == "tools/list" || method == "tools/call";
  if (!known)
    return refusal(m.id, mcp::code::method_not_found, "Method not found: " + printable(cut_utf8(method, 100)) + ".");
  if (revision_.empty())
    return refusal(m.id, mcp::code::invalid_request, "The session is not open yet: send initialize first.");
  return method == "tools/list" ? list_tools(m) : call_tool(m);
}

std::string server::initialize(const message& m) {
  const auto asked = find_member(m.params, "protocolVersion").as_string();
  if (!asked) return refusal(m.id, mcp::code::invalid_params, "initialize needs the text protocolVersion.");
  const auto known = std::ranges::find(revisions, std::string_view(*asked));
  revision_ = known == std::end(revisions) ? latest_revision : *known;
  std::string instructions = "Small tools that need no network: clock, time zones, arithmetic";
  instructions += files_.empty() ? "." : ", and reading files in " + files_.names() + ".";
  return success(
      m.id,
      "{\"protocolVersion\":" + json_quoted(revision_) +
          R"(,"capabilities":{"tools":{}},"serverInfo":{"name":"mcpbx-toolbox","title":"mcpbx toolbox","version":)" +
          json_quoted(options_.version) + "},\"instructions\":" + json_quoted(instructions) + "}");
}

std::string server::list_tools(const message& m) const {
  if (const auto cursor = find_member(m.params, "cursor"); cursor && !cursor.is_null())
    return refusal(m.id, mcp::code::invalid_params, "There is no such cursor: the list of tools has one page.");
  std::string list;
  for (const auto* t : tools_) list += (list.empty() ? "" : ",") + definition(*t, files_);
  return success(m.id, "{\"tools\":[" + list + "]}");
}

std::string server::call_tool(const message& m) const {
  if (!m.params) return refusal(m.id, mcp::code::invalid_params, "tools/call needs params.");
  const auto params = raw_object::open(m.params, {"name", "arguments", "_meta"});
  if (!params) return refusal(m.id, mcp::code::invalid_params, params.error().message);
  const auto name = params->find("name").as_string();
  if (!name) return refusal(m.id, mcp::code::invalid_params, "tools/call needs the text params.name.");
  const auto found = std::ranges::find(tools_, std::string_view(*name), &tool::name);
  if (found == tools_.end()) {
    std::vector<std::string_view> names;
    for (const auto* t : tools_) names.push_back(t->name);
    return refusal(m.id, mcp::code::invalid_params,
                   "There is no tool \"" + printable(cut_utf8(*name, 100)) + "\"" + did_you_mean(*name, names) + ".");
  }
  const auto given = params->find("arguments");
  if (given && !given.is_object() && !given.is_null())
    return refusal(m.id, mcp::code::invalid_params, "params.arguments must be an object.");
  const auto& t = **found;
  const auto names = member_names(t.properties);
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto checked = arguments::open(given.is_object() ? given : raw_json(), known);
  const auto outcome =
      checked ? t.run(context{files_, options_.wall_ms}, *checked) : result<answer>(std::unexpected(checked.error()));
  // Errors of a tool are results, so that the model reads them and can do better.
  if (!outcome) return success(m.id, call_result({{outcome.error().message}, {}}, true));
  return success(m.id, call_result(*outcome, false));
}

}  // namespace mcpbx::toolbox
