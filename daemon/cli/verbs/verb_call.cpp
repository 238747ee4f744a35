// `mcpbx call`: calls one tool without a model.
#include "daemon/cli/base/caller_trace.hpp"
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/follow_run.hpp"
#include "daemon/cli/base/person_answers.hpp"
#include "daemon/cli/base/server_wait.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/input/given_arguments.hpp"
#include "daemon/cli/terminal/helping_command.hpp"
#include "daemon/cli/text/offer_text.hpp"
#include "daemon/cli/verbs/verbs.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

struct call_options {
  std::string name;
  input::given_arguments arguments;
  std::string input;  ///< --input
};

void print_content(context& c, const json::raw_json& result) {
  bool any = false;
  json::for_each_element(json::find_member(result, "content"), [&](const json::raw_json& block) {
    c.screen->out(text::text_of_block(block));
    any = true;
    return true;
  });
  if (any) return;
  if (auto structured = json::find_member(result, "structuredContent")) c.screen->out_json(structured.text());
}

std::string no_such_tool(const std::string& name, const json::raw_json& similar) {
  std::string text = "there is no tool `" + redact::printable(cut_utf8(name, 128)) + "`";
  std::string_view before = "; similar: ";
  json::for_each_element(similar, [&](const json::raw_json& one) {
    text += std::string(std::exchange(before, ", ")) + redact::printable(one.as_string().value_or(""));
    return true;
  });
  return text + "; `mcpbx tools` lists them all, `mcpbx servers` tells why a server's may be missing";
}

std::string arguments_of(const std::string& name) {
  return "`mcpbx tools " + shell_word(name) + "` shows its arguments";
}

// Returns the text of an error, with a command that helps. One of the tool server itself gets the server's name in
// front; mcpbx's own errors name their cause.
std::string error_text(const link::answer& a, const std::string& name, const std::string& server) {
  if (server.empty()) return a.error_message();
  if (json::find_member(json::find_member(a.error, "data"), "cause"))
    return terminals::with_command(a.error_message(),
                                   "`mcpbx servers " + shell_word(server) + "` tells about its server");
  const auto code = json::find_member(a.error, "code").as_integer();
  return terminals::with_own_command("the tool server \"" + server + "\" answered the call of " + name +
                                         " with an error" + (code ? " (" + std::to_string(*code) + ")" : "") + ": " +
                                         a.error_message(),
                                     arguments_of(name));
}

int call(context& c, const call_options& o) {
  int status = 0;
  const auto input = chosen_input(c, o.input);
  if (!input) return explain(c, input.error());
  // Wrong words are known without a daemon, so none is started for them.
  if (const auto early = o.arguments.check(); !early) {
    c.screen->error(early.error().message + "; see `mcpbx call --help`");
    return terminals::usage;
  }
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  link::daemon_connection& link = made->link;
  if (auto ready = link::initialize(link, MCPBX_VERSION, answerable(*input)); !ready) return explain(c, ready.error());
  const auto look_up = [&] { return link.call("mcpbx/tools", json::json_object("name", o.name)); };
  wait_for_servers(c, *made, [&] {
    const auto found = look_up();
    return !found || found->error || json::find_member(found->result, "server");
  });
  auto listed = look_up();
  if (!listed) return explain(c, listed.error());
  if (listed->error) return explain(c, *listed);
  json::raw_json definition;
  json::for_each_element(json::find_member(listed->result, "tools"), [&](const json::raw_json& tool) {
    definition = tool;
    return false;
  });
  auto arguments = o.arguments.for_tool(json::find_member(definition, "inputSchema"));
  if (!arguments) return explain(c, arguments.error());

  link::catch_interrupts();
  const bool watch = c.screen->err_is_terminal() && !c.json;
  std::string params;
  json::json_writer w(params);
  w.begin_object().member("name", o.name).key("arguments").token(*arguments);
  if (const auto trace = caller_trace(); watch || !trace.empty()) {
    w.key("_meta").begin_object();
    if (watch) w.member("progressToken", "call");
    w.filled("traceparent", trace.parent).filled("tracestate", trace.state).end_object();
  }
  w.end_object();
  // No handler for Ctrl-C is needed: MCP does not answer a cancelled call, and closing the connection cancels it.
  person_answers questions(c, link, input->value_or(terminals::input_mode::decline));
  link.on_request([&](const mcp::rpc::message& request) { questions.take(request); });
  auto got = link.call(
      "tools/call", params,
      [&](std::string_view method, const json::raw_json& p) {
        questions.notified(method, p);
        if (!watch || method != "notifications/progress") return;
        std::string line = json::member_text(p, "message");
        if (line.empty()) line = "progress " + std::string(json::find_member(p, "progress").text());
        c.screen->status(line);
      },
      {}, [&] { questions.answer(); });
  link.on_request({});
  c.screen->clear_status();
  if (!got) return explain(c, got.error());
  if (got->error) {
    if (const json::raw_json similar = json::find_member(json::find_member(got->error, "data"), "similar")) {
      c.screen->error(no_such_tool(o.name, similar));
      return terminals::no_such;
    }
    c.screen->error(error_text(*got, o.name, json::member_text(listed->result, "server")));
    return status_of(*got);
  }
  const bool is_error = json::find_member(got->result, "isError").is_true();
  if (c.json) {
    c.screen->out_json(got->result.text());
  } else if (is_error) {
    std::string why;
    json::for_each_element(json::find_member(got->result, "content"), [&](const json::raw_json& block) {
      why += (why.empty() ? "" : "\n") + json::member_text(block, "text");
      return true;
    });
    c.screen->error(
        terminals::with_own_command("the tool " + o.name + " returned an error: " + why, arguments_of(o.name)));
  } else {
    print_content(c, got->result);
  }
  return is_error ? terminals::no_answer : terminals::done;
}

verb_action declare_call(CLI::App& page) {
  const auto o = std::make_shared<call_options>();
  page.add_option("NAME", o->name, "the tool, as `mcpbx tools` lists it")->required()->type_name("");
  o->arguments.declare(page);
  add_input_option(page, o->input);
  return [o](context& c) { return call(c, *o); };
}

}  // namespace

verb verb_call() {
  return {
      .name = "call",
      .place = 5,
      .summary = "call one tool",
      .more =
          R"(A key=value argument takes the type that the tool's schema gives the key. With --json the result object is printed as the
server sent it. The status is 1 when the tool returned an error, 5 when there is no such tool.

Examples:
  mcpbx call toolbox__current_time timeZone=Europe/Lisbon
  mcpbx call files__write --args '{"path":"a.txt","text":"hello"}'
  mcpbx call --input accept shop__order item=tea
  mcpbx call files__write --args - < arguments.json)",
      .declare = declare_call};
}

}  // namespace mcpbx::cli::verbs
