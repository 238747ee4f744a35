// Encodes the history of a run for each API and checks what that API demands of it.
#include "test/daemon/loop/core/wire_history.hpp"

#include "conf/model/key_values.hpp"
#include "daemon/loop/json/caller_history.hpp"
#include "daemon/loop/json/event_json.hpp"
#include "daemon/loop/json/message_json.hpp"
#include "providers/wire/registry/registry.hpp"
#include "test/daemon/loop/core/core_script.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <memory>
#include <set>

namespace mcpbx::daemon::test {
namespace {

std::string text_of(const boost::json::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  return v != nullptr && v->is_string() ? std::string(v->get_string()) : std::string();
}

bool is_object_text(const std::string& text) {
  boost::system::error_code error;
  const auto v = boost::json::parse(text, error);
  return !error && v.is_object();
}

// Returns true for a name that the strictest API takes: a name from one API's model is sent to the others, too.
bool is_sound_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !name.empty() && name.size() <= 64 && is_letter(name.front()) && std::ranges::all_of(name, [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

constexpr std::string_view unsound = "a call with a name that is refused";

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// Chat templates of some models refuse such messages.
constexpr std::string_view met = "two messages of the user in a row";

// Checks chat completions: each call's result directly after the message that made it, unique ids, nothing empty.
std::string chat_fault(const boost::json::object& body) {
  std::string last;
  std::set<std::string> used;
  std::set<std::string> open;
  bool begun = false;
  for (const auto& v : body.at("messages").as_array()) {
    const auto& m = v.as_object();
    const auto role = text_of(m, "role");
    if (role == "user" && last == role) return std::string(met);
    last = role;
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
      if (!is_sound_name(text_of(f, "name"))) return std::string(unsound);
      if (!is_object_text(text_of(f, "arguments"))) return "arguments that are no object";
    }
  }
  return open.empty() ? "" : "no result of " + *open.begin();
}

std::string type_of(const boost::json::value& v) {
  return v.is_object() ? text_of(v.get_object(), "type") : std::string();
}

// Checks Anthropic's Messages: results first in the next message, one for each tool_use, no blank text, each input an
// object, and tools defined if there is a call.
std::string anthropic_fault(const boost::json::object& body) {
  std::set<std::string> used, open;
  for (const auto& v : body.at("messages").as_array()) {
    const auto& m = v.as_object();
    const auto role = text_of(m, "role");
    if (role != "user" && role != "assistant") return "the role " + role;
    if (!open.empty() && role != "user") return "a message before the result of " + *open.begin();
    const auto& content = m.at("content");
    if (content.is_string() ? is_blank(content.get_string()) : content.as_array().empty()) return "an empty message";
    bool other = false;
    for (const auto& b : content.is_array() ? content.get_array() : boost::json::array()) {
      const auto& block = b.as_object();
      const auto type = type_of(b);
      if (type == "tool_result") {
        if (other) return "a result behind something else";
        if (open.erase(text_of(block, "tool_use_id")) == 0) return "a result that no call waits for";
        const auto* inside = block.if_contains("content");
        if (inside == nullptr && block.contains("is_error")) return "an error without content";
        for (const auto& part : inside != nullptr ? inside->as_array() : boost::json::array())
          if (type_of(part) == "text" && is_blank(text_of(part.as_object(), "text"))) return "a blank text";
        continue;
      }
      other = true;
      if (type == "text" && is_blank(text_of(block, "text"))) return "a blank text";
      if (type != "tool_use") continue;
      if (role != "assistant") return "calls of somebody else";
      const auto id = text_of(block, "id");
      if (id.empty() || !used.insert(id).second) return "an id that is empty or used twice";
      if (!is_sound_name(text_of(block, "name"))) return std::string(unsound);
      if (!block.at("input").is_object()) return "arguments that are no object";
      open.insert(id);
    }
    if (role == "user" && !open.empty()) return "no result of " + *open.begin();
  }
  if (!open.empty()) return "no result of " + *open.begin();
  return used.empty() || body.contains("tools") ? "" : "calls where no tools are defined";
}

// Checks OpenAI's Responses: an output for each function_call before the next message, and nothing stored at the
// provider.
std::string responses_fault(const boost::json::object& body) {
  if (const auto* store = body.if_contains("store"); store != nullptr && *store != boost::json::value(false))
    return "an answer that is stored";
  std::set<std::string> used, open;
  std::string last;
  for (const auto& v : body.at("input").as_array()) {
    const auto& item = v.as_object();
    const auto type = type_of(v);
    if (last == "reasoning" && type != "function_call" && text_of(item, "role") != "assistant")
      return "reasoning without the item behind it";
    last = type;
    if (type == "function_call") {
      const auto id = text_of(item, "call_id");
      if (id.empty() || id.size() > 64 || !used.insert(id).second) return "an id that is empty, long or used twice";
      if (!is_sound_name(text_of(item, "name"))) return std::string(unsound);
      if (!is_object_text(text_of(item, "arguments"))) return "arguments that are no object";
      open.insert(id);
    } else if (type == "function_call_output") {
      if (open.erase(text_of(item, "call_id")) == 0) return "a result that no call waits for";
    } else if (type == "message") {
      if (!open.empty()) return "a message before the result of " + *open.begin();
      const auto& content = item.at("content");
      if (content.is_string() ? content.get_string().empty() : content.as_array().empty()) return "an empty message";
    }
  }
  return open.empty() ? "" : "no result of " + *open.begin();
}

// Checks Gemini's generateContent: the next content has one functionResponse for each functionCall, with the same names
// in the same order.
std::string gemini_fault(const boost::json::object& body) {
  std::vector<std::string> open;
  for (const auto& v : body.at("contents").as_array()) {
    const auto& c = v.as_object();
    if (c.at("parts").as_array().empty()) return "an empty content";
    std::vector<std::string> calls, answers;
    for (const auto& p : c.at("parts").as_array()) {
      const auto& part = p.as_object();
      if (const auto* text = part.if_contains("text"); text != nullptr && text->as_string().empty())
        return "an empty text";
      if (const auto* f = part.if_contains("functionCall")) calls.push_back(text_of(f->as_object(), "name"));
      if (const auto* f = part.if_contains("functionResponse")) answers.push_back(text_of(f->as_object(), "name"));
    }
    if (!std::ranges::all_of(calls, is_sound_name)) return std::string(unsound);
    if (answers.size() != open.size()) return "another number of results than of calls";
    if (answers != open) return "a result of another name than its call";
    if (!calls.empty() && text_of(c, "role") != "model") return "calls of somebody else";
    open = std::move(calls);
  }
  return open.empty() ? "" : "a call without result";
}

// Checks Ollama's /api/chat: a tool message for each call before any other message.
std::string ollama_fault(const boost::json::object& body) {
  std::size_t open = 0;
  std::string last;
  for (const auto& v : body.at("messages").as_array()) {
    const auto& m = v.as_object();
    const auto role = text_of(m, "role");
    if (role == "user" && last == role) return std::string(met);
    last = role;
    if (role == "tool") {
      if (open == 0) return "a result that no call waits for";
      --open;
      continue;
    }
    if (open != 0) return "a message before the result of a call";
    if (const auto* calls = m.if_contains("tool_calls")) {
      open = calls->as_array().size();
      for (const auto& c : calls->as_array())
        if (!is_sound_name(text_of(c.at("function").as_object(), "name"))) return std::string(unsound);
    }
  }
  return open == 0 ? "" : "a call without result";
}

struct judge {
  std::string_view api;
  std::string (*fault_of)(const boost::json::object& body);
};
// Each API with a codec needs a line here; the tests fail without it.
constexpr judge judges[] = {
    {"openai-chat", &chat_fault},    {"azure", &chat_fault},
    {"dial", &chat_fault},           {"openai-responses", &responses_fault},
    {"anthropic", &anthropic_fault}, {"gemini", &gemini_fault},
    {"ollama", &ollama_fault},
};

}  // namespace

std::string fault_of_body(std::string_view api, std::string_view body) {
  const auto* found = std::ranges::find(judges, api, &judge::api);
  if (found == std::end(judges)) return "the API " + std::string(api) + " has a codec and no judge here";
  boost::system::error_code error;
  const auto v = boost::json::parse(body, error);
  if (error || !v.is_object()) return "a body that is no JSON object";
  return found->fault_of(v.get_object());
}

std::string wire_fault_of(std::vector<providers::message_ptr> history) {
  static const auto tools = [] {
    auto set = std::make_shared<providers::tool_set>();
    set->tools.push_back({"tool", "", {}});
    return set;
  }();
  history.push_back(providers::user_message("go on"));
  for (const auto api : conf::loop::words_of<conf::model::model_api>) {
    const auto* codec = providers::registry::find_codec(api);
    if (codec == nullptr) continue;
    providers::wire::wire_options options;
    options.model = "m";
    options.base_url = "https://api.example.com/v1";
    providers::model_request request;
    request.messages = history;
    request.tools = tools;
    request.tool_mode = providers::tool_mode::none;  // as in the last call of a run
    if (auto fault = fault_of_body(api, codec->encode(request, options).body.str()); !fault.empty())
      return std::string(api) + ": " + fault;
  }
  return {};
}

std::string resent_fault_of(const core::run_core& core) {
  std::vector<providers::message_ptr> said;
  std::string fault;
  const auto said_wrong = [](const event_json::message_fault& f) { return f.place + ": expected " + f.expected; };
  mcpbx::json::for_each_element(mcpbx::json::find_member(event_json::run_result(core.facts()), "messages"),
                                [&](const mcpbx::json::raw_json& element) {
                                  auto m = event_json::read_message(element);
                                  if (m)
                                    said.push_back(std::move(*m));
                                  else
                                    fault = std::string(element.text()) + said_wrong(m.error());
                                  return m.has_value();
                                });
  if (!fault.empty()) return fault;
  auto history = event_json::history_from(said);
  return history ? fault_of(*history) : said_wrong(history.error());
}

}  // namespace mcpbx::daemon::test
