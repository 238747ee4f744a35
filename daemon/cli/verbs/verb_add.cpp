// `mcpbx add`: writes the entry of a tool server into config.d.
#include "conf/edit/entry_text.hpp"
#include "conf/model/forms.hpp"
#include "conf/places.hpp"
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/config/config_write.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

struct add_options {
  std::string name;
  std::vector<std::string> words, env, headers;
  std::string cwd, env_file;
  bool lazy = false;
  config::write_wish wish;
};

bool is_address(std::string_view word) {
  return word.starts_with("http://") || word.starts_with("https://") || word.starts_with("unix:/");
}

using pairs = std::vector<std::pair<std::string, std::string>>;

/// Splits each text at its first `mark`. The error never shows the text, which may be a secret.
result<pairs> split_all(const std::vector<std::string>& texts, char mark, std::string_view option,
                        const conf::model::form& name_form, std::string_view form) {
  pairs out;
  for (const auto& text : texts) {
    const auto cut = text.find(mark);
    const auto name = text.substr(0, cut);
    if (cut == text.npos || !name_form.accepts(name))
      return fail(errc::invalid_argument, std::string(option) + " takes " + std::string(form));
    const auto from = mark == ':' ? text.find_first_not_of(' ', cut + 1) : cut + 1;
    if (std::ranges::find(out, name, &pairs::value_type::first) != out.end())
      return fail(errc::invalid_argument, std::string(option) + " names " + name + " twice: give it once");
    out.emplace_back(name, from == text.npos ? "" : text.substr(from));
  }
  return out;
}

result<conf::edit::entry_words> entry_words_of(const add_options& o) {
  conf::edit::entry_words entry;
  auto env = split_all(o.env, '=', "--env", conf::model::forms::env_name, "NAME=VALUE");
  if (!env) return std::unexpected(env.error());
  auto headers = split_all(o.headers, ':', "--header", conf::model::forms::header_name, "\"NAME: VALUE\"");
  if (!headers) return std::unexpected(headers.error());
  const bool address = is_address(o.words.front());
  if (const auto scheme = o.words.front().find("://"); !address && scheme != std::string::npos)
    return fail(errc::invalid_argument, "an address of a server begins with http:// or https://, not with " +
                                            shell_word(o.words.front().substr(0, scheme + 3)));
  if (address && o.words.size() > 1)
    return fail(errc::invalid_argument, "an address takes no arguments; headers go with --header \"NAME: VALUE\"");
  if (address && (!env->empty() || !o.cwd.empty() || !o.env_file.empty() || o.lazy))
    return fail(errc::invalid_argument,
                "--env, --env-file, --cwd and --lazy are for a server that is started by a "
                "command; a remote server takes --header");
  // A whole command between quotes is one word, and no program has that name.
  const auto& first = o.words.front();
  if (!address && o.words.size() == 1 && first.find(' ') != first.npos && ::access(first.c_str(), X_OK) != 0)
    return fail(errc::invalid_argument,
                "the command is one word with blanks, and no program has this name: leave out the quotes around it, as "
                "in `mcpbx add " +
                    shell_word(o.name) + " -- npx -y PACKAGE`");
  if (!address && !headers->empty())
    return fail(errc::invalid_argument, "--header is for a server with an address; a command takes --env NAME=VALUE");
  if (address)
    entry.url = o.words.front();
  else
    entry.command = o.words;
  entry.env = std::move(*env);
  entry.headers = std::move(*headers);
  entry.cwd = o.cwd;
  entry.env_file = o.env_file;
  entry.lazy = o.lazy;
  return entry;
}

int add(context& c, const add_options& o) {
  const auto words = entry_words_of(o);
  if (!words) return explain(c, words.error());
  const auto place = config::find_config_place(c, conf::environment_for_places());
  if (!place) return explain(c, place.error());
  const auto file = place->file_of(o.name);
  for (const auto& other : config::files_with(*place, o.name))
    if (other != file) {
      c.screen->error(shell_word(o.name) + " is in " + other.native() +
                      " already: change it there (`mcpbx edit`), or choose another name");
      return terminals::usage;
    }
  if (place->read.empty())
    c.screen->err_line(
        "mcpbx: this is your first server; the bundled toolbox, which holds without any configuration, "
        "ends with it (`mcpbx add toolbox -- mcpbx-toolbox` brings it back)");
  return config::write_entries(c, *place, {{o.name, conf::edit::entry_json(*words)}}, o.wish);
}

verb_action declare_add(CLI::App& page) {
  const auto o = std::make_shared<add_options>();
  page.add_option("NAME", o->name, "the name of the server; its tools are offered as NAME__TOOL")
      ->required()
      ->type_name("");
  page.add_option("COMMAND", o->words, "the address of the server, or -- and the command that starts it")
      ->required()
      ->expected(1, -1)
      ->type_name("");
  page.add_option("--env", o->env, "an environment variable of the server; again for more")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  page.add_option("--env-file", o->env_file, "a file of NAME=VALUE lines with more of them")->type_name("FILE");
  page.add_option("--header", o->headers, "a header for a server with an address; again for more")
      ->type_name("\"NAME: VALUE\"")
      ->allow_extra_args(false);
  page.add_option("--cwd", o->cwd, "the directory that the server runs in")->type_name("DIR");
  page.add_flag("--lazy", o->lazy, "start the server at its first use");
  config::add_write_options(page, o->wish);
  return [o](context& c) { return add(c, *o); };
}

}  // namespace

verb verb_add() {
  return {
      .name = "add",
      .place = 20,
      .summary = "add a tool server to the configuration",
      .more =
          R"(Writes config.d/NAME.json beside your config.json, never that file itself. The whole change is shown first, and mcpbx asks
unless --yes is given. A secret in clear (in --env, --header or an argument) is moved to a file that only you can read, and
the entry refers to it. A running daemon reads the new entry at once. With --config FILE or $MCPBX_CONFIG the entry is
written into that file, which keeps its comments.

Examples:
  mcpbx add files -- npx -y @modelcontextprotocol/server-filesystem ~/Documents
  mcpbx add github --env GITHUB_TOKEN=… -- github-mcp-server stdio
  mcpbx add tracker https://tracker.example/mcp --header "Authorization: Bearer …"
  mcpbx add --yes time -- mcpbx-toolbox          asks nothing)",
      .declare = declare_add,
      .beside_wrong_words = "; write -- before a command that has options of its own"};
}

}  // namespace mcpbx::cli::verbs
