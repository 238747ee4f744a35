// `mcpbx chat`: a conversation at the terminal.
#include "daemon/cli/base/session_choice.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/chat/chat_shell.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace mcpbx::cli::verbs {
namespace {

struct chat_words {
  chat::chat_options options;
  std::string globs;
};

verb_action declare_chat(CLI::App& page) {
  const auto o = std::make_shared<chat_words>();
  page.add_option("-m,--model", o->options.terms.model, "a configured model, or NAME/ID")->type_name("MODEL");
  page.add_option("-p,--profile", o->options.terms.profile, "a configured profile: model, tools and settings")
      ->type_name("NAME");
  page.add_option("-s,--session", o->options.session, "go on with this session")->type_name("ID");
  page.add_flag("-c,--continue", o->options.latest,
                "go on with the last session of this terminal, else of this folder");
  page.add_option("--system", o->options.terms.system, "the system prompt")->type_name("TEXT");
  page.add_option("--tools", o->globs, "only tools that match one of these patterns")->type_name("GLOB[,GLOB]");
  return [o](context& c) {
    if (!o->options.session.empty() && o->options.latest) {
      c.screen->error("write -s ID or -c, not both");
      return static_cast<int>(terminals::usage);
    }
    auto options = o->options;
    options.terms.tools = split_globs(o->globs);
    return chat::chat_at(c, options);
  };
}

}  // namespace

verb verb_chat() {
  return {
      .name = "chat",
      .place = 1,
      .summary = "talk with a model that uses your tools",
      .more =
          R"help(Each input is a question in one session, which `ask -c` and `chat -c` go on with. The text appears as it comes, Markdown
is styled, tool calls stand in lines of their own, and calls that need a yes are asked about. Ctrl-C ends the answer that
is coming, not the program; Ctrl-D ends.

A line that ends in \ goes on in the next one; """ begins and ends an input of several lines, and a pasted text is one
input. /help lists the commands: /tools, /model, /session, /undo, /file, /system, /clear, /exit. The arrow keys bring
earlier inputs back, which are kept in $XDG_STATE_HOME/mcpbx/chat-history, but for those that begin with a blank or look
as if they held a key. ~/.editrc is read (editrc(5)).

If standard input is no terminal, each line of it, or block between """, is an input, and only the answers go to
standard output; with --json it gets the events. The exit status is that of the first question that failed.

Examples:
  mcpbx chat
  mcpbx chat -m demo
  mcpbx chat -c
  printf 'What is 6 * 7?\nAnd 6 * 8?\n' | mcpbx chat -m demo)help",
      .declare = declare_chat};
}

}  // namespace mcpbx::cli::verbs
