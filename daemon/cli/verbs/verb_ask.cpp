// `mcpbx ask`: one run, followed, or begun and left to itself.
#include "daemon/cli/verbs/verb_ask.hpp"

#include "conf/loop/loop_numbers.hpp"
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/follow_run.hpp"
#include "daemon/cli/base/person_answers.hpp"
#include "daemon/cli/base/run_beginning.hpp"
#include "daemon/cli/base/server_wait.hpp"
#include "daemon/cli/base/session_choice.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/input/client_tools.hpp"
#include "daemon/cli/input/input_files.hpp"
#include "daemon/cli/input/option_checks.hpp"
#include "daemon/cli/input/prompt_words.hpp"
#include "daemon/cli/input/text_editor.hpp"
#include "daemon/cli/verbs/ask_request.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

// Finds the session to continue and takes over its model unless one was named. Returns false and sets `status` on
// failure.
bool find_session(context& c, link::daemon_connection& link, ask_options& o, int& status) {
  if (o.latest) o.session = session_of_place(link);
  if (o.session.empty()) {
    // A daemon that keeps no sessions says so itself.
    if (!call_or_explain(c, link, "mcpbx/sessions/list", json::json_object("limit", 1), status)) return false;
    c.screen->error(
        "nothing was asked yet at this terminal or in this folder; `mcpbx sessions` lists all sessions, -s ID "
        "goes on with one, and `mcpbx ask` without -c begins one");
    status = terminals::no_such;
    return false;
  }
  const auto got =
      call_or_explain(c, link, "mcpbx/sessions/get", json::json_object("session", o.session, "limit", 0), status);
  if (!got) return false;
  o.session = json::member_text(*got, "session");
  if (o.model.empty()) o.model = json::member_text(*got, "model");
  return true;
}

// Returns a sentence about options that exclude each other; "" if there are none.
std::string contradiction(const context& c, const ask_options& o) {
  if (o.approve == "ask" && !o.detach && !asks_person(c))
    return "--approve ask needs a terminal to ask at; write --approve all or --approve none";
  if (o.detach && c.place.standalone)
    return "a detached run needs a daemon that stays; leave out --standalone or --detach";
  if (o.detach && !o.input.empty()) return "a detached run asks those who attach to it; leave out --input or --detach";
  if (o.results.empty()) return {};
  if (o.run.empty()) return "--results needs the run that waits for them; write --run NAME";
  const bool more = !o.text.empty() || !o.session.empty() || o.latest || !o.model.empty() || !o.profile.empty() ||
                    !o.system.empty() || !o.status.empty() || !o.approve.empty() || !o.input.empty() ||
                    !split_globs(o.globs).empty() || !o.files.empty() || o.max_rounds >= 0 || o.detach ||
                    !o.schema.empty() || !o.client_tools.empty() || !o.prompt.empty() || !o.resources.empty() ||
                    o.editor || o.dry_run;
  return more ? "with --results a run goes on as it was begun; leave out all but --run and --no-stream" : "";
}

// Continues a run that handed calls to its caller, with their results.
int go_on(context& c, const ask_options& o) {
  const auto given = input::read_json(o.results, "--results");
  const auto message = given ? input::results_message(*given) : std::unexpected(given.error());
  if (!message) {
    c.screen->error(message.error().message);
    return terminals::usage;
  }
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  std::string params;
  json::json_writer w(params);
  w.begin_object().member("run", o.run).member("stream", !o.no_stream).set("answers", asks_person(c));
  w.key("messages").begin_array().token(*message).end_array().end_object();
  const auto end = follow_run(c, made->link, "mcpbx/chat", params,
                              {.stream = !o.no_stream, .input = chosen_input(c, "").value_or(std::nullopt)});
  note_session(end.session);
  return end.status;
}

// Shows how the run would begin.
int show_beginning(context& c, link::daemon_connection& link, const std::string& params) {
  int status = 0;
  const auto told = call_or_explain(c, link, "mcpbx/chat", params, status);
  if (!told) return status;
  // An older daemon does not know the member, and has answered the question.
  if (!json::find_member(*told, "dryRun").is_true()) {
    c.screen->error(
        "the daemon is too old for --dry-run, and has answered the question; `mcpbx stop` lets the next command start "
        "a new one");
    return terminals::no_answer;
  }
  if (c.json)
    c.screen->out_json(told->text());
  else
    terminals::show(*c.screen, beginning_table(*told));
  return terminals::done;
}

// Starts a detached run. The daemon answers as soon as the start is recorded.
int start_detached(context& c, link::daemon_connection& link, const std::string& params) {
  const auto begun = link.call("mcpbx/chat", params, {}, [&](std::int64_t request) {
    (void)link.notify("notifications/cancelled", json::json_object("requestId", request));
  });
  if (!begun) return explain(c, begun.error());
  if (begun->error) return link::interrupted() ? static_cast<int>(terminals::interrupted_exit) : explain(c, *begun);
  const auto run = json::member_text(begun->result, "run");
  const auto word = run_operand(run);
  // A name means one run: the daemon takes this request as a repetition of the one that began the run.
  if (json::find_member(begun->result, "ended").is_true()) {
    c.screen->error("nothing was started, because the run " + shell_word(run) +
                    " had the same question and has ended; `mcpbx attach " + word +
                    "` shows its end, and another --run NAME asks anew");
    return terminals::usage;
  }
  note_session(json::member_text(begun->result, "session"));
  if (c.json) {
    c.screen->out_json(begun->result.text());
    return terminals::done;
  }
  c.screen->out(run + "\n");
  c.screen->err_line("mcpbx: the run goes on by itself; `mcpbx attach " + word + "` follows it, `mcpbx cancel " + word +
                     "` ends it");
  return terminals::done;
}

verb_action declare_ask(CLI::App& page) {
  const auto o = std::make_shared<ask_options>();
  add_words(page, "the question; or - to read it, or its rest, from standard input", *o);
  page.add_option("-s,--session", o->session, "go on with this session")->type_name("ID");
  page.add_flag("-c,--continue", o->latest, "go on with the last session of this terminal, else of this folder");
  add_question_options(page, *o, "");
  page.add_option(
          "--results", o->results,
          "instead of a question: the results that the run --run waits for, in a file or,\nwith -, on standard input")
      ->type_name("FILE|-");
  return [o](context& c) {
    if (o->session.empty() || !o->latest) return ask(c, *o);
    c.screen->error("write -s ID or -c, not both");
    return static_cast<int>(terminals::usage);
  };
}

}  // namespace

int ask(context& c, const ask_options& given) {
  ask_options o = given;
  if (const auto wrong = contradiction(c, o); !wrong.empty()) {
    c.screen->error(wrong);
    return terminals::usage;
  }
  if (!o.results.empty()) return go_on(c, o);
  const auto arguments =
      input::prompt_arguments(o.prompt.empty() ? std::vector<std::string>() : take_prompt_arguments(o));
  if (!arguments) {
    c.screen->error(arguments.error().message);
    return terminals::usage;
  }
  std::string question = o.text;
  if (question == "-") {
    auto in = input::read_stdin();
    if (!in) return explain(c, in.error());
    question = std::move(*in);
  }
  if (o.editor) {
    auto written = input::text_of_editor(question);
    if (!written) {
      c.screen->error(written.error().message);
      return terminals::usage;
    }
    question = std::move(*written);
    if (question.find_first_not_of(" \t\r\n") == std::string::npos) {
      c.screen->error("the text is empty, so nothing was asked");
      return terminals::usage;
    }
  }
  const bool begun = o.resumed || !o.prompt.empty();  // something else is the question
  if (question.find_first_not_of(" \t\r\n") == std::string::npos && !(begun && o.text.empty())) {
    c.screen->error("there is no question; write it behind `ask`, or `-` to read it from standard input");
    return terminals::usage;
  }
  const auto input = chosen_input(c, o.input);
  if (!input) return explain(c, input.error());
  auto read = read_ask_parts(c, o, question);
  if (read) read->prompt_arguments = *arguments;
  if (!read) {
    c.screen->error(read.error().message);
    return terminals::usage;
  }
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  link::catch_interrupts();
  wait_for_servers(c, *made);
  if (link::interrupted()) return terminals::interrupted_exit;
  if ((o.latest || !o.session.empty()) && !find_session(c, made->link, o, status)) return status;
  const std::string params = ask_params(c, o, question, *read, *input);
  if (o.dry_run) return show_beginning(c, made->link, params);
  // Only an MCP client is asked about what the run begins with.
  if (*input && !o.detach && (!o.prompt.empty() || !o.resources.empty()))
    if (auto ready = link::initialize(made->link, MCPBX_VERSION, answerable(*input)); !ready)
      return explain(c, ready.error());
  if (o.detach) return start_detached(c, made->link, params);
  const auto end = follow_run(c, made->link, "mcpbx/chat", params,
                              {.stream = !o.no_stream, .input = *input, .data_only = !o.schema.empty()});
  note_session(end.session);
  if (end.missed_a_yes && o.approve.empty())
    c.screen->err_line(
        "mcpbx: a call needed your yes, and there is no terminal to ask at; `--approve all` makes such calls unasked");
  return end.status;
}

void add_words(CLI::App& page, const std::string& description, ask_options& o) {
  // A vector of strings would be converted: CLI11 takes the word "{}" for an empty one.
  const CLI::callback_t take = [&o](const CLI::results_t& words) {
    o.input_follows = words.size() > 1 && words.back() == "-";
    o.words.assign(words.begin(), words.end() - (o.input_follows ? 1 : 0));
    o.text = joined_words(o.words);
    return true;
  };
  page.add_option("TEXT", take, description)->type_name("")->expected(1, -1)->allow_extra_args();
}

void add_question_options(CLI::App& page, ask_options& o, const std::string& usual_model) {
  page.add_option("-m,--model", o.model, "a configured model, or NAME/ID" + usual_model)->type_name("MODEL");
  page.add_option("-p,--profile", o.profile, "a configured profile: model, tools and settings")->type_name("NAME");
  page.add_option("--system", o.system, "the system prompt")->type_name("TEXT");
  page.add_option("--tools", o.globs, "only tools that match one of these patterns")->type_name("GLOB[,GLOB]");
  const auto& rounds = conf::loop::find_loop_number("maxRounds");
  page.add_option("--max-rounds", o.max_rounds,
                  "how many model calls may use tools, " + std::to_string(rounds.low) + " to " +
                      std::to_string(rounds.high) + " (10)")
      ->type_name("N")
      ->check(input::whole_number(rounds.low, rounds.high));
  page.add_option("--status", o.status, "status lines: names, model (a model writes them) or off\n(names)")
      ->type_name("WORD")
      ->check(CLI::IsMember({"off", "names", "model"}).description(""));
  page.add_option(
          "--approve", o.approve,
          "tools that need a yes: ask, all (all get it) or none (ask at a\nterminal and with --detach, else none)")
      ->type_name("WORD")
      ->check(CLI::IsMember({"ask", "all", "none"}).description(""));
  add_input_option(page, o.input);
  page.add_flag("--no-input", o.no_input, "do not read what is piped in");
  page.add_flag("--no-stream", o.no_stream, "show the answer when it is complete");
  page.add_option("--file", o.files, "add a file: text, an image (PNG, JPEG, GIF, WebP) or a PDF;\nas often as needed")
      ->type_name("FILE")
      ->allow_extra_args(false);
  page.add_option("--prompt", o.prompt,
                  "begin with this prompt of a tool server; its arguments stand in front of\nthe text as key=value")
      ->type_name("NAME");
  page.add_option("--resource", o.resources, "add this resource of a tool server; as often as needed")
      ->type_name("URI")
      ->allow_extra_args(false);
  page.add_option("--schema", o.schema,
                  "a JSON Schema, or a file with one, that the answer must fit; only its JSON\nis printed")
      ->type_name("FILE|JSON");
  page.add_option(
          "--client-tools", o.client_tools,
          "definitions of tools of your own, in MCP's or OpenAI's form;\na run that calls them prints the calls")
      ->type_name("FILE");
  page.add_option("--run", o.run, "a name for the run, for `attach` and `cancel`")->type_name("NAME");
  page.add_flag("--detach", o.detach, "print the run's name and leave the run to itself");
  page.add_flag("--editor", o.editor, "write the question in $VISUAL or $EDITOR, beginning with TEXT");
  page.add_flag(
      "--dry-run", o.dry_run,
      "ask nothing: show the model, its endpoint, the tools and the size of the\nprompt, and whether it may cost");
}

verb verb_ask() {
  return {
      .name = "ask",
      .place = 1,
      .summary = "ask a question and let tools answer it",
      .more =
          R"help(The answer goes to standard output, status and tool lines to standard error; at a terminal the text appears as it comes.
Ctrl-C cancels the run. With --json every event is one line.

Standard input belongs to the question if it is a pipe or a file: it stands behind the text, marked as input, 16 MiB at most,
text or what --file takes. If nothing comes within 3 s, the question is asked without it; `-` behind the text waits for it.
In a loop that reads its lines from standard input, --no-input leaves them to the loop. Only `-` makes the input itself the
question.

With --detach the run goes on when this command has ended: its name is printed, `attach` follows it, also after its end,
and `cancel` ends it. --run gives it a name of your own. A name means one run: while that goes on, the same question finds it;
when it has ended, nothing is started and the status is 2.
With --schema only the JSON of the answer is printed. A run that calls tools of --client-tools prints each call as a line of
JSON with "run", "id", "name" and "arguments", and waits; --run NAME --results FILE goes on, where FILE has
{"ID": RESULT, …}, each RESULT a text or an object as tools give it ({"content": […], "isError": true}).

`mcpbx prompts` and `mcpbx resources` list what --prompt and --resource take. The messages of the prompt stand before the
text, which may be left out then; resources are given to the model as data.

--dry-run calls no model and begins no run; tokens are estimated, and what --prompt and --resource name is not fetched.

Several words are one question; quote it where it has characters that the shell takes for its own (? * & ' $).

Examples:
  mcpbx ask what time is it in Lisbon
  mcpbx ask "Which of my notes mention the lighthouse?"
  mcpbx ask -p reader "What changed in the notes?"
  mcpbx ask -m gpt --tools 'files__*,toolbox__*' "Summarize notes.txt"
  mcpbx ask -c "And which of them is the oldest?"
  mcpbx ask --file plan.pdf --file photo.jpg "Does the photo show what the plan says?"
  git diff | mcpbx ask "Review this change."
  mcpbx ask --prompt git__review branch=main "Look at the tests above all."
  mcpbx ask --resource file:///home/me/plan.md "What is missing?"
  make 2>&1 | mcpbx ask "Why does this fail?" -
  mcpbx ask --schema '{"type":"object","properties":{"total":{"type":"number"}}}' --file bill.pdf "What is the total?"
  mcpbx ask --detach --run "nightly-$(date +%F)" "Sort the inbox."
  mcpbx ask --editor
  mcpbx ask -m demo --dry-run "What is 6 * 7?"
  mcpbx ask --client-tools tools.json --run talk "Dim the lights."
  echo '{"call_1": "done"}' | mcpbx ask --run talk --results -)help",
      .declare = declare_ask};
}

}  // namespace mcpbx::cli::verbs
