// The command line of `mcpbx`: verbs, their options, and one sentence for what comes later.
#include "daemon/cli/cli.hpp"

#include "daemon/cli/verbs.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <signal.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli {
namespace {

struct later {
  std::string_view verb, what;
};
// Verbs of the contract whose part of the daemon is not built yet.
constexpr std::array<later, 15> verbs_to_come{{
    {"chat", "conversations at the terminal"},
    {"resources", "resources of tool servers"},
    {"prompts", "prompts of tool servers"},
    {"reload", "reloading the configuration; `mcpbx stop` and the next command start anew"},
    {"logs", "reading logs; a daemon that this program started writes mcpbxd.log in its state folder"},
    {"models", "listing models"},
    {"sessions", "the journal of sessions"},
    {"add", "changing the configuration"},
    {"remove", "changing the configuration"},
    {"import", "importing the configuration of other programs"},
    {"doctor", "the check-up"},
    {"completion", "shell completion"},
    {"pins", "pinned tool definitions"},
    {"auth", "authorization of remote servers"},
    {"answer", "answering a question of a run"},
}};
constexpr std::array<std::string_view, 11> verbs_here{"ask",     "tools", "call", "servers", "status",   "wait",
                                                      "restart", "stop",  "mcp",  "help",    "--version"};

int not_yet(terminal& screen, std::string_view what) {
  screen.error(std::string(what) + " comes in a later version of mcpbx");
  return usage;
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
  app.set_version_flag("--version", "mcpbx " MCPBX_VERSION);
  app.set_help_flag("-h,--help", "Print this help");
  app.add_option("--socket", c.place.socket, "the daemon's socket")->type_name("PATH");
  app.add_option("--config", c.place.config, "configuration of a daemon that is started for this command")
      ->type_name("FILE");
  app.add_flag("--standalone", c.place.standalone, "run a private daemon for the length of this command");
  app.add_flag("--json", c.json, "machine-readable output: one array, one object, or one event per line");
  app.require_subcommand(0, 1);
  app.fallthrough();

  ask_options question;
  std::string globs, profile, session;
  std::vector<std::string> files;
  bool go_on = false;
  auto* verb = app.add_subcommand("ask", "ask a question and let tools answer it");
  verb->add_option("text", question.text, "the question, or - to read it from standard input")
      ->required()
      ->type_name("TEXT|-");
  verb->add_option("-m,--model", question.model, "a configured model, or NAME/ID")->type_name("MODEL");
  verb->add_option("--system", question.system, "the system prompt")->type_name("TEXT");
  verb->add_option("--tools", globs, "only tools that match one of these patterns")->type_name("GLOB,…");
  verb->add_option("--max-rounds", question.max_rounds, "model calls that may use tools")
      ->type_name("N")
      ->check(CLI::Range(0, 100000));
  verb->add_option("--status", question.status, "status lines: off, names or model")
      ->check(CLI::IsMember({"off", "names", "model"}));
  verb->add_option("--approve", question.approve, "ask, all or none")->check(CLI::IsMember({"ask", "all", "none"}));
  verb->add_flag("--no-stream", question.no_stream, "show the answer when it is complete");
  verb->add_option("-p,--profile", profile, "a profile (comes later)")->type_name("PROFILE");
  verb->add_option("-s,--session", session, "a session (comes later)")->type_name("SESSION");
  verb->add_flag("-c,--continue", go_on, "go on with the last session (comes later)");
  verb->add_option("--file", files, "add a file (comes later)")->type_name("F");
  verb->callback([&] {
    if (!profile.empty())
      code = not_yet(screen, "`ask --profile`");
    else if (!session.empty() || go_on)
      code = not_yet(screen, "`ask --session` and `ask -c`");
    else if (!files.empty())
      code = not_yet(screen, "`ask --file`");
    else if (question.approve == "ask")
      code = not_yet(screen, "`ask --approve ask`");
    else if (question.status == "model")
      code = not_yet(screen, "`ask --status model`");
    else {
      for (std::size_t at = 0; !globs.empty() && at <= globs.size();) {
        const auto comma = std::min(globs.find(',', at), globs.size());
        if (comma > at) question.tools.push_back(globs.substr(at, comma - at));
        at = comma + 1;
      }
      code = ask(c, question);
    }
  });

  tools_options listing;
  verb = app.add_subcommand("tools", "list the tools of all servers");
  verb->add_option("pattern", listing.pattern, "only names that match")->type_name("GLOB");
  verb->add_option("--format", listing.format, "print definitions: mcp or openai")->type_name("FORMAT");
  verb->callback([&] {
    constexpr std::array<std::string_view, 5> to_come{"openai-responses", "anthropic", "gemini", "ollama", "react"};
    constexpr std::array<std::string_view, 2> here{"mcp", "openai"};
    if (std::find(to_come.begin(), to_come.end(), listing.format) != to_come.end()) {
      code = not_yet(screen, "`tools --format " + listing.format + "`");
    } else if (!listing.format.empty() && std::find(here.begin(), here.end(), listing.format) == here.end()) {
      screen.error("there is no format `" + listing.format + "`; write mcp or openai");
      code = usage;
    } else {
      code = tools(c, listing);
    }
  });

  call_options one;
  std::string input;
  verb = app.add_subcommand("call", "call one tool");
  verb->add_option("name", one.name, "the tool, as `mcpbx tools` lists it")->required()->type_name("NAME");
  verb->add_option("arguments", one.arguments, "arguments as key=value")->type_name("key=value …");
  verb->add_option("--args", one.json_arguments, "arguments as one JSON object, or - for standard input")
      ->type_name("JSON|-");
  verb->add_option("--input", input, "how a question of the server is answered (comes later)")
      ->type_name("ask|accept|decline");
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

  app.add_subcommand("servers", "how the tool servers are")->callback([&] { code = servers(c); });
  app.add_subcommand("status", "how the daemon is")->callback([&] { code = status(c); });
  int timeout_s = 60;
  verb = app.add_subcommand("wait", "wait until every enabled tool server is ready");
  verb->add_option("--timeout", timeout_s, "seconds to wait at most (60)")->type_name("S")->check(CLI::Range(0, 86400));
  verb->callback([&] { code = wait(c, timeout_s); });
  std::string server;
  verb = app.add_subcommand("restart", "restart one tool server");
  verb->add_option("name", server, "the server")->required()->type_name("NAME");
  verb->callback([&] { code = restart(c, server); });
  app.add_subcommand("stop", "stop the daemon and every tool server")->callback([&] { code = stop(c); });
  app.add_subcommand("mcp", "the aggregated MCP server on stdin and stdout")->callback([&] { code = shim(c); });
  app.add_subcommand("help", "print this help")->callback([&] { screen.out(app.help()); });

  // The first word that is no option is the verb; `--socket P` and `--config F` take a value.
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--socket" || word == "--config") {
      ++i;
    } else if (!word.starts_with('-')) {
      if (app.get_subcommands([&](CLI::App* s) { return s->get_name() == word; }).empty())
        return unknown_verb(screen, word);
      break;
    }
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    screen.error(std::string(e.what()) + "; see `mcpbx --help`");
    return usage;
  }
  if (app.get_subcommands().empty()) {
    screen.out(app.help());
    return usage;
  }
  return code;
}

}  // namespace mcpbx::cli
