// The command line of `mcpbx`: the options that all verbs share, and a page for each verb.
#include "daemon/cli/cli.hpp"

#include "daemon/cli/completion/live_names.hpp"
#include "daemon/cli/completion/word_completion.hpp"
#include "daemon/cli/verbs/verbs.hpp"
#include "daemon/command_line/parse_options.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::cli::program {
namespace {

// The text below the options in `mcpbx --help`; the names of verbs that come later stand between its two parts.
constexpr std::string_view page_to_later_verbs =
    R"(Without a daemon at the default socket one is started; it ends after 15 minutes without use (idleExitMs). ask, tools
and call then wait up to 15 s for its tool servers.
`mcpbx help VERB` tells more about a verb. The options above may stand before or after it.

Examples:
  mcpbx ask -m demo "What time is it in Lisbon?"    no model needed: demo matches words, and says so
  mcpbx tools                                       the tools of all servers
  mcpbx call toolbox__calculate expression="2^10"   one tool, no model
  mcpbx servers                                     how the servers are, and why one is not well

Places:
  socket         --socket, $MCPBX_SOCKET, $XDG_RUNTIME_DIR/mcpbx/mcpbx.sock, ~/.local/state/mcpbx/mcpbx.sock
  configuration  $MCPBX_CONFIG, $XDG_CONFIG_HOME/mcpbx/config.json (~/.config), /etc/mcpbx/config.json
  log            $XDG_STATE_HOME/mcpbx/mcpbxd.log (~/.local/state), of a daemon that this program started

Exit status:
  0    done
  1    the run ended without an answer, the tool returned an error, or the output could not be written
  2    usage or configuration
  3    no daemon
  4    the model's provider failed
  5    no such tool, server, session or run
  130  interrupted

Later versions: )";
constexpr std::string_view page_from_later_verbs =
    R"(.

Colours and the live status line appear on a terminal only; NO_COLOR turns colours off.)";

std::string page_below_options() {
  std::string page(page_to_later_verbs);
  std::string_view before;
  for (const auto& v : verbs::later_verbs()) {
    page.append(before).append(v.name);
    before = ", ";
  }
  return page.append(page_from_later_verbs);
}

// CLI11's page with our words.
std::shared_ptr<CLI::Formatter> make_formatter() {
  auto f = std::make_shared<CLI::Formatter>();
  f->label("SUBCOMMAND", "VERB");
  f->label("REQUIRED", "");
  f->label("Positionals", "Arguments");
  f->column_width(30);
  return f;
}

// Answers verbs that are known but not here yet, and unknown words, before CLI11 gives its general message.
int unknown_verb(terminals::terminal& screen, const std::string& word) {
  for (const auto& v : verbs::later_verbs())
    if (v.name == word) return verbs::not_yet(screen, "`mcpbx " + word + "` (" + std::string(v.what) + ")");
  std::vector<std::string_view> known;
  for (const auto& v : verbs::all_verbs()) known.emplace_back(v.name);
  known.insert(known.end(), {"help", "--version"});
  screen.error("there is no verb `" + word + "`" + did_you_mean(word, known) + "; `mcpbx help` lists them");
  return terminals::usage;
}

// Returns the word of the command line that gives this option: "-m" or "--model".
std::string as_written(const CLI::Option& option, std::span<char* const> words) {
  for (const auto& name : option.get_lnames())
    if (std::ranges::any_of(words, [long_name = "--" + name](std::string_view word) {
          return word == long_name || word.starts_with(long_name + "=");
        }))
      return "--" + name;
  return "-" + option.get_snames().front();
}

// Appends the options and operands that a page got, and those of the groups and verbs on it.
void add_given(const CLI::App& page, std::span<char* const> words, std::vector<given_option>& given) {
  for (const auto* option : page.get_options()) {
    if (option->count() == 0) continue;
    const auto name = option->get_name();
    given.push_back({name, option->get_snames().empty() ? name : as_written(*option, words)});
  }
  for (const auto* below : page.get_subcommands([](const CLI::App*) { return true; })) add_given(*below, words, given);
}

// Declares the options and the pages of all verbs. Parsing writes the verb's exit status to `code`, and the verb that
// `help` shall tell about to `about`.
void declare(CLI::App& app, context& c, int& code, std::string& about, std::span<char* const> words = {}) {
  app.name("mcpbx");
  app.description("Ask a model that uses your tools, and drive the mcpbx daemon.");
  app.formatter(make_formatter());
  app.set_version_flag("--version", "mcpbx " MCPBX_VERSION, "print the version");
  app.set_help_flag("-h,--help", "print this help");
  app.footer(page_below_options());
  app.add_option("--socket", c.place.socket, "the daemon's socket")->type_name("PATH");
  app.add_option("--config", c.place.config, "configuration for the daemon that this command starts")
      ->type_name("FILE");
  app.add_flag("--standalone", c.place.standalone, "run a private daemon for the length of this command");
  app.add_flag("--no-wait", c.no_wait, "do not wait for the tool servers of a daemon that this command starts");
  app.add_flag("--json", c.json,
               "machine-readable output: one array, one object, or one event per\nline; an error is {\"error\": "
               "{\"message\", \"status\"}}");
  app.require_subcommand(0, 1);
  app.fallthrough();

  const auto add_page = [&](const char* name, const char* summary, std::string_view more) {
    auto* page = app.add_subcommand(name, summary)->group("Verbs");
    page->footer(std::string(more));  // before verbs of its own, which take it over
    return page;
  };
  for (const auto& v : verbs::all_verbs()) {
    auto* page = add_page(v.name, v.summary, v.more);
    page->callback([&code, &c, page, words, name = v.name, act = v.declare(*page)] {
      c.screen->helped_by("see `mcpbx " + std::string(name) + " --help`");
      add_given(*page, words, c.given);
      code = act(c);
    });
  }
  add_page("help", "print this help, or more about a verb", "")->add_option("VERB", about, "the verb")->type_name("");
}

// Returns the value of an option of the whole program among the words, or "".
std::string given(const std::vector<std::string>& words, std::string_view option) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == option) return words[i + 1];
    if (words[i].starts_with(std::string(option) + "=")) return words[i].substr(option.size() + 1);
  }
  return {};
}

// Answers `mcpbx __complete SHELL …`, which the scripts of `mcpbx completion` run: for bash the line up to the cursor,
// for the others the words behind the program's name. Never fails, since nobody reads why.
int complete(const CLI::App& app, std::string_view shell, std::vector<std::string> words) {
  auto kind = completion::shell_kind::bash;
  bool in_quotes = false;
  if (shell == "bash") {
    auto line = completion::split_for_bash(words.empty() ? "" : words.front());
    in_quotes = line.in_quotes;
    words = std::move(line.words);
    // Variables may stand before the program.
    const auto program =
        std::ranges::find_if(words, [](const std::string& w) { return w == "mcpbx" || w.ends_with("/mcpbx"); });
    words.erase(words.begin(), program == words.end() ? words.begin() + 1 : program + 1);
  } else {
    kind = shell == "zsh" ? completion::shell_kind::zsh : completion::shell_kind::fish;
  }
  const auto choice =
      completion::choice_for(app, words, [](std::string_view verb) -> std::span<const std::string_view> {
        for (const auto& v : verbs::all_verbs())
          if (v.name == verb) return v.actions;
        return {};
      });
  link::place p;
  p.socket = given(words, "--socket");
  const auto names = completion::live_names(p, choice.names, choice.begun);
  terminals::write_all(STDOUT_FILENO, completion::completion_lines(choice, names, kind, in_quotes));
  return terminals::done;
}

}  // namespace

void with_pages(const std::function<void(CLI::App&)>& f) {
  CLI::App app;
  context c;
  int code = terminals::done;
  std::string about;
  declare(app, c, code, about);
  f(app);
}

int run(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  terminals::terminal screen;
  context c;
  c.screen = &screen;
  int code = terminals::done;

  CLI::App app;
  std::string about;
  declare(app, c, code, about, {argv + 1, argv + std::max(argc, 1)});
  if (argc > 2 && std::string_view(argv[1]) == "__complete") return complete(app, argv[2], {argv + 3, argv + argc});

  // Errors of the command line itself are JSON, too.
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i)
    if (std::string_view(argv[i]) == "--json") screen.errors_as_json();
  const auto has_verb = [&](const std::string& word) {
    return !app.get_subcommands([&](CLI::App* s) { return s->get_name() == word; }).empty();
  };
  std::string_view beside_wrong_words;
  // The first word that is no option is the verb; `--socket P` and `--config F` take a value.
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--socket" || word == "--config") {
      ++i;
    } else if (!word.starts_with('-')) {
      if (!has_verb(word)) return screen.finish(unknown_verb(screen, word));
      for (const auto& v : verbs::all_verbs())
        if (word == v.name) beside_wrong_words = v.beside_wrong_words;
      break;
    }
  }
  const auto tell = [&](const std::string& wrong) {
    const bool option = wrong.find("not expected") != wrong.npos;
    screen.error(wrong + std::string(option ? beside_wrong_words : ""));
  };
  if (const auto status = command_line::parse_words(app, argc, argv, tell)) return screen.finish(*status);
  const auto used = app.get_subcommands();
  const bool help_asked = !used.empty() && used.front()->get_name() == "help";
  if (used.empty() || help_asked) {
    if (!about.empty() && !has_verb(about)) return screen.finish(unknown_verb(screen, about));
    app.clear();  // the help is that of the parsed page
    screen.out(about.empty() ? app.help() : app.get_subcommand(about)->help("mcpbx"));
    return screen.finish(help_asked ? terminals::done : terminals::usage);
  }
  return screen.finish(code);
}

}  // namespace mcpbx::cli::program
