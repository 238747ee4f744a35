// Cuts pages out of the bytes as the server wrote them. Offsets count these bytes, JSON escapes included; the model
// takes them from notices and need not understand them.
#include "daemon/loop/results/read_result.hpp"

#include "daemon/loop/results/result_text.hpp"
#include "daemon/loop/run_words.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/formatted.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <memory>

namespace mcpbx::daemon::results::read_result {
namespace {

constexpr std::size_t room_for_notice = 200, smallest_page = 64;
constexpr std::size_t told_ids = 10;

json::raw_json unknown(const kept_results& kept, std::string_view call_id) {
  auto text = formatted("There is no longer result kept for the call {}.", json::json_quoted(call_id));
  const auto ids = kept.ids();
  std::string listed;
  for (std::size_t i = ids.size() - std::min(ids.size(), told_ids); i < ids.size(); ++i)
    listed += (listed.empty() ? "" : ", ") + json::json_quoted(ids[i]);
  return loop::words::error_result(text + (listed.empty() ? "" : " Those of these calls can be read: " + listed + "."));
}

std::size_t whole_number(const json::raw_json& arguments, std::string_view member, std::size_t otherwise) {
  const auto value = json::find_member(arguments, member).as_integer();
  return value && *value >= 0 ? static_cast<std::size_t>(*value) : otherwise;
}

}  // namespace

const mcp::catalogs::entry_ptr& entry() {
  static const mcp::catalogs::entry_ptr one = [] {
    auto e = std::make_shared<mcp::catalogs::catalog_entry>();
    e->name = std::string(name);
    e->server = "mcpbx";
    e->tool = "read_result";
    e->description =
        "Reads more of a tool result that was cut because it is large (the notice in such a result says which call and "
        "offset to give), or a resource that a result links to (give its uri alone).";
    const auto schema = json::raw_json::literal(
        R"({"type":"object","properties":{)"
        R"("call":{"type":"string","description":"The id of the call whose result is read."},)"
        R"("offset":{"type":"integer","minimum":0,"description":"Where to start, in bytes of its text; 0 is the beginning."},)"
        R"("length":{"type":"integer","minimum":1,"description":"How many bytes to read at most."},)"
        R"("uri":{"type":"string","description":"The URI of a resource link in a result."}},)"
        R"("additionalProperties":false})");
    const auto annotations =
        json::raw_json::literal(R"({"title":"Read More","readOnlyHint":true,"openWorldHint":false})");
    e->definition = json::raw_json::own(json::json_object("name", e->name, "description", e->description, "inputSchema",
                                                          schema, "annotations", annotations));
    e->exposed = e->definition;
    e->legacy = e->definition;
    e->annotations = {true, false, true, false, "Read More"};
    e->hash = 2;
    return e;
  }();
  return one;
}

std::string hint(std::string_view call_id, std::size_t offset) {
  return formatted("Call {} with {{\"call\":{},\"offset\":{}}} to read on.", name, json::json_quoted(call_id), offset);
}

json::raw_json page(const kept_results& kept, const json::raw_json& arguments, std::int64_t max_bytes) {
  const auto call_id = json::find_member(arguments, "call").as_string().value_or("");
  const auto* whole = kept.find(call_id);
  if (!whole) return unknown(kept, call_id);
  const result_text text(*whole);
  const auto allowed = static_cast<std::size_t>(std::max<std::int64_t>(max_bytes, 0));
  const auto most = std::max(allowed - std::min(allowed, room_for_notice), smallest_page);
  const auto from = text.boundary(std::min(whole_number(arguments, "offset", 0), text.size()));
  if (from >= text.size())
    return loop::words::error_result(
        formatted("The result of the call {} has {} of text; there is nothing at this offset.",
                  json::json_quoted(call_id), counted(text.size(), "byte")));
  const auto length = std::min(whole_number(arguments, "length", most), most);
  // Gives at least one character, even if a shorter page was requested.
  auto to = text.boundary(from + std::min(length, text.size() - from));
  for (auto more = length; to <= from; ++more) to = text.boundary(std::min(from + more + 1, text.size()));
  const auto notice = to < text.size()
                          ? formatted("[Bytes {} to {} of {}. {}]", from, to, text.size(), hint(call_id, to))
                          : formatted("[Bytes {} to {} of {}: this is the end.]", from, to, text.size());
  std::string json;
  json::json_writer w(json);
  w.begin_object().key("content").begin_array().begin_object().member("type", "text").key("text");
  json += '"';
  text.append(json, from, to);
  json += '"';
  w.end_object().token(json::json_object("type", "text", "text", notice)).end_array().end_object();
  return w.json();
}

}  // namespace mcpbx::daemon::results::read_result
