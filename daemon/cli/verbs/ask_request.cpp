// Reads files and piped input, and writes the params.
#include "daemon/cli/verbs/ask_request.hpp"

#include "daemon/cli/base/caller_trace.hpp"
#include "daemon/cli/base/follow_run.hpp"
#include "daemon/cli/base/session_choice.hpp"
#include "daemon/cli/input/attachments.hpp"
#include "daemon/cli/input/client_tools.hpp"
#include "daemon/cli/input/input_files.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/trace/trace_meta.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

namespace mcpbx::cli::verbs {
namespace {

// Wait for the first byte of piped input. Programs that are started by others often inherit a pipe that nobody writes
// to.
constexpr std::chrono::seconds input_patience{3};

// Returns the piped input that is part of the question, or "".
result<std::string> piped_input(const context& c, const ask_options& o) {
  // Something else takes standard input, or there is no question that it could belong to.
  if (o.no_input || (o.text.empty() && !o.editor) || o.text == "-" || o.schema == "-" || o.client_tools == "-")
    return {};
  auto input = o.input_follows ? input::read_stdin() : input::read_piped_input(input::most_attached, input_patience);
  if (!input && input.error().code == errc::timed_out) {
    c.screen->err_line(
        "mcpbx: nothing came on standard input within " + std::to_string(input_patience.count()) +
        " s, so the question is asked without it; `-` behind the question waits for it, --no-input does not");
    return {};
  }
  if (!input && input.error().code == errc::limit)
    return fail(errc::invalid_argument, "standard input holds more than " + std::to_string(input::most_attached >> 20) +
                                            " MiB; give less of it, or --no-input to ask without it");
  if (input && input->find_first_not_of(" \t\r\n") == std::string::npos) return {};
  return input;
}

// Returns the default of --approve: "none" if nobody can be asked, else "ask". A detached run asks the clients that
// attach to it.
std::string_view usual_approval(const context& c, const ask_options& o) {
  return o.detach || asks_person(c) ? "ask" : "none";
}

}  // namespace

std::string joined_words(std::span<const std::string> words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> take_prompt_arguments(ask_options& o) {
  static constexpr std::string_view key_characters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  const auto is_argument = [](const std::string& word) {
    const auto equals = word.find('=');
    return equals != std::string::npos && equals > 0 && word.find_first_not_of(key_characters) == equals;
  };
  const auto text = std::ranges::find_if_not(o.words, is_argument);
  std::vector<std::string> arguments(o.words.begin(), text);
  o.words.erase(o.words.begin(), text);
  o.text = joined_words(o.words);
  return arguments;
}

result<ask_parts> read_ask_parts(const context& c, const ask_options& o, const std::string& question) {
  ask_parts p;
  const auto input = piped_input(c, o);
  if (!input) return std::unexpected(input.error());
  if (!o.files.empty() || !input->empty()) {
    auto message = input::message_with_files(question, *input, o.files);
    if (!message) return std::unexpected(message.error());
    p.message = std::move(*message);
  }
  if (!o.schema.empty()) {
    const auto schema = input::json_or_file(o.schema, "--schema");
    if (!schema) return std::unexpected(schema.error());
    if (!schema->is_object())
      return fail(errc::invalid_argument, R"(--schema: expected a JSON Schema, such as {"type":"object"})");
    p.schema = input::one_line(*schema);
  }
  if (!o.client_tools.empty()) {
    const auto definitions = input::read_json(o.client_tools, "--client-tools");
    if (!definitions) return std::unexpected(definitions.error());
    auto line = input::client_tools_of(*definitions);
    if (!line) return std::unexpected(line.error());
    p.client_tools = std::move(*line);
  }
  return p;
}

std::string ask_params(const context& c, const ask_options& o, const std::string& question, const ask_parts& more,
                       std::optional<terminals::input_mode> input) {
  std::string p;
  json::json_writer w(p);
  w.begin_object().member("stream", !o.no_stream).filled("run", o.run).set("detach", o.detach).set("dryRun", o.dry_run);
  w.set("answers", !o.detach && (asks_person(c) || input));
  if (!more.message.empty())
    w.key("messages").begin_array().token(more.message).end_array();
  else
    w.filled("input", question);
  w.filled("session", o.session).filled("model", o.model).filled("profile", o.profile).filled("system", o.system);
  w.filled("status", o.status).member("approve", o.approve.empty() ? usual_approval(c, o) : o.approve);
  if (!more.schema.empty()) {
    w.key("responseFormat").begin_object().member("type", "json_schema");
    w.key("schema").token(more.schema).end_object();
  }
  if (!more.client_tools.empty()) w.key("clientTools").token(more.client_tools);
  if (!o.prompt.empty())
    w.key("prompt").begin_object().member("name", o.prompt).key("arguments").token(more.prompt_arguments).end_object();
  if (!o.resources.empty()) w.list("resources", o.resources);
  if (const auto globs = split_globs(o.globs); !globs.empty()) w.list("tools", globs);
  trace::append_trace_meta(w, caller_trace());
  if (o.max_rounds >= 0) w.key("limits").begin_object().member("maxRounds", o.max_rounds).end_object();
  w.end_object();
  return p;
}

}  // namespace mcpbx::cli::verbs
