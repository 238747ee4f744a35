#include "test/daemon/loop/wire_history.hpp"

#include "conf/words.hpp"
#include "providers/wire/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <set>

namespace mcpbx::daemon::test {
namespace {

namespace json = boost::json;

std::string text_of(const json::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  return v != nullptr && v->is_string() ? std::string(v->get_string()) : std::string();
}

bool is_object_text(const std::string& text) {
  boost::system::error_code error;
  const auto v = json::parse(text, error);
  return !error && v.is_object();
}

// Chat completions: each call's result right behind the message that made it, ids unique, nothing empty.
std::string chat_fault(const json::object& body) {
  std::set<std::string> used;
  std::set<std::string> open;
  bool begun = false;
  for (const auto& v : body.at("messages").as_array()) {
    const auto& m = v.as_object();
    const auto role = text_of(m, "role");
    if (role == "tool") {
      if (open.erase(text_of(m, "tool_call_id")) == 0) return "a result that no call waits for";
      if (!m.at("content").is_string()) return "a result that is no text";
      continue;
    }
    if (!open.empty()) return "a message before the result of " + *open.begin();
    if (role == "system" && begun) return "a system message in the middle";
    begun = begun || role != "system";
    const auto& content = m.at("content");
    const bool empty = content.is_string()  ? content.get_string().empty()
                       : content.is_array() ? content.get_array().empty()
                                            : true;
    const auto* calls = m.if_contains("tool_calls");
    if (empty && calls == nullptr) return "an empty message";
    if (calls == nullptr) continue;
    if (role != "assistant") return "calls of somebody else";
    if (calls->as_array().empty()) return "a list of no calls";
    for (const auto& c : calls->as_array()) {
      const auto id = text_of(c.as_object(), "id");
      if (id.empty() || !used.insert(id).second) return "an id that is empty or used twice";
      open.insert(id);
      const auto& f = c.at("function").as_object();
      if (text_of(f, "name").empty()) return "a call without a name";
      if (!is_object_text(text_of(f, "arguments"))) return "arguments that are no object";
    }
  }
  return open.empty() ? "" : "no result of " + *open.begin();
}

struct judge {
  std::string_view api;
  std::string (*fault_of)(const json::object& body);
};
// A line for each API that has a codec; without one the tests that use this fail.
constexpr judge judges[] = {
    {"openai-chat", &chat_fault},
};

}  // namespace

std::string fault_of_body(std::string_view api, std::string_view body) {
  const auto* found = std::ranges::find(judges, api, &judge::api);
  if (found == std::end(judges)) return "the API " + std::string(api) + " has a codec and no judge here";
  boost::system::error_code error;
  const auto v = json::parse(body, error);
  if (error || !v.is_object()) return "a body that is no JSON object";
  return found->fault_of(v.get_object());
}

std::string wire_fault_of(std::vector<providers::message_ptr> history) {
  history.push_back(providers::user_message("go on"));
  for (const auto api : conf::words_of<conf::model_api>) {
    const auto* codec = providers::find_codec(api);
    if (codec == nullptr) continue;
    providers::wire_options options;
    options.model = "m";
    options.base_url = "https://api.example.com/v1";
    providers::model_request request;
    request.messages = history;
    if (auto fault = fault_of_body(api, codec->encode(request, options).body.str()); !fault.empty())
      return std::string(api) + ": " + fault;
  }
  return {};
}

}  // namespace mcpbx::daemon::test
