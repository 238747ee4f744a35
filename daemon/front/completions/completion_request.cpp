// Reading of a Chat Completions request, member by member.
#include "daemon/front/completions/completion_request.hpp"

#include "daemon/front/chat/request_bounds.hpp"
#include "daemon/front/completions/completion_messages.hpp"
#include "daemon/loop/json/message_json.hpp"
#include "daemon/loop/tools/caller_tools.hpp"
#include "mcp/server/param_reader.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace mcpbx::daemon {
namespace {

using providers::role;
using providers::tool_mode;

// Appends the settings to the text that is hashed: a run keeps its settings, so other settings mean another
// conversation.
void append_settings(std::string& all, const providers::call_settings& s) {
  all += s.temperature + ',' + s.top_p + ',' + std::to_string(s.max_output_tokens) + ',';
  if (s.parallel_tool_calls) all += *s.parallel_tool_calls ? "parallel" : "serial";
  all += json_quoted(s.reasoning_effort) + '[';
  for (const auto& text : s.stop) all += json_quoted(text);
  all += ']';
}

constexpr std::size_t most_listed = 10'000;  // names and texts of one list

class request_reader {
 public:
  request_reader(const raw_json& body, const chat_defaults& defaults) : body_(body), defaults_(defaults) {}

  std::expected<completion_request, completion_fault> read() {
    if (!body_.is_object()) return std::unexpected(wrong_member("body", "a JSON object", body_));
    read_model();
    read_messages();
    read_stream();
    read_tools();
    read_tool_choice();
    read_settings();
    read_format();
    if (fault_) return std::unexpected(std::move(*fault_));
    auto& limits = out_.run.limits;
    // No person can be asked over HTTP, so calls that need an approval are refused at once instead of at the time-out.
    if (limits.approve == approval_mode::ask) limits.approve = approval_mode::none;
    limits.status = status_mode::off;
    out_.run.stream = out_.stream;
    find_results();
    return std::move(out_);
  }

 private:
  raw_json given(std::string_view key) const { return given_member(body_, key); }
  void wrong(std::string param, std::string_view form, const raw_json& got) {
    if (!fault_) fault_ = wrong_member(std::move(param), form, got);
  }
  void fault(std::string param, const std::string& what, int status = 400, std::string code = "") {
    if (fault_) return;
    std::string message = param + ": " + what;
    fault_ = completion_fault{status, std::move(message), std::move(param), std::move(code)};
  }

  // Returns the member's value if it is present and valid.
  std::optional<bool> boolean(std::string_view key) {
    const auto value = given(key);
    if (!value) return std::nullopt;
    if (value.type() == raw_json::kind::boolean) return value.is_true();
    wrong(std::string(key), "true or false", value);
    return std::nullopt;
  }
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least) {
    const auto value = given(key);
    if (!value) return std::nullopt;
    const auto number = value.as_integer();
    if (number && *number >= least) return number;
    wrong(std::string(key), "an integer of at least " + std::to_string(least), value);
    return std::nullopt;
  }
  // Returns a number from 0 to `most` as it is written. Endpoints refuse others, and then the fault looks like theirs.
  std::string number(std::string_view key, int most) {
    const auto value = given(key);
    if (!value) return {};
    const bool number = value.type() == raw_json::kind::number;
    const auto text = value.text();
    double n = -1;
    if (number && std::from_chars(text.data(), text.data() + text.size(), n).ec == std::errc() && n >= 0 && n <= most)
      return std::string(text);
    wrong(std::string(key), number ? "a number from 0 to " + std::to_string(most) : "a number", value);
    return {};
  }

  void read_model() {
    const auto given_model = given("model");
    if (given_model && (!given_model.is_string() || given_model.text() == "\"\""))
      return wrong("model", "the name of a model", given_model);
    out_.model = given_model.as_string().value_or("");
    const auto profile = profile_named_as_model(out_.model);
    const auto model = profile ? std::string_view() : std::string_view(out_.model);
    if (!model.empty())
      if (const auto known = defaults_.model(model); !known)
        return fault("model", known.error().message, 404, "model_not_found");
    auto base = defaults_.base(model, profile.value_or(""));
    if (!base) return fault("model", base.error().message, 404, "model_not_found");
    if (const auto begun = begin_with(out_.run, std::move(*base)); !begun)
      return fault("model", begun.error().message, 500, "configuration_error");
  }

  void read_messages() {
    if (fault_) return;
    const auto list = given("messages");
    if (!list.is_array() || list.text() == "[]") return wrong("messages", "an array of at least one message", list);
    auto messages = read_completion_messages(list);
    if (!messages)
      fault_ = std::move(messages.error());
    else if (messages->empty())
      wrong("messages", "an array of at least one message", list);
    else
      out_.run.messages = std::move(*messages);
  }

  void read_stream() {
    out_.stream = boolean("stream").value_or(false);
    if (const auto options = given("stream_options"); options.is_object())
      out_.include_usage = find_member(options, "include_usage").is_true();
    if (const auto n = integer("n", 1); n && *n > 1) fault("n", "expected 1, because a run of tools has one answer");
  }

  // Reads a tool definition in the form of MCP.
  void read_tool(const raw_json& tool, const std::string& place) {
    const auto type = member_text(tool, "type");
    const auto function = find_member(tool, "function");
    if (type != "function") return wrong(place + ".type", "\"function\"", find_member(tool, "type"));
    if (!function.is_object()) return wrong(place + ".function", "an object", function);
    const auto name = member_text(function, "name");
    std::string definition;
    json_writer w(definition);
    w.begin_object().member("name", name);
    if (auto description = given_member(function, "description").as_string()) w.member("description", *description);
    auto schema = given_member(function, "parameters");
    if (!schema) schema = raw_json::literal(R"({"type":"object","properties":{}})");
    if (auto object = raw_object::open(schema); object && !object->contains("type")) {
      object->set("type", raw_json::literal("\"object\""));
      schema = object->json();
    }
    const auto strict = given_member(function, "strict");
    if (strict && strict.type() != raw_json::kind::boolean)
      return wrong(place + ".function.strict", "true or false", strict);
    auto checked = w.member("inputSchema", schema).set("strict", strict.is_true()).end_object().json();
    if (const auto good = check_caller_tool(checked); !good) return fault(place + ".function", good.error().message);
    if (!names_.insert(name).second)
      return fault(place + ".function.name", "the name " + json_quoted(name) + " is there twice");
    out_.run.client_tools.push_back(std::move(checked));
  }

  void read_tools() {
    if (given("functions")) return fault("functions", "this is the older form; send tools");
    const auto list = given("tools");
    if (!list) return;
    if (!list.is_array()) return wrong("tools", "an array", list);
    std::size_t index = 0;
    for_each_element(list, [&](const raw_json& tool) {
      if (index == most_client_tools) {
        fault("tools", "expected at most " + std::to_string(most_client_tools) + " tools, got more");
        return false;
      }
      read_tool(tool, "tools[" + std::to_string(index++) + "]");
      return !fault_;
    });
  }

  // Reads tool_choice. A demand for a call binds the first round only; otherwise the model could never answer.
  void read_tool_choice() {
    const auto choice = given("tool_choice");
    if (!choice || fault_) return;
    auto word = choice.as_string().value_or("");
    const auto type = member_text(choice, "type");
    if (type == "function") {
      out_.run.first_round_tool = member_text(find_member(choice, "function"), "name");
      if (out_.run.first_round_tool.empty())
        return wrong("tool_choice.function.name", "the name of a function", find_member(choice, "function"));
      out_.named_tools = {out_.run.first_round_tool};
      word = "required";
    } else if (type == "allowed_tools") {
      const auto allowed = find_member(choice, "allowed_tools");
      keep_only(find_member(allowed, "tools"));
      word = member_text(allowed, "mode");
    }
    if (word == "none")
      out_.run.limits.max_rounds = 0;
    else if (word == "required")
      out_.run.first_round = tool_mode::required;
    else if (word != "auto")
      wrong("tool_choice", R"("none", "auto", "required" or an object that names a function)", choice);
  }

  // Restricts the tools of both the caller and the daemon to this list.
  void keep_only(const raw_json& list) {
    std::vector<std::string> allowed;
    for_each_element(list, [&](const raw_json& tool) {
      allowed.push_back(member_text(find_member(tool, "function"), "name"));
      return allowed.size() <= most_listed;
    });
    if (allowed.size() > most_listed)
      return fault("tool_choice.allowed_tools.tools",
                   "expected at most " + std::to_string(most_listed) + " functions, got more");
    if (allowed.empty()) return wrong("tool_choice.allowed_tools.tools", "an array of functions by name", list);
    const std::unordered_set<std::string> kept(allowed.begin(), allowed.end());
    std::erase_if(out_.run.client_tools,
                  [&](const raw_json& definition) { return !kept.contains(member_text(definition, "name")); });
    out_.named_tools = allowed;
    out_.run.tools.only = std::move(allowed);
  }

  void read_settings() {
    auto& s = out_.run.settings;
    s.temperature = number("temperature", 2);
    s.top_p = number("top_p", 1);
    read_effort();
    s.parallel_tool_calls = boolean("parallel_tool_calls");
    const auto newer = integer("max_completion_tokens", 1), older = integer("max_tokens", 1);
    s.max_output_tokens = newer ? *newer : older.value_or(0);
    const auto stop = given("stop");
    if (auto one = stop.as_string()) {
      s.stop.push_back(std::move(*one));
    } else if (stop.is_array()) {
      std::size_t given = 0;
      for_each_element(stop, [&](const raw_json& text) {
        if (++given > most_listed) {
          fault("stop", "expected at most 4 texts, got more than " + std::to_string(most_listed));
          return false;
        }
        auto one_of = text.as_string();
        if (!one_of)
          wrong("stop[" + std::to_string(s.stop.size()) + "]", "a string", text);
        else
          s.stop.push_back(std::move(*one_of));
        return !fault_;
      });
    } else if (stop) {
      wrong("stop", "a string or an array of strings", stop);
    }
    std::erase(s.stop, "");
    if (s.stop.size() > 4) fault("stop", "expected at most 4 texts, got " + std::to_string(s.stop.size()));
  }

  void read_effort() {
    static constexpr std::array<std::string_view, 7> words{"none", "minimal", "low", "medium", "high", "xhigh", "max"};
    if (!given("reasoning_effort")) return;
    mcp::param_reader in(body_, "");
    if (const auto word = in.word("reasoning_effort", words)) out_.run.settings.reasoning_effort = words[*word];
    take_fault(in);
  }

  void read_format() {
    if (!given("response_format")) return;
    mcp::param_reader in(body_, "");
    read_response_format(in, "response_format", out_.run);
    take_fault(in);
  }

  void take_fault(mcp::param_reader& in) {
    if (!in.failed()) return;
    // The reader puts a dot between its own place, which is empty here, and the member's.
    const auto message = in.finish().error().message.substr(1);
    const auto end = message.find(": ");
    fault(message.substr(0, end), message.substr(end + 2));
  }

  // Returns a hash that is equal for requests of one conversation: model, form of the answer, tools, settings and
  // messages.
  std::uint64_t conversation_of(std::size_t messages) const {
    std::string all = json_quoted(out_.model);
    all += out_.run.answer_schema.text();
    append_settings(all, out_.run.settings);
    for (const auto& name : out_.run.tools.only) all += json_quoted(name);
    for (const auto& tool : out_.run.client_tools) all += tool.text();
    for (std::size_t i = 0; i < messages; ++i) {
      json_writer one(all);
      append_message(one, *out_.run.messages[i]);
    }
    return std::max<std::uint64_t>(stable_hash(all), 1);
  }

  void find_results() {
    const auto& m = out_.run.messages;
    if (!out_.run.client_tools.empty()) out_.conversation = conversation_of(m.size());
    if (m.size() < 2 || m.back()->role != role::tool_results || m[m.size() - 2]->role != role::assistant) return;
    // A demand for the first round needs a new run: the next round of a waiting run is not its first.
    const bool binds = out_.run.first_round == tool_mode::required || out_.run.limits.max_rounds == 0;
    if (binds) return;
    out_.conversation_before = conversation_of(m.size() - 2);
    for (const auto& b : m.back()->blocks)
      if (const auto* r = std::get_if<providers::tool_result_block>(&b))
        out_.results.push_back({r->call_id, r->result});
  }

  const raw_json& body_;
  const chat_defaults& defaults_;
  completion_request out_;
  std::unordered_set<std::string> names_;  // names of the caller's tools
  std::optional<completion_fault> fault_;
};

}  // namespace

std::expected<completion_request, completion_fault> read_completion(const raw_json& request,
                                                                    const chat_defaults& defaults) {
  return request_reader(request, defaults).read();
}

}  // namespace mcpbx::daemon
