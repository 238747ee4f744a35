// Checks of members, and the hash by which a caller's next request finds its run.
#include "daemon/front/dialects/dialect_reader.hpp"

#include "daemon/front/chat/request_bounds.hpp"
#include "daemon/front/dialects/message_builder.hpp"
#include "daemon/loop/json/message_json.hpp"
#include "daemon/loop/tools/caller_tools.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/keyed_hash.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <variant>

namespace mcpbx::daemon::dialects {
namespace {

using providers::role;
using providers::tool_mode;

// Appends the settings to the text that is hashed: a run keeps its settings, so other settings mean another
// conversation.
void append_settings(std::string& all, const providers::call_settings& s) {
  all += s.temperature + ',' + s.top_p + ',' + std::to_string(s.max_output_tokens) + ',';
  if (s.parallel_tool_calls) all += *s.parallel_tool_calls ? "parallel" : "serial";
  all += json::json_quoted(s.reasoning_effort) + '[';
  for (const auto& text : s.stop) all += json::json_quoted(text);
  all += ']';
}

}  // namespace

json::raw_json dialect_reader::given(std::string_view key) const {
  return given_member(body_, key);
}

void dialect_reader::wrong(std::string param, std::string_view form, const json::raw_json& got) {
  if (!fault_) fault_ = wrong_member(std::move(param), form, got);
}

void dialect_reader::fault(std::string param, const std::string& what, int status, std::string code) {
  if (fault_) return;
  std::string message = param + ": " + what;
  fault_ = request_fault{status, std::move(message), std::move(param), std::move(code)};
}

std::optional<bool> dialect_reader::boolean(std::string_view key) {
  const auto value = given(key);
  if (!value) return std::nullopt;
  if (value.type() == json::raw_json::kind::boolean) return value.is_true();
  wrong(std::string(key), "true or false", value);
  return std::nullopt;
}

std::optional<std::int64_t> dialect_reader::integer(std::string_view key, std::int64_t least) {
  const auto value = given(key);
  if (!value) return std::nullopt;
  const auto number = value.as_integer();
  if (number && *number >= least) return number;
  wrong(std::string(key), "an integer of at least " + std::to_string(least), value);
  return std::nullopt;
}

std::string dialect_reader::number(std::string_view key, int most) {
  const auto value = given(key);
  if (!value) return {};
  const bool number = value.type() == json::raw_json::kind::number;
  const auto text = value.text();
  double n = -1;
  if (number && std::from_chars(text.data(), text.data() + text.size(), n).ec == std::errc() && n >= 0 && n <= most)
    return std::string(text);
  wrong(std::string(key), number ? "a number from 0 to " + std::to_string(most) : "a number", value);
  return {};
}

void dialect_reader::read_stop(std::string_view key, std::size_t most, bool text_too) {
  auto& texts = out_.run.settings.stop;
  const std::string name(key);
  const auto stop = given(key);
  if (!stop) return;
  if (auto one = stop.as_string(); one && text_too) {
    texts.push_back(std::move(*one));
  } else if (stop.is_array()) {
    std::size_t count = 0;
    json::for_each_element(stop, [&](const json::raw_json& text) {
      if (++count > most_listed) {
        fault(name,
              "expected at most " + std::to_string(most) + " texts, got more than " + std::to_string(most_listed));
        return false;
      }
      auto one_of = text.as_string();
      if (!one_of)
        wrong(place_at(name, texts.size()), "a string", text);
      else
        texts.push_back(std::move(*one_of));
      return !fault_;
    });
  } else {
    wrong(name, text_too ? "a string or an array of strings" : "an array of strings", stop);
  }
  std::erase(texts, "");
  if (texts.size() > most)
    fault(name, "expected at most " + std::to_string(most) + " texts, got " + std::to_string(texts.size()));
}

void dialect_reader::read_effort(const json::raw_json& object, std::string_view key, std::string_view place) {
  static constexpr std::array<std::string_view, 7> words{"none", "minimal", "low", "medium", "high", "xhigh", "max"};
  const auto value = given_member(object, key);
  if (!value) return;
  const auto found = std::ranges::find(words, value.as_string().value_or(""));
  if (found != words.end())
    out_.run.settings.reasoning_effort = *found;
  else
    wrong(std::string(place).append(key), R"("none", "minimal", "low", "medium", "high", "xhigh" or "max")", value);
}

void dialect_reader::read_format(const json::raw_json& format, std::string_view place) {
  const auto holder = json::raw_json::own("{\"format\":" + std::string(format.text()) + "}");
  mcp::server::param_reader in(holder, "");
  chat::read_response_format(in, "format", out_.run);
  take_fault(in, place);
}

void dialect_reader::take_fault(mcp::server::param_reader& in, std::string_view place) {
  if (!in.failed()) return;
  // The reader puts a dot between its own place, which is empty here, and the member's.
  const auto message = in.finish().error().message.substr(std::string_view(".format").size());
  const auto end = message.find(": ");
  fault(std::string(place) + message.substr(0, end), message.substr(end + 2));
}

void dialect_reader::read_model() {
  const auto given_model = given("model");
  if (given_model && (!given_model.is_string() || given_model.text() == "\"\""))
    return wrong("model", "the name of a model", given_model);
  out_.model = given_model.as_string().value_or("");
  const auto profile = chat::profile_named_as_model(out_.model);
  const auto model = profile ? std::string_view() : std::string_view(out_.model);
  if (!model.empty())
    if (const auto known = defaults_.model(model); !known)
      return fault("model", known.error().message, 404, "model_not_found");
  auto base = defaults_.base(model, profile.value_or(""));
  if (!base) return fault("model", base.error().message, 404, "model_not_found");
  if (const auto begun = chat::begin_with(out_.run, std::move(*base)); !begun)
    return fault("model", begun.error().message, 500, "configuration_error");
}

bool dialect_reader::too_many_tools(std::size_t index) {
  if (index < chat::most_client_tools) return false;
  fault("tools", "expected at most " + std::to_string(chat::most_client_tools) + " tools, got more");
  return true;
}

// Takes a tool definition in the form of MCP.
void dialect_reader::add_tool(const std::string& name, const json::raw_json& description, json::raw_json schema,
                              bool strict, const std::string& place) {
  std::string definition;
  json::json_writer w(definition);
  w.begin_object().member("name", name);
  if (auto text = description.as_string()) w.member("description", *text);
  if (!schema) schema = json::raw_json::literal(R"({"type":"object","properties":{}})");
  if (auto object = json::raw_object::open(schema); object && !object->contains("type")) {
    object->set("type", json::raw_json::literal("\"object\""));
    schema = object->json();
  }
  auto checked = w.member("inputSchema", schema).set("strict", strict).end_object().json();
  if (const auto good = tools::check_caller_tool(checked); !good) return fault(place, good.error().message);
  if (!names_.insert(name).second)
    return fault(place_at(place, "name"), "the name " + shown_name(name) + " is there twice");
  out_.run.client_tools.push_back(std::move(checked));
}

void dialect_reader::keep_only(const json::raw_json& list, const std::string& place, std::string_view inside) {
  std::vector<std::string> names;
  json::for_each_element(list, [&](const json::raw_json& tool) {
    names.push_back(json::member_text(inside.empty() ? tool : json::find_member(tool, inside), "name"));
    return names.size() <= most_listed;
  });
  if (names.size() > most_listed)
    return fault(place, "expected at most " + std::to_string(most_listed) + " functions, got more");
  if (names.empty()) return wrong(place, "an array of functions by name", list);
  const text_set kept(names.begin(), names.end());
  std::erase_if(out_.run.client_tools, [&](const json::raw_json& definition) {
    return !kept.contains(json::member_text(definition, "name"));
  });
  out_.named_tools = names;
  out_.run.tools.only = std::move(names);
}

void dialect_reader::demand_tool(std::string name, std::string_view place, const json::raw_json& got) {
  if (name.empty()) return wrong(std::string(place), "the name of a function", got);
  out_.named_tools = {name};
  out_.run.first_round_tool = std::move(name);
}

void dialect_reader::take_tool_choice(std::string_view word, const json::raw_json& choice) {
  if (word == "none")
    out_.run.limits.max_rounds = 0;
  else if (word == "required")
    out_.run.first_round = tool_mode::required;
  else if (word != "auto")
    wrong("tool_choice", R"("none", "auto", "required" or an object that names a function)", choice);
}

std::expected<dialect_request, request_fault> dialect_reader::finish() {
  if (fault_) return std::unexpected(std::move(*fault_));
  auto& limits = out_.run.limits;
  // No person can be asked over HTTP, so calls that need an approval are refused at once instead of at the time-out.
  if (limits.approve == stored::approval_mode::ask) limits.approve = stored::approval_mode::none;
  limits.status = stored::status_mode::off;
  out_.run.stream = out_.stream;
  find_results();
  return std::move(out_);
}

// Returns a hash that is equal for requests of one conversation: model, form of the answer, tools, settings and
// messages.
std::uint64_t dialect_reader::conversation_of(std::size_t messages) const {
  std::string all = json::json_quoted(out_.model);
  all += out_.run.answer_schema.text();
  append_settings(all, out_.run.settings);
  all += json::json_quoted(out_.run.system);
  for (const auto& name : out_.run.tools.only) all += json::json_quoted(name);
  for (const auto& tool : out_.run.client_tools) all += tool.text();
  for (std::size_t i = 0; i < messages; ++i) {
    json::json_writer one(all);
    event_json::append_message(one, *out_.run.messages[i]);
  }
  return std::max<std::uint64_t>(stable_hash(all), 1);
}

void dialect_reader::find_results() {
  const auto& m = out_.run.messages;
  if (!out_.run.client_tools.empty()) out_.conversation = conversation_of(m.size());
  const auto take_results = [&] {
    for (const auto& b : m.back()->blocks)
      if (const auto* r = std::get_if<providers::tool_result_block>(&b))
        out_.results.push_back({r->call_id, r->result});
  };
  if (!out_.continues.empty()) {
    if (!m.empty() && m.back()->role == role::tool_results) take_results();
    return;
  }
  if (m.size() < 2 || m.back()->role != role::tool_results || m[m.size() - 2]->role != role::assistant) return;
  // A demand for the first round needs a new run: the next round of a waiting run is not its first.
  const bool binds = out_.run.first_round == tool_mode::required || out_.run.limits.max_rounds == 0;
  if (binds) return;
  out_.conversation_before = conversation_of(m.size() - 2);
  take_results();
}

}  // namespace mcpbx::daemon::dialects
