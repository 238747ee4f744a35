// `mcpbx tools` and `mcpbx call`.
#include "daemon/cli/call_arguments.hpp"
#include "daemon/cli/verbs.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::cli {
namespace {

result<std::string> build_arguments(const call_options& o, const raw_json& schema) {
  if (o.json_arguments.empty()) return arguments_of_words(o.arguments, schema);
  if (o.json_arguments != "-") return arguments_of_json(o.json_arguments);
  auto text = read_stdin();
  if (!text) return text;
  return arguments_of_json(*text);
}

void print_content(context& c, const raw_json& result) {
  bool any = false;
  for_each_element(find_member(result, "content"), [&](const raw_json& block) {
    const std::string type = member_text(block, "type");
    std::string text = member_text(block, "text");
    if (type == "resource") text = member_text(find_member(block, "resource"), "text");
    if (type == "resource_link") text = member_text(block, "uri");
    if (text.empty() && type != "text")
      text = "[" + type + " " + member_text(block, "mimeType") + ", " +
             std::to_string(find_member(block, "data").text().size()) + " bytes of base64; see --json]";
    if (!text.empty() && text.back() != '\n') text += '\n';
    c.screen->out(text);
    any = true;
    return true;
  });
  if (any) return;
  if (auto structured = find_member(result, "structuredContent")) c.screen->out_json(structured.text());
}

std::string no_such_tool(const std::string& name, const raw_json& similar) {
  std::string text = "there is no tool `" + printable(cut_utf8(name, 128)) + "`";
  std::string_view before = "; similar: ";
  for_each_element(similar, [&](const raw_json& one) {
    text += std::string(std::exchange(before, ", ")) + printable(one.as_string().value_or(""));
    return true;
  });
  return text + "; `mcpbx tools` lists them all, `mcpbx servers` tells why a server's may be missing";
}

// An error that the tool server answered itself says nothing of who it is; those of mcpbx do, and name their cause.
std::string words_of(const answer& a, const std::string& name, const std::string& server) {
  if (find_member(find_member(a.error, "data"), "cause") || server.empty()) return a.error_message();
  const auto code = find_member(a.error, "code").as_integer();
  return "the tool server \"" + server + "\" answered the call of " + name + " with an error" +
         (code ? " (" + std::to_string(*code) + ")" : "") + ": " + a.error_message();
}

// The first line of a description, cut for a table.
std::string summary(const raw_json& definition) {
  std::string text = member_text(definition, "description");
  text = text.substr(0, text.find('\n'));
  if (text.size() > 90) text = std::string(cut_utf8(text, 87)) + "...";
  return text;
}

}  // namespace

int tools(context& c, const tools_options& o) {
  int status = 0;
  auto made = connect_or_explain(c, true, status, {.profile = o.profile});
  if (!made) return status;
  std::string params = "{";
  if (!o.pattern.empty()) params += "\"pattern\":" + json_quoted(o.pattern);
  if (!o.format.empty()) params += std::string(params.size() > 1 ? "," : "") + "\"format\":" + json_quoted(o.format);
  const auto got = call_or_explain(c, made->link, "mcpbx/tools", params + "}", status);
  if (!got) return status;
  for (const std::string_view told : {"changed", "leftOut", "dropped"})
    for_each_element(find_member(*got, told), [&](const raw_json& tool) {
      c.screen->err_line(printable(member_text(tool, "reason")));
      return true;
    });
  const raw_json list = find_member(*got, "tools");
  if (const auto prompt = find_member(*got, "prompt"); prompt && !c.json) {
    c.screen->out_line(prompt.as_string().value_or(""));
    return done;
  }
  if (c.json || !o.format.empty()) {
    c.screen->out_json(list ? list.text() : got->text());
    return done;
  }
  std::vector<std::vector<std::string>> rows;
  for_each_element(list, [&](const raw_json& tool) {
    rows.push_back({member_text(tool, "name"), summary(tool)});
    return true;
  });
  if (rows.empty()) {
    c.screen->err_line(o.pattern.empty() ? "no tools; `mcpbx servers` tells how the tool servers are"
                                         : "no tool matches " + o.pattern);
    return done;
  }
  c.screen->out(table(rows));
  return done;
}

int call(context& c, const call_options& o) {
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  connection& link = made->link;
  if (auto ready = initialize(link, MCPBX_VERSION); !ready) return explain(c, ready.error());
  auto listed = link.call("mcpbx/tools", "{\"name\":" + json_quoted(o.name) + "}");
  if (!listed) return explain(c, listed.error());
  if (listed->error) return explain(c, *listed);
  raw_json definition;
  for_each_element(find_member(listed->result, "tools"), [&](const raw_json& tool) {
    definition = tool;
    return false;
  });
  auto arguments = build_arguments(o, find_member(definition, "inputSchema"));
  if (!arguments) return explain(c, arguments.error());

  catch_interrupts();
  const bool watch = c.screen->err_is_terminal() && !c.json;
  std::string params = "{\"name\":" + json_quoted(o.name) + ",\"arguments\":" + *arguments;
  if (watch) params += ",\"_meta\":{\"progressToken\":\"call\"}";
  // Without a handler for Ctrl-C: MCP answers no cancelled call, so there is nothing to wait for; the connection that
  // closes cancels it.
  auto got = link.call("tools/call", params + "}", [&](std::string_view method, const raw_json& p) {
    if (!watch || method != "notifications/progress") return;
    std::string line = member_text(p, "message");
    if (line.empty()) line = "progress " + std::string(find_member(p, "progress").text());
    c.screen->status(line);
  });
  c.screen->clear_status();
  if (!got) return explain(c, got.error());
  if (got->error) {
    if (const raw_json similar = find_member(find_member(got->error, "data"), "similar")) {
      c.screen->error(no_such_tool(o.name, similar));
      return no_such;
    }
    c.screen->error(words_of(*got, o.name, member_text(listed->result, "server")));
    return status_of(*got);
  }
  const bool is_error = find_member(got->result, "isError").is_true();
  if (c.json) {
    c.screen->out_json(got->result.text());
  } else if (is_error) {
    std::string why;
    for_each_element(find_member(got->result, "content"), [&](const raw_json& block) {
      why += (why.empty() ? "" : "\n") + member_text(block, "text");
      return true;
    });
    c.screen->error("the tool " + o.name + " returned an error: " + why);
  } else {
    print_content(c, got->result);
  }
  return is_error ? no_answer : done;
}

}  // namespace mcpbx::cli
