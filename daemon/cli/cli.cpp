// The command line of `mcpbx`: verbs, their options, and one sentence for what comes later.
#include "daemon/cli/cli.hpp"

#include "conf/loop/loop_numbers.hpp"
#include "conf/model/key_values.hpp"
#include "daemon/cli/help.hpp"
#include "daemon/cli/verbs.hpp"
#include "daemon/command_line/parse_options.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <signal.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli {
namespace {

struct later {
  std::string_view verb, what;
};
// Verbs whose part of the daemon is not built yet.
constexpr std::array<later, 12> verbs_to_come{{
    {"chat", "conversations at the terminal"},
    {"resources", "resources of tool servers"},
    {"prompts", "prompts of tool servers"},
    {"reload", "reloading the configuration; `mcpbx stop` and the next command start anew"},
    {"logs", "reading logs; a daemon that this program started writes mcpbxd.log in its state folder"},
    {"add", "changing the configuration"},
    {"remove", "changing the configuration"},
    {"import", "importing the configuration of other programs"},
    {"doctor", "the check-up"},
    {"completion", "shell completion"},
    {"auth", "authorization of remote servers"},
    {"answer", "answering a question of a run"},
}};
constexpr std::array<std::string_view, 16> verbs_here{"ask",     "attach",   "cancel", "tools",    "call",    "models",
                                                      "servers", "sessions", "status", "wait",     "restart", "stop",
                                                      "pins",    "mcp",      "help",   "--version"};

int not_yet(terminal& screen, std::string_view what) {
  screen.error(std::string(what) + " comes in a later version of mcpbx");
  return usage;
}

constexpr const char* not_here = "Not in this version";

// What `tools --format` takes for APIs: those of model entries that send requests, and a short word for the first.
std::vector<std::string_view> api_formats() {
  std::vector<std::string_view> all{"openai"};
  for (const auto api : conf::words_of<conf::model_api>)
    if (api != conf::to_string(conf::model_api::rehearsal) && api != conf::to_string(conf::model_api::replay))
      all.push_back(api);
  return all;
}

std::string listed(const std::vector<std::string_view>& words) {
  std::string all;
  for (const auto w : words) all.append(all.empty() ? "" : ", ").append(w);
  return all;
}

// CLI11's own check of a range says of "x" and 1.5 that they are out of it.
CLI::Validator whole_number(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  const auto check = [least, most](const std::string& text) -> std::string {
    std::int64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec == std::errc() && read.ptr == text.data() + text.size() && number >= least && number <= most) return {};
    const bool bounded = most != std::numeric_limits<std::int64_t>::max();
    return "\"" + text + "\" is no whole number from " + std::to_string(least) +
           (bounded ? " to " + std::to_string(most) : " on");
  };
  return {check, ""};  // the option's description tells what is allowed
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

// What a question may be asked with, whether it begins a session or goes on with one.
void add_question_options(CLI::App& verb, ask_options& o, std::string& globs, const std::string& usual_model) {
  verb.add_option("-m,--model", o.model, "a configured model, or NAME/ID" + usual_model)->type_name("MODEL");
  verb.add_option("-p,--profile", o.profile, "a configured profile: model, tools and settings")->type_name("NAME");
  verb.add_option("--system", o.system, "the system prompt")->type_name("TEXT");
  verb.add_option("--tools", globs, "only tools that match one of these patterns")->type_name("GLOB[,GLOB]");
  const auto& rounds = conf::find_loop_number("maxRounds");
  verb.add_option("--max-rounds", o.max_rounds,
                  "how many model calls may use tools, " + std::to_string(rounds.low) + " to " +
                      std::to_string(rounds.high) + " (10)")
      ->type_name("N")
      ->check(whole_number(rounds.low, rounds.high));
  verb.add_option("--status", o.status, "status lines: names, model (a model writes them) or off\n(names)")
      ->type_name("WORD")
      ->check(CLI::IsMember({"off", "names", "model"}).description(""));
  verb.add_option(
          "--approve", o.approve,
          "tools that need a yes: ask, all (all get it) or none (ask at a\nterminal and with --detach, else none)")
      ->type_name("WORD")
      ->check(CLI::IsMember({"ask", "all", "none"}).description(""));
  verb.add_flag("--no-stream", o.no_stream, "show the answer when it is complete");
  verb.add_option("--file", o.files, "add a file: text, an image (PNG, JPEG, GIF, WebP) or a PDF;\nas often as needed")
      ->type_name("FILE")
      ->allow_extra_args(false);
  verb.add_option("--schema", o.schema,
                  "a JSON Schema, or a file with one, that the answer must fit; only its JSON\nis printed")
      ->type_name("FILE|JSON");
  verb.add_option("--client-tools", o.client_tools,
                  "definitions of tools of your own; a run that calls them prints the calls")
      ->type_name("FILE");
  verb.add_option("--run", o.run, "a name for the run, for `attach` and `cancel`")->type_name("NAME");
  verb.add_flag("--detach", o.detach, "print the run's name and leave the run to itself");
}

std::vector<std::string> split_globs(const std::string& globs) {
  std::vector<std::string> all;
  for (std::size_t at = 0; !globs.empty() && at <= globs.size();) {
    const auto comma = std::min(globs.find(',', at), globs.size());
    if (comma > at) all.push_back(globs.substr(at, comma - at));
    at = comma + 1;
  }
  return all;
}

// Answers verbs that are known but not here yet, and unknown words, before CLI11 gives its general message.
int unknown_verb(terminal& screen, const std::string& word) {
  for (const auto& v : verbs_to_come)
    if (v.verb == word) return not_yet(screen, "`mcpbx " + word + "` (" + std::string(v.what) + ")");
  screen.error("there is no verb `" + word + "`" + did_you_mean(word, verbs_here) + "; `mcpbx help` lists them");
  return usage;
}

}  // namespace

int run(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  terminal screen;
  context c;
  c.screen = &screen;
  int code = done;

  CLI::App app{"Ask a model that uses your tools, and drive the mcpbx daemon.", "mcpbx"};
  app.formatter(make_formatter());
  app.set_version_flag("--version", "mcpbx " MCPBX_VERSION, "print the version");
  app.set_help_flag("-h,--help", "print this help");
  app.footer(std::string(help::program));
  app.add_option("--socket", c.place.socket, "the daemon's socket")->type_name("PATH");
  app.add_option("--config", c.place.config, "configuration for the daemon that this command starts")
      ->type_name("FILE");
  app.add_flag("--standalone", c.place.standalone, "run a private daemon for the length of this command");
  app.add_flag("--json", c.json, "machine-readable output: one array, one object, or one event per line");
  app.require_subcommand(0, 1);
  app.fallthrough();

  ask_options question;
  std::string globs;
  const auto add_verb = [&](const char* name, const char* what, std::string_view more = {}) {
    auto* v = app.add_subcommand(name, what)->group("Verbs");
    v->footer(std::string(more));
    return v;
  };
  auto* verb = add_verb("ask", "ask a question and let tools answer it", help::ask);
  verb->add_option("TEXT", question.text, "the question, or - to read it from standard input")->type_name("");
  verb->add_option("-s,--session", question.session, "go on with this session")->type_name("ID");
  verb->add_flag("-c,--continue", question.latest, "go on with the session that was used last");
  add_question_options(*verb, question, globs, "");
  verb->add_option(
          "--results", question.results,
          "instead of a question: the results that the run --run waits for, in a file or,\nwith -, on standard input")
      ->type_name("FILE|-");
  verb->callback([&] {
    if (!question.session.empty() && question.latest) {
      screen.error("write -s ID or -c, not both");
      code = usage;
    } else {
      question.tools = split_globs(globs);
      code = ask(c, question);
    }
  });

  std::string run_name;
  std::int64_t after = 0;
  verb = add_verb("attach", "follow a run that goes on, or that has ended", help::attach);
  verb->add_option("RUN", run_name, "the run's name")->required()->type_name("");
  verb->add_option("--after", after, "only what came behind this event (its `seq`)")
      ->type_name("N")
      ->check(whole_number(0));
  verb->callback([&] { code = attach(c, run_name, after); });
  verb = add_verb("cancel", "end a run");
  verb->add_option("RUN", run_name, "the run's name")->required()->type_name("");
  verb->callback([&] { code = cancel(c, run_name); });

  tools_options listing;
  verb = add_verb("tools", "list the tools of all servers", help::tools);
  verb->add_option("GLOB", listing.pattern, "only names that match, such as 'files__*'")->type_name("");
  verb->add_option("--format", listing.format,
                   "print definitions as sent (mcp), for an API (" + listed(api_formats()) + ") or as text (react)")
      ->type_name("FORMAT");
  verb->add_option("-p,--profile", listing.profile, "only the tools of this profile")->type_name("NAME");
  verb->callback([&] {
    const auto apis = api_formats();
    const auto& format = listing.format;
    if (!format.empty() && format != "mcp" && format != "react" && std::ranges::find(apis, format) == apis.end()) {
      screen.error("there is no format `" + format + "`; write mcp, " + listed(apis) + " or react");
      code = usage;
    } else {
      code = tools(c, listing);
    }
  });

  call_options one;
  std::string input;
  verb = add_verb("call", "call one tool", help::call);
  verb->add_option("NAME", one.name, "the tool, as `mcpbx tools` lists it")->required()->type_name("");
  verb->add_option("ARGUMENT", one.arguments, "an argument of the tool as key=value")->type_name("");
  verb->add_option("--args", one.json_arguments, "all arguments as one JSON object, or - for standard input")
      ->type_name("JSON");
  verb->add_option("--input", input, "how a question of the server is answered: ask, accept or decline")
      ->type_name("WORD")
      ->group(not_here);
  verb->callback([&] {
    if (!input.empty()) {
      code = not_yet(screen, "`call --input`");
    } else if (!one.json_arguments.empty() && !one.arguments.empty()) {
      screen.error("give the arguments as key=value or with --args, not both");
      code = usage;
    } else {
      code = call(c, one);
    }
  });

  sessions_options kept;
  verb = add_verb("sessions", "list, show, go on with or delete what was said", help::sessions);
  verb->add_option("ACTION", kept.action, "list (also without a word), show, resume or rm")->type_name("");
  verb->add_option("ID", kept.id, "the session, as the list names it")->type_name("");
  verb->add_option("TEXT", kept.question.text, "resume: what to say next, or - to read it from standard input")
      ->type_name("");
  verb->add_option("--format", kept.format, "show: markdown or jsonl (markdown)")->type_name("FORMAT");
  verb->add_flag("--all", kept.all, "list: also what programs on the port and tool servers began");
  verb->add_option("--limit", kept.limit, "list: how many, the latest first (50)")
      ->type_name("N")
      ->check(whole_number(1, 1000));
  auto* resumed = verb->add_option_group("Options of resume");
  std::string resumed_globs;
  add_question_options(*resumed, kept.question, resumed_globs, " (that of the session)");
  verb->callback([&, resumed] {
    kept.question.tools = split_globs(resumed_globs);
    kept.question_options = resumed->count_all() > 0;
    code = sessions(c, kept);
  });

  models_options choice;
  verb = add_verb("models", "list the configured models, and what their endpoints offer", help::models);
  verb->add_option("NAME", choice.name, "only this entry")->type_name("");
  verb->add_flag("--remote", choice.remote, "ask each endpoint which models it offers");
  verb->callback([&] { code = models(c, choice); });

  add_verb("servers", "how the tool servers are", help::servers)->callback([&] { code = servers(c); });
  add_verb("status", "how the daemon is")->callback([&] { code = status(c); });
  int timeout_s = 60;
  verb = add_verb("wait", "wait until every enabled tool server is ready", help::wait);
  verb->add_option("--timeout", timeout_s, "how many seconds at most (60)")
      ->type_name("S")
      ->check(whole_number(0, 86400));
  verb->callback([&] { code = wait(c, timeout_s); });
  std::string server;
  verb = add_verb("restart", "restart one tool server");
  verb->add_option("NAME", server, "the server, as `mcpbx servers` lists it")->required()->type_name("");
  verb->callback([&] { code = restart(c, server); });
  std::string pinned, sha256;
  verb = add_verb("pins", "tool definitions that are not as they were pinned", help::pins);
  verb->require_subcommand(0, 1);
  auto* show = verb->add_subcommand("show", "what was pinned, what is listed now, and what differs");
  show->add_option("NAME", pinned, "a tool as `mcpbx tools` lists it, SERVER__TOOL, or a server")
      ->required()
      ->type_name("");
  show->callback([&] { code = show_pins(c, pinned); });
  auto* accept = verb->add_subcommand("accept", "approve what is listed now");
  accept->add_option("NAME", pinned, "a tool as `mcpbx tools` lists it, SERVER__TOOL, or a server")
      ->required()
      ->type_name("");
  accept->add_option("--sha256", sha256, "only if this is the hash of the tool's definition")->type_name("HASH");
  accept->callback([&] { code = accept_pins(c, pinned, sha256); });
  verb->callback([&, verb] {
    if (verb->get_subcommands().empty()) code = pins(c);
  });
  add_verb("stop", "stop the daemon and every tool server", help::stop)->callback([&] { code = stop(c); });
  std::string shown_profile;
  verb = add_verb("mcp", "be one MCP server with all tools, on stdin and stdout", help::shim);
  verb->add_option("-p,--profile", shown_profile, "only the tools of this profile")->type_name("NAME");
  verb->callback([&] { code = shim(c, shown_profile); });
  std::string about;
  verb = add_verb("help", "print this help, or more about a verb");
  verb->add_option("VERB", about, "the verb")->type_name("");

  const auto has_verb = [&](const std::string& word) {
    return !app.get_subcommands([&](CLI::App* s) { return s->get_name() == word; }).empty();
  };
  // The first word that is no option is the verb; `--socket P` and `--config F` take a value.
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--socket" || word == "--config") {
      ++i;
    } else if (!word.starts_with('-')) {
      if (!has_verb(word)) return unknown_verb(screen, word);
      break;
    }
  }
  if (const auto status = parse_words(app, argc, argv, [&](const std::string& wrong) { screen.error(wrong); }))
    return *status;
  const auto used = app.get_subcommands();
  const bool help_asked = !used.empty() && used.front()->get_name() == "help";
  if (used.empty() || help_asked) {
    if (!about.empty() && !has_verb(about)) return unknown_verb(screen, about);
    app.clear();  // the help of a page is that of what was parsed
    screen.out(about.empty() ? app.help() : app.get_subcommand(about)->help("mcpbx"));
    return screen.finish(help_asked ? done : usage);
  }
  return screen.finish(code);
}

}  // namespace mcpbx::cli
