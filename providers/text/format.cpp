// The text formats: prompt, form of a call and form of a result of each.
#include "providers/text/format.hpp"

#include "mcp/json/json_walk.hpp"
#include "providers/text/marks/marks.hpp"
#include "providers/text/marks/minimax_marks.hpp"
#include "providers/text/marks/text_scan.hpp"
#include "providers/text/parsers.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mcpbx::providers::text {
namespace {

// Describes the tools in the order of the set, so that the prompt keeps its bytes in every round.
std::string list_of(const tool_set& tools) {
  std::string out = "# Tools\n\nThese tools are available. Use one when it helps to answer.\n";
  for (const auto& tool : tools.tools) {
    out += "\n## " + tool.name + "\n";
    if (!tool.description.empty()) out += tool.description + "\n";
    out += "Arguments (JSON Schema): ";
    out += tool.schema.empty() ? std::string_view(R"({"type":"object","properties":{}})") : tool.schema.text();
    out += '\n';
  }
  return out;
}

constexpr std::string_view rules =
    "\nMake one call, then stop: write nothing behind it, and never invent a result. The result comes to you in the "
    "next message; then make another call or answer. Use only the tools above, with arguments that fit their schemas. "
    "When no tool is needed, answer in plain text without any of these marks.\n";

// Removes `mark` from `text`, so that the text cannot close the mark around it.
std::string without(std::string_view mark, std::string_view text) {
  std::string out;
  for (;;) {
    const auto at = text.find(mark);
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    (out += mark.front()) += '\\';
    out += mark.substr(1);
    text.remove_prefix(at + mark.size());
  }
}

std::string_view arguments_of(const tool_call_block& call) {
  return call.arguments ? call.arguments.text() : std::string_view("{}");
}

// Calls `f(name, text)` for each argument; strings as their text, other values as JSON.
template <class F>
void for_each_argument(const tool_call_block& call, F&& f) {
  json::walk::members(arguments_of(call), [&](std::string_view key, std::string_view value) {
    f(key, json::walk::is_string(value) ? json::unescaped(value) : std::string(value));
  });
}

std::string json_call(const tool_call_block& call, std::string_view key) {
  std::string out = "{\"name\": ";
  json::append_quoted(out, call.name);
  (((out += ", \"") += key) += "\": ") += arguments_of(call);
  return out + "}";
}

std::string tool_response(std::string_view text) {
  return "<tool_response>\n" + without("</tool_response>", text) + "\n</tool_response>";
}

class react_form final : public tool_format {
  std::string_view name() const override { return "react"; }
  std::string prompt(const tool_set& tools) const override {
    return list_of(tools) +
           "\n# How to use a tool\n\nTo use a tool, answer in exactly this form:\n\n"
           "Thought: what you need to know and why\n"
           "Action: the name of one tool\n"
           "Action Input: its arguments as one JSON object\n\n"
           "Then stop. The result comes to you in the next message as \"Observation: …\". Use one tool per answer, "
           "write "
           "nothing behind the Action Input, and never write an Observation yourself. Use only the tools above, with "
           "arguments that fit their schemas.\n\n"
           "When you know the answer, or need no tool, answer in exactly this form:\n\n"
           "Thought: I know the answer\n"
           "Final Answer: the answer for the user\n";
  }
  std::span<const std::string_view> stop_sequences() const override {
    static constexpr std::array<std::string_view, 1> stops{"\nObservation:"};
    return stops;
  }
  std::unique_ptr<marks::text_parser> make_parser(const marks::offered_tools& tools,
                                                  marks::parser_options options) const override {
    return make_react_parser(tools, options);
  }
  std::string call(const tool_call_block& call) const override {
    return "Action: " + call.name + "\nAction Input: " + std::string(arguments_of(call));
  }
  std::string result(std::string_view, std::string_view text) const override {
    return "Observation: " + std::string(text);
  }
};

class tagged_form : public tool_format {
  std::span<const std::string_view> stop_sequences() const override { return {}; }
  std::unique_ptr<marks::text_parser> make_parser(const marks::offered_tools& tools,
                                                  marks::parser_options options) const override {
    return make_tagged_parser(tools, options);
  }
};

class hermes final : public tagged_form {
  std::string_view name() const override { return "hermes"; }
  std::string prompt(const tool_set& tools) const override {
    return list_of(tools) +
           "\n# How to use a tool\n\nTo call a tool, write one JSON object with its name and its arguments between "
           "these marks:\n\n<tool_call>\n{\"name\": \"the name of the tool\", \"arguments\": {…}}\n</tool_call>\n" +
           std::string(rules);
  }
  std::string call(const tool_call_block& call) const override {
    return "<tool_call>\n" + json_call(call, "arguments") + "\n</tool_call>";
  }
  std::string result(std::string_view, std::string_view text) const override { return tool_response(text); }
};

class qwen3_coder final : public tagged_form {
  std::string_view name() const override { return "qwen3-coder"; }
  std::string prompt(const tool_set& tools) const override {
    return list_of(tools) +
           "\n# How to use a tool\n\nTo call a tool, write its name and each of its arguments in exactly this form; a "
           "value stands as it is, without quotes or escapes, and may have several lines:\n\n"
           "<tool_call>\n<function=the name of the tool>\n<parameter=the name of an argument>\nits "
           "value\n</parameter>\n"
           "</function>\n</tool_call>\n" +
           std::string(rules);
  }
  std::string call(const tool_call_block& call) const override {
    std::string out = "<tool_call>\n<function=" + call.name + ">\n";
    for_each_argument(call, [&](std::string_view key, const std::string& text) {
      out += "<parameter=" + std::string(key) + ">\n" + text + "\n</parameter>\n";
    });
    return out + "</function>\n</tool_call>";
  }
  std::string result(std::string_view, std::string_view text) const override { return tool_response(text); }
};

class llama3 final : public tagged_form {
  std::string_view name() const override { return "llama3"; }
  std::unique_ptr<marks::text_parser> make_parser(const marks::offered_tools& tools,
                                                  marks::parser_options options) const override {
    options.bare_names = true;
    return make_tagged_parser(tools, options);
  }
  std::string prompt(const tool_set& tools) const override {
    return list_of(tools) +
           "\n# How to use a tool\n\nTo call a tool, answer with nothing but one JSON object in exactly this "
           "form:\n\n{\"name\": \"the name of the tool\", \"parameters\": {…}}\n" +
           std::string(rules);
  }
  std::string call(const tool_call_block& call) const override { return json_call(call, "parameters"); }
  std::string result(std::string_view tool, std::string_view text) const override {
    return "Result of " + std::string(tool) + ": {\"output\": " + json::json_quoted(text) + "}";
  }
};

class mistral final : public tagged_form {
  std::string_view name() const override { return "mistral"; }
  std::string prompt(const tool_set& tools) const override {
    return list_of(tools) +
           "\n# How to use a tool\n\nTo call a tool, write a list with one JSON object behind this mark:\n\n"
           "[TOOL_CALLS][{\"name\": \"the name of the tool\", \"arguments\": {…}}]\n" +
           std::string(rules);
  }
  std::unique_ptr<marks::text_parser> make_parser(const marks::offered_tools& tools,
                                                  marks::parser_options options) const override {
    options.bare_names = true;
    return make_tagged_parser(tools, options);
  }
  std::string call(const tool_call_block& call) const override {
    return "[TOOL_CALLS][" + json_call(call, "arguments") + "]";
  }
  std::string result(std::string_view, std::string_view text) const override {
    return "[TOOL_RESULTS]{\"content\": " + json::json_quoted(without("[/TOOL_RESULTS]", text)) + "}[/TOOL_RESULTS]";
  }
};

class xml final : public tagged_form {
  std::string_view name() const override { return "xml"; }
  std::string prompt(const tool_set& tools) const override {
    return list_of(tools) +
           "\n# How to use a tool\n\nTo call a tool, write its name and each of its arguments in exactly this form; in "
           "values write &lt; for < and &amp; for &:\n\n<function_calls>\n<invoke name=\"the name of the tool\">\n"
           "<parameter name=\"the name of an argument\">its value</parameter>\n</invoke>\n</function_calls>\n" +
           std::string(rules);
  }
  std::string call(const tool_call_block& call) const override {
    std::string out = "<function_calls>\n<invoke name=\"" + call.name + "\">\n";
    for_each_argument(call, [&](std::string_view key, const std::string& text) {
      out += "<parameter name=\"" + escaped(key) + "\">" + escaped(text) + "</parameter>\n";
    });
    return out + "</invoke>\n</function_calls>";
  }
  std::string result(std::string_view tool, std::string_view text) const override {
    return "<function_results>\n<result>\n<name>" + std::string(tool) + "</name>\n<output>" +
           without("</function_results>", without("</output>", text)) + "</output>\n</result>\n</function_results>";
  }
  static std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (c == '<')
        out += "&lt;";
      else if (c == '>')
        out += "&gt;";
      else if (c == '&')
        out += "&amp;";
      else if (c == '"')
        out += "&quot;";
      else
        out += c;
    }
    return out;
  }
};

class glm final : public tagged_form {
  std::string_view name() const override { return "glm"; }
  std::string prompt(const tool_set& tools) const override {
    return list_of(tools) +
           "\n# How to use a tool\n\nTo call a tool, write its name and each of its arguments in exactly this form; "
           "text "
           "stands as it is, without quotes or escapes, and everything else as JSON:\n\n"
           "<tool_call>the name of the tool\n<arg_key>the name of an argument</arg_key>\n"
           "<arg_value>its value</arg_value>\n</tool_call>\n" +
           std::string(rules);
  }
  std::string call(const tool_call_block& call) const override {
    std::string out = "<tool_call>" + call.name + "\n";
    for_each_argument(call, [&](std::string_view key, const std::string& text) {
      out += "<arg_key>" + std::string(key) + "</arg_key>\n<arg_value>" + text + "</arg_value>\n";
    });
    return out + "</tool_call>";
  }
  std::string result(std::string_view, std::string_view text) const override { return tool_response(text); }
};

class harmony final : public tagged_form {
  std::string_view name() const override { return "harmony"; }
  std::string prompt(const tool_set& tools) const override {
    return list_of(tools) +
           "\n# How to use a tool\n\nTo call a tool, send it a message in exactly this form, with its arguments as one "
           "JSON "
           "object:\n\n<|channel|>commentary to=functions.the name of the tool "
           "<|constrain|>json<|message|>{…}<|call|>\n" +
           std::string(rules);
  }
  std::string call(const tool_call_block& call) const override {
    return "<|channel|>commentary to=functions." + call.name + " <|constrain|>json<|message|>" +
           std::string(arguments_of(call)) + "<|call|>";
  }
  std::string result(std::string_view tool, std::string_view text) const override {
    return "<|start|>functions." + std::string(tool) + " to=assistant<|channel|>commentary<|message|>" +
           without("<|", text) + "<|end|>";
  }
};

class deepseek final : public tagged_form {
  std::string_view name() const override { return "deepseek"; }
  std::string prompt(const tool_set& tools) const override {
    return list_of(tools) +
           "\n# How to use a tool\n\nTo call a tool, write its name and each of its arguments in exactly this form; "
           "text "
           "stands as it is with string=\"true\", and everything else is JSON with string=\"false\":\n\n"
           "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"the name of the tool\">\n"
           "<｜DSML｜parameter name=\"the name of an argument\" string=\"true\">its value</｜DSML｜parameter>\n"
           "</｜DSML｜invoke>\n</｜DSML｜function_calls>\n" +
           std::string(rules);
  }
  std::string call(const tool_call_block& call) const override {
    std::string out = "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"" + call.name + "\">\n";
    json::walk::members(arguments_of(call), [&](std::string_view key, std::string_view value) {
      const bool string = json::walk::is_string(value);
      out += "<｜DSML｜parameter name=\"" + std::string(key) + "\" string=\"" + (string ? "true" : "false") + "\">" +
             (string ? json::unescaped(value) : std::string(value)) + "</｜DSML｜parameter>\n";
    });
    return out + "</｜DSML｜invoke>\n</｜DSML｜function_calls>";
  }
  std::string result(std::string_view, std::string_view text) const override {
    return "<function_results>\n<result>" + without("</function_results>", without("</result>", text)) +
           "</result>\n</function_results>";
  }
};

class gemma final : public tagged_form {
  std::string_view name() const override { return "gemma"; }
  std::string prompt(const tool_set& tools) const override {
    return list_of(tools) +
           "\n# How to use a tool\n\nTo call a tool, write its name and its arguments in exactly this form; text "
           "stands as it "
           "is between <|\"|> and <|\"|>, numbers, true, false, lists and objects stand without:\n\n"
           "<|tool_call>call:the name of the tool{the name of an argument:<|\"|>its value<|\"|>}<tool_call|>\n" +
           std::string(rules);
  }
  std::string call(const tool_call_block& call) const override {
    return "<|tool_call>call:" + call.name + written(arguments_of(call)) + "<tool_call|>";
  }
  std::string result(std::string_view tool, std::string_view text) const override {
    return "<|tool_response>response:" + std::string(tool) + "{value:" + quoted(without("|>", without("<|", text))) +
           "}<tool_response|>";
  }
  static std::string quoted(std::string_view text) { return "<|\"|>" + std::string(text) + "<|\"|>"; }
  // Writes a value of JSON. Its depth is bounded by that of arguments.
  static std::string written(std::string_view json) {
    if (json::walk::is_string(json)) return quoted(json::unescaped(json));
    std::string out;
    if (json::walk::is_object(json)) {
      json::walk::members(json, [&](std::string_view key, std::string_view value) {
        out += (out.empty() ? "" : ",") + (plain(key) ? std::string(key) : quoted(key)) + ":" + written(value);
      });
      return "{" + out + "}";
    }
    if (!json::walk::is_array(json)) return std::string(json);
    json::walk::elements(json, [&](std::string_view value) { out += (out.empty() ? "" : ",") + written(value); });
    return "[" + out + "]";
  }
  static bool plain(std::string_view key) { return !key.empty() && std::ranges::all_of(key, marks::is_name_char); }
};

class minimax final : public tagged_form {
  std::string_view name() const override { return "minimax"; }
  std::string prompt(const tool_set& tools) const override {
    return list_of(tools) +
           "\n# How to use a tool\n\nTo call a tool, write its name and each of its arguments in exactly this form, "
           "with the "
           "token ]<]minimax[>[ before each mark; text stands as it is, and everything else as JSON:\n\n"
           "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"the name of the tool\">\n"
           "]<]minimax[>[<the name of an argument>its value]<]minimax[>[</the name of an argument>\n"
           "]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>\n" +
           std::string(rules);
  }
  std::string call(const tool_call_block& call) const override {
    const std::string token(marks::minimax_mark);
    std::string out = token + "<tool_call>\n" + token + "<invoke name=\"" + call.name + "\">\n";
    for_each_argument(call, [&](std::string_view key, const std::string& text) {
      const std::string mark(key);
      out += token + "<" + mark + ">" + text + token + "</" + mark + ">\n";
    });
    return out + token + "</invoke>\n" + token + "</tool_call>";
  }
  std::string result(std::string_view, std::string_view text) const override { return tool_response(text); }
};

const react_form react_format;
const hermes hermes_format;
const qwen3_coder qwen3_coder_format;
const llama3 llama3_format;
const mistral mistral_format;
const xml xml_format;
const glm glm_format;
const harmony harmony_format;
const deepseek deepseek_format;
const gemma gemma_format;
const minimax minimax_format;
constexpr std::array<const tool_format*, 11> all_formats{
    &react_format, &hermes_format,  &qwen3_coder_format, &llama3_format, &mistral_format, &xml_format,
    &glm_format,   &harmony_format, &deepseek_format,    &gemma_format,  &minimax_format};

// Returns true for ids of GLM 4.5 and later: "glm-4.6", "GLM-5", "glm-4p7". Earlier versions use other forms.
bool is_glm(std::string_view id) {
  for (auto at = id.find("glm"); at != marks::npos; at = id.find("glm", at + 1)) {
    auto version = id.substr(at + 3);
    if (version.starts_with('-')) version.remove_prefix(1);
    const auto digit = [&](std::size_t i) { return i < version.size() && version[i] >= '0' && version[i] <= '9'; };
    if (!digit(0) || digit(1)) continue;
    const char behind = version.size() > 1 ? version[1] : '-';
    const bool minor = (behind == '.' || behind == 'p') && digit(2);
    if (version[0] == '4' ? minor && version[2] >= '5' : version[0] > '4' && (minor || behind < 'a')) return true;
  }
  return false;
}

struct kept_text final : marks::parse_sink {
  std::string text;
  void on_text(std::string_view delta) override { text += delta; }
  void on_reasoning(std::string_view) override {}
};

}  // namespace

std::string tool_format::sanitize(std::string_view text) const {
  const auto parser = make_parser(marks::offered_tools(), {});
  kept_text kept;
  parser->feed(text, kept);
  parser->finish(kept);
  return std::move(kept.text);
}

const tool_format* find_format(std::string_view name) {
  for (const auto* one : all_formats)
    if (one->name() == name) return one;
  return nullptr;
}

std::span<const tool_format* const> formats() {
  return all_formats;
}

const tool_format& format_of_model(std::string_view id) {
  std::string word;
  for (const char c : id)
    if (c != ' ') word += marks::lower(c);
  const auto has = [&](std::string_view part) { return word.find(part) != std::string::npos; };
  if (has("qwen3-coder") || has("qwen3coder")) return qwen3_coder_format;
  if (is_glm(word)) return glm_format;
  if (has("gpt-oss") || has("gptoss")) return harmony_format;
  if (has("deepseek-v3.2") || has("deepseek-v4")) return deepseek_format;
  if (has("gemma-4") || has("gemma4")) return gemma_format;
  if (has("minimax-m3")) return minimax_format;
  if (has("hermes") || has("qwen") || has("qwq")) return hermes_format;
  if (has("llama-3") || has("llama3") || has("llama-4") || has("llama4")) return llama3_format;
  if (has("mistral") || has("mixtral") || has("ministral") || has("devstral") || has("magistral"))
    return mistral_format;
  return react_format;
}

const tool_format* format_of_calls(unsigned forms) {
  if ((forms & marks::form_tool_call) != 0) return &hermes_format;
  if ((forms & marks::form_glm) != 0) return &glm_format;
  if ((forms & marks::form_harmony) != 0) return &harmony_format;
  if ((forms & marks::form_dsml) != 0) return &deepseek_format;
  if ((forms & marks::form_gemma) != 0) return &gemma_format;
  if ((forms & marks::form_minimax) != 0) return &minimax_format;
  if ((forms & marks::form_function) != 0) return &qwen3_coder_format;
  if ((forms & marks::form_invoke) != 0) return &xml_format;
  if ((forms & marks::form_mistral) != 0) return &mistral_format;
  if ((forms & (marks::form_llama | marks::form_bare)) != 0) return &llama3_format;
  return (forms & marks::form_react) != 0 ? &react_format : nullptr;
}

}  // namespace mcpbx::providers::text
