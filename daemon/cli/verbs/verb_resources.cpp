// `mcpbx resources`: lists the resources and templates of all tool servers, or reads one.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/mcp_contents.hpp"
#include "daemon/cli/base/person_answers.hpp"
#include "daemon/cli/base/server_wait.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/input/prompt_words.hpp"
#include "daemon/cli/text/offer_text.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/encodings.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

constexpr std::array<std::string_view, 3> resource_actions{"list", "templates", "read"};
/// Errors for a resource that does not exist: of 2025-11-25, and of 2026-07-28, which also has other meanings.
constexpr int resource_not_found = -32002, invalid_params = -32602;

struct resources_options {
  std::string action, uri, output, profile;
};

int list_resources(context& c, link::daemon_connection& link, bool templates) {
  int status = 0;
  const auto all = templates ? list_of(c, link, "resources/templates/list", "resourceTemplates", status)
                             : list_of(c, link, "resources/list", "resources", status);
  if (!all) return status;
  report_starting(c, link);
  const auto rows = templates ? text::template_rows(*all) : text::resource_rows(*all);
  if (c.json)
    c.screen->out_json(array_of(*all));
  else if (all->empty())
    c.screen->err_line(templates
                           ? "no templates; `mcpbx servers` tells what each tool server offers"
                           : "no resources are listed; `mcpbx resources templates` shows which others there may be");
  else if (c.screen->out_is_terminal())
    terminals::show(*c.screen, text::offer_table(rows));
  else
    c.screen->out(terminals::table(rows));
  return terminals::done;
}

// Returns all contents, one behind the other, and whether one of them is binary.
result<std::pair<std::string, bool>> contents_of(const json::raw_json& result) {
  std::pair<std::string, bool> all;
  error failed{errc::internal, ""};
  json::for_each_element(json::find_member(result, "contents"), [&](const json::raw_json& one) {
    const json::raw_json blob = json::find_member(one, "blob");
    if (!blob) {
      all.first += json::find_member(one, "text").as_string().value_or("");
      return true;
    }
    const auto bytes = lenient_base64_bytes(blob.as_string().value_or("?"));
    if (!bytes) {
      failed = {errc::parse,
                "the contents of " + json::member_text(one, "uri") + " cannot be read: they are no base64"};
      return false;
    }
    all.first += *bytes;
    all.second = true;
    return true;
  });
  if (!failed.message.empty()) return std::unexpected(failed);
  return all;
}

int explain_missing(context& c, link::daemon_connection& link, const std::string& uri, const link::answer& got) {
  int status = 0;
  const auto all = list_of(c, link, "resources/list", "resources", status);
  if (!all) return status;
  c.screen->error("there is no resource `" + redact::printable(cut_utf8(uri, 200)) + "`" +
                  input::near_name(uri, *all, "uri") + ": " + redact::printable(got.error_message()) +
                  "; `mcpbx resources` lists those that are known");
  return terminals::no_such;
}

int read_resource(context& c, link::daemon_connection& link, const resources_options& o) {
  link::catch_interrupts();
  const auto got = call_with_questions(c, link, "resources/read", json::json_object("uri", o.uri), person_of(c));
  if (!got) return explain(c, got.error());
  if (got->error) {
    const int code = got->error_code();
    const bool missing = code == resource_not_found ||
                         (code == invalid_params && json::find_member(json::find_member(got->error, "data"), "uri"));
    return missing ? explain_missing(c, link, o.uri, *got) : explain(c, *got);
  }
  if (c.json && o.output.empty()) {
    c.screen->out_json(got->result.text());
    return terminals::done;
  }
  const auto contents = contents_of(got->result);
  if (!contents) return explain(c, contents.error());
  const auto& [bytes, binary] = *contents;
  if (!o.output.empty()) {
    if (const auto kept = write_file(o.output, bytes); !kept) return explain(c, kept.error());
    if (c.json)
      c.screen->out_json(
          json::json_object("file", o.output, "bytes", json::raw_json::own(std::to_string(bytes.size()))));
    return terminals::done;
  }
  if (!binary) {
    c.screen->out(bytes);
    if (c.screen->out_is_terminal() && !bytes.ends_with('\n')) c.screen->out("\n");
    return terminals::done;
  }
  if (c.screen->out_is_terminal()) {
    c.screen->error(o.uri + " is binary (" + std::to_string(bytes.size()) +
                    " bytes), which no terminal shows; write it into a file with --output FILE, or with > FILE");
    return terminals::usage;
  }
  c.screen->out(bytes);
  return terminals::done;
}

int resources(context& c, const resources_options& o) {
  const std::string action = o.action.empty() ? "list" : o.action;
  const auto wrong = [&](const std::string& what) {
    c.screen->error(what + "; see `mcpbx resources --help`");
    return terminals::usage;
  };
  if (std::ranges::find(resource_actions, action) == resource_actions.end())
    return wrong("`resources` knows no `" + redact::printable(action) + "`" + did_you_mean(action, resource_actions));
  if (action == "read" && o.uri.empty()) return wrong("`resources read` needs the URI of a resource");
  if (action != "read" && !o.uri.empty())
    return wrong("`resources " + action + "` takes no URI; `resources read` does");
  if (action != "read" && !o.output.empty()) return wrong("--output is for `resources read`");
  int status = 0;
  auto made = connect_or_explain(c, true, status, {.profile = o.profile});
  if (!made) return status;
  if (auto ready = link::initialize(made->link, MCPBX_VERSION, answerable(person_of(c))); !ready)
    return explain(c, ready.error());
  wait_for_servers(c, *made);
  return action == "read" ? read_resource(c, made->link, o) : list_resources(c, made->link, action == "templates");
}

verb_action declare_resources(CLI::App& page) {
  const auto o = std::make_shared<resources_options>();
  page.add_option("ACTION", o->action, "list (also without a word), templates or read")->type_name("");
  page.add_option("URI", o->uri, "read: the resource")->type_name("");
  page.add_option("-o,--output", o->output, "read: write the contents into this file")->type_name("FILE");
  page.add_option("-p,--profile", o->profile, "only the resources of this profile")->type_name("NAME");
  return [o](context& c) { return resources(c, *o); };
}

}  // namespace

verb verb_resources() {
  return {
      .name = "resources",
      .place = 5,
      .summary = "list the resources of all servers, or read one",
      .more =
          R"(A resource is what a tool server lets others read under a URI: a file, a page, a row. Not all are listed; a template
describes URIs with places to fill in, and results of tools may name more.

  list            all listed resources; with --json one array
  templates       all templates; with --json one array
  read URI        the contents: text as it is; bytes decoded, unless standard output is a terminal; several contents one
                  behind the other; with --json the result as the server sent it

Examples:
  mcpbx resources
  mcpbx resources read file:///home/me/notes.md
  mcpbx resources read shot://latest -o shot.png)",
      .declare = declare_resources,
      .actions = resource_actions};
}

}  // namespace mcpbx::cli::verbs
