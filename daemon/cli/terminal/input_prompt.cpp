// Shows a form or an address and reads the answer. All texts of the server are framed or quoted: none can pose as ours,
// and no control character reaches the terminal.
#include "daemon/cli/terminal/input_prompt.hpp"

#include "daemon/cli/link/daemon_connection.hpp"
#include "daemon/cli/terminal/foreign_text.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/questions/elicitation.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <expected>
#include <string>
#include <utility>

namespace mcpbx::cli::terminals {
namespace {

constexpr std::size_t most_shown = 4'000, longest_line = 4'000, most_shown_options = 100;
constexpr std::array<std::string_view, 3> modes{"ask", "accept", "decline"};

// Returns true for a host with letters beyond ASCII, however they are spelled: as they are, as "xn--", or escaped.
bool may_mislead(std::string_view host) {
  std::string lower(host);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower.contains("xn--") || std::ranges::any_of(lower, [](unsigned char c) { return c >= 0x80 || c == '%'; });
}

class prompter {
 public:
  prompter(terminal& screen, std::string_view server, const question_watch& watch)
      : screen_(screen), server_(server), watch_(watch) {}

  std::expected<json::raw_json, unanswered> form(const mcp::questions::input_request& asked) {
    head("asks for input", asked.message);
    screen_.err_line("  the answers go to that server; give it no password and no key");
    const auto wanted =
        yes(asked.fields.empty() ? "agree? [y/N] " : "fill in " + counted(asked.fields.size(), "field") + "? [y/N] ");
    if (!wanted) return std::unexpected(wanted.error());
    if (!*wanted) return mcp::questions::input_answer("decline");
    if (!asked.fields.empty())
      screen_.err_line(screen_.dim("an empty line takes the default, or leaves an optional field out; Ctrl-C cancels"));
    std::string json;
    json::json_writer w(json);
    w.begin_object();
    for (const auto& field : asked.fields) {
      const auto value = ask(field);
      if (!value) return std::unexpected(value.error());
      if (*value) w.member(field.name, *value);
    }
    w.end_object();
    return mcp::questions::input_answer("accept", w.json());
  }

  std::expected<json::raw_json, unanswered> address(const mcp::questions::input_request& asked) {
    head("asks you to open an address", asked.message);
    show("  host:      ", quoted_name(asked.host));
    show("  address:   ", asked.url);
    const bool odd = may_mislead(asked.host);
    if (odd) screen_.err_line("  the host has letters that may look like others; read it twice");
    screen_.err_line("  mcpbx opens nothing; open it in a browser yourself if you know the host");
    const auto wanted = yes("say that you agree to open it? [y/N] ");
    if (!wanted) return std::unexpected(wanted.error());
    return mcp::questions::input_answer(*wanted ? "accept" : "decline");
  }

 private:
  void show(std::string_view before, std::string_view text) {
    auto shown = framed_ends(before, text, screen_.err_width(), most_shown, "the rest is not shown");
    if (shown.ends_with('\n')) shown.pop_back();
    screen_.err_line(shown);
  }

  void head(std::string_view what, std::string_view message) {
    screen_.clear_status();
    drop_typed();
    screen_.err_line(screen_.bold("the tool server " + quoted_name(server_) + " " + std::string(what)));
    show("  it says:   ", message);
    if (redact::has_hidden(message, true))
      screen_.err_line("  it has characters that are not seen; they are shown as \\u{…}");
  }

  std::expected<bool, unanswered> yes(const std::string& question) {
    screen_.prompt(question);
    const auto line = read_line(watch_, longest_line);
    if (!line) return std::unexpected(line.error());
    const auto word = trimmed(*line);
    return word == "y" || word == "Y" || word == "yes" || word == "Yes" || word == "YES";
  }

  // Returns the value; absent: the field is left out.
  std::expected<json::raw_json, unanswered> ask(const mcp::questions::input_field& field) {
    describe(field);
    for (;;) {
      screen_.prompt("> ");
      auto line = read_line(watch_, longest_line);
      if (!line) return std::unexpected(line.error());
      if (line->ends_with('\r')) line->pop_back();
      if (line->empty() && field.usual) return field.usual;
      if (line->empty() && !field.required) return json::raw_json();
      if (line->empty()) {
        screen_.err_line("  a value is needed");
        continue;
      }
      const auto value = mcp::questions::value_of_words(field, *line);
      if (value) return *value;
      show("  not taken: ", value.error().message);
    }
  }

  void describe(const mcp::questions::input_field& field) {
    show("  field:     ", quoted_name(field.title.empty() ? field.name : field.title));
    if (!field.description.empty()) show("  about it:  ", field.description);
    std::string kind = kind_of(field);
    if (!field.required) kind += ", optional";
    screen_.err_line("  takes:     " + kind);
    for (std::size_t i = 0; i < std::min(field.options.size(), most_shown_options); ++i) {
      const auto& one = field.options[i];
      show("    " + std::to_string(i + 1) + " ", quoted_name(one.label.empty() ? one.value : one.label));
    }
    if (field.options.size() > most_shown_options)
      screen_.err_line("    and " + std::to_string(field.options.size() - most_shown_options) + " more");
    if (field.usual) show("  default:   ", field.usual.as_string().value_or(std::string(field.usual.text())));
  }

  static std::string number_of(double number) {
    const auto text = std::to_string(number);
    const auto end = text.find_last_not_of('0');
    return text.substr(0, text[end] == '.' ? end : end + 1);
  }

  static std::string kind_of(const mcp::questions::input_field& f) {
    std::string kind;
    switch (f.kind) {
      case mcp::questions::input_kind::text:
        kind = f.format.empty()      ? "a text"
               : f.format == "email" ? "an address of e-mail"
                                     : "a " + redact::printable(f.format);
        if (f.least) kind += ", at least " + counted(*f.least, "character");
        if (f.most) kind += ", at most " + counted(*f.most, "character");
        return kind;
      case mcp::questions::input_kind::number:
      case mcp::questions::input_kind::integer:
        kind = f.kind == mcp::questions::input_kind::integer ? "a whole number" : "a number";
        if (f.minimum) kind += ", at least " + number_of(*f.minimum);
        if (f.maximum) kind += ", at most " + number_of(*f.maximum);
        return kind;
      case mcp::questions::input_kind::boolean:
        return "yes or no";
      case mcp::questions::input_kind::choice:
        return "one of these, by number or name";
      case mcp::questions::input_kind::choices:
        kind = "some of these, by numbers or names with commas between them";
        if (f.least) kind += ", at least " + std::to_string(*f.least);
        if (f.most) kind += ", at most " + std::to_string(*f.most);
        return kind;
    }
    return kind;
  }

  terminal& screen_;
  std::string server_;
  const question_watch& watch_;
};

json::raw_json by_rule(terminal& screen, std::string_view server, const mcp::questions::input_request& asked,
                       input_mode mode) {
  const auto declined = [&](const std::string& why) {
    screen.err_line("mcpbx: the tool server " + quoted_name(server) + " asked for input, which was declined" + why);
    return mcp::questions::input_answer("decline");
  };
  if (mode == input_mode::decline) return declined("");
  if (asked.is_url) return declined(": it is an address to open, at the host " + quoted_name(asked.host));
  const auto content = mcp::questions::usual_content(asked);
  if (!content) return declined(": " + redact::printable(content.error().message));
  screen.err_line("mcpbx: the tool server " + quoted_name(server) + " asked for input and got the form's defaults");
  return mcp::questions::input_answer("accept", *content);
}

}  // namespace

std::optional<input_mode> input_mode_of(std::string_view word) {
  const auto at = std::ranges::find(modes, word);
  if (at == modes.end()) return std::nullopt;
  return static_cast<input_mode>(at - modes.begin());
}

std::optional<json::raw_json> answer_input(terminal& screen, std::string_view server, const json::raw_json& question,
                                           input_mode mode, const question_watch& watch) {
  const auto asked = mcp::questions::read_input_request(question);
  if (!asked) {
    screen.err_line("mcpbx: the tool server " + quoted_name(server) +
                    " asked a question that cannot be shown: " + redact::printable(asked.error().message));
    return mcp::questions::input_answer("decline");
  }
  if (mode != input_mode::ask) return by_rule(screen, server, *asked, mode);
  prompter person(screen, server, watch);
  auto answer = asked->is_url ? person.address(*asked) : person.form(*asked);
  if (answer) return std::move(*answer);
  screen.err_line("");
  if (answer.error() == unanswered::withdrawn) return std::nullopt;
  if (answer.error() == unanswered::end_of_input) return mcp::questions::input_answer("decline");
  // A request to end the program is not only about the question.
  if (!link::forget_interrupt()) return std::nullopt;
  screen.err_line(screen.dim("cancelled; Ctrl-C once more ends the command"));
  return mcp::questions::input_answer("cancel");
}

}  // namespace mcpbx::cli::terminals
