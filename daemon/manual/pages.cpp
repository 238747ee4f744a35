// Pages of help, options and keys as sections of manual pages.
#include "daemon/manual/pages.hpp"

#include "conf/model/key_document.hpp"
#include "daemon/app/process/options.hpp"
#include "daemon/cli/cli.hpp"
#include "daemon/manual/roff.hpp"
#include "daemon/toolbox/help.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace mcpbx::manual {
namespace {

constexpr std::string_view version = "mcpbx " MCPBX_VERSION;
constexpr std::string_view unnamed_value = "ARG";  // of an option whose help names none

// Calls f for each page below one that has a name.
template <class F>
void for_each_page(const CLI::App& app, F&& f) {
  for (const auto* page : app.get_subcommands([](const CLI::App* s) { return !s->get_name().empty(); })) f(*page);
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string tag_of(const CLI::Option& o) {
  if (o.get_positional()) return roff_italic(o.get_name(true));
  std::string out;
  const auto add = [&](const std::string& dashes, const std::string& name) {
    out += (out.empty() ? "" : ", ") + roff_bold(dashes + name);
  };
  for (const auto& name : o.get_snames()) add("-", name);
  for (const auto& name : o.get_lnames()) add("--", name);
  if (o.get_items_expected_max() > 0)
    out += " " + roff_italic(o.get_type_name().empty() ? unnamed_value : o.get_type_name());
  return out;
}

// `is_verb`: --help goes without saying.
void add_options(roff_page& page, const CLI::App& app, bool is_verb = false) {
  for (const bool positional : {true, false})
    for (const auto* o : app.get_options())
      if (o->get_positional() == positional && !o->get_group().empty() && !(is_verb && o->check_lname("help")))
        page.tagged(tag_of(*o), roff_text(one_line(o->get_description())));
  for (const auto* group : app.get_subcommands([](const CLI::App* s) { return s->get_name().empty(); })) {
    page.paragraph(roff_bold(group->get_group() + ":"));
    add_options(page, *group, is_verb);
  }
}

// Returns the words of a command: its arguments in brackets where they may be left out.
std::string synopsis(const std::string& command, const CLI::App& app) {
  auto out = roff_bold(command) + " [" + roff_italic("OPTIONS") + "]";
  for (const auto* o : app.get_options()) {
    if (!o->get_positional()) continue;
    const auto word = roff_italic(o->get_name(true)) + (o->get_items_expected_max() > 1 ? "..." : "");
    out += o->get_required() ? " " + word : " [" + word + "]";
  }
  return out;
}

void add_verb(roff_page& page, const std::string& command, const CLI::App& verb) {
  page.subsection(command);
  page.paragraph(synopsis("mcpbx " + command, verb));
  page.paragraph(roff_text(one_line(verb.get_description()) + "."));
  add_options(page, verb, true);
  for_each_page(verb, [&](const CLI::App& below) {
    page.tagged(synopsis("mcpbx " + command + " " + below.get_name(), below),
                roff_text(one_line(below.get_description())));
    for (const auto* o : below.get_options())
      if (!o->get_positional() && o->get_items_expected_max() > 0)
        page.tagged(tag_of(*o), roff_text(one_line(o->get_description())));
  });
  page.help_text(verb.get_footer());
}

// Cuts a row of a Markdown table into its cells; the last one takes the rest.
std::vector<std::string_view> cells_of(std::string_view row, std::size_t count) {
  std::vector<std::string_view> cells;
  row.remove_prefix(std::string_view("| ").size());
  row = row.substr(0, row.rfind(" |"));
  while (cells.size() + 1 < count) {
    const auto end = row.find(" | ");
    cells.push_back(row.substr(0, end));
    row.remove_prefix(end == row.npos ? row.size() : end + 3);
  }
  cells.push_back(row);
  return cells;
}

// Adds the tables of keys, which conf writes as Markdown.
void add_keys(roff_page& page, std::string_view markdown) {
  while (!markdown.empty()) {
    const auto end = std::min(markdown.find('\n'), markdown.size());
    const auto line = markdown.substr(0, end);
    markdown.remove_prefix(std::min(end + 1, markdown.size()));
    if (line.starts_with("### ")) {
      std::string title(line.substr(4));
      std::erase(title, '`');
      page.subsection(title);
    } else if (line.starts_with("| `")) {
      const auto cells = cells_of(line, 4);
      auto what = roff_of_markdown(cells[1]);
      if (!cells[2].empty()) what += "; default: " + roff_of_markdown(cells[2]);
      page.tagged(roff_of_markdown(cells[0]) + "  (" + what + ")", roff_of_markdown(cells[3]));
    } else if (!line.empty() && !line.starts_with('|')) {
      page.paragraph(roff_of_markdown(line));
    }
  }
}

void see_also(roff_page& page, std::string_view own) {
  page.section("See also");
  std::string out;
  for (const std::string_view name : {"mcpbx(1)", "mcpbx-toolbox(1)", "mcpbx-config(5)", "mcpbxd(8)"}) {
    if (name == own) continue;
    const auto open = name.find('(');
    out += (out.empty() ? "" : ", ") + roff_bold(name.substr(0, open)) + roff_text(name.substr(open));
  }
  page.paragraph(out);
}

}  // namespace

std::string mcpbx_page() {
  roff_page page("mcpbx", 1, version, "ask a model that uses your tools, and drive the mcpbx daemon");
  cli::program::with_pages([&](const CLI::App& app) {
    page.section("Synopsis");
    page.paragraph(roff_bold("mcpbx") + " [" + roff_italic("OPTIONS") + "] " + roff_italic("VERB") + " ...");
    page.section("Description");
    page.help_text(app.get_footer());
    page.section("Options");
    add_options(page, app);
    page.section("Verbs");
    for_each_page(app, [&](const CLI::App& verb) { add_verb(page, verb.get_name(), verb); });
  });
  see_also(page, "mcpbx(1)");
  return page.str();
}

std::string mcpbxd_page() {
  roff_page page("mcpbxd", 8, version, "one daemon between your programs, your models and your tool servers");
  daemon::process::with_options([&](const CLI::App& app) {
    page.section("Synopsis");
    page.paragraph(synopsis("mcpbxd", app));
    page.section("Description");
    page.help_text(app.get_footer());
    page.section("Options");
    add_options(page, app);
  });
  see_also(page, "mcpbxd(8)");
  return page.str();
}

std::string toolbox_page() {
  roff_page page("mcpbx-toolbox", 1, version, "a small MCP server: clock, arithmetic, reading of files");
  page.section("Synopsis");
  page.paragraph(roff_bold("mcpbx-toolbox") + " [" + roff_italic("FOLDER") + "...]");
  page.section("Description");
  page.help_text(toolbox::help.substr(toolbox::help.find('\n') + 1));
  see_also(page, "mcpbx-toolbox(1)");
  return page.str();
}

std::string config_page() {
  roff_page page("mcpbx-config", 5, version, "the configuration of mcpbx");
  page.section("Description");
  page.paragraph(roff_of_markdown(
      "The daemon reads one file of JSON, in which `//` and `/* */` comments and commas behind the last element are "
      "allowed, and then the files `config.d/*.json` beside it. `mcpbxd --check-config` reads them and lists what is "
      "wrong, with file, line and column. Without any file there are the bundled tools and a model that matches "
      "words."));
  page.section("References");
  page.paragraph("Values that are text may hold references, which are looked up when the value is used:");
  for (const auto& [form, meaning] : std::array<std::pair<std::string_view, std::string_view>, 6>{
           {{"${env:NAME}", "an environment variable of the daemon"},
            {"${file:PATH}", "the content of a file; the path is absolute or starts with ~/"},
            {"${cmd:WORDS}", "what a program prints; run without a shell, for 5 s at most"},
            {"${cred:NAME}", "a credential of the service: LoadCredential= in its unit"},
            {"${NAME}, ${NAME:-default}", "in entries of mcpServers: an environment variable"},
            {"$${", "the two characters ${"}}})
    page.tagged(roff_bold(form), roff_text(meaning));
  page.section("Keys");
  add_keys(page, conf::model::key_document());
  page.section("Files");
  page.tagged(roff_italic("~/.config/mcpbx/config.json"),
              roff_text("of a person ($XDG_CONFIG_HOME/mcpbx/config.json)"));
  page.tagged(roff_italic("/etc/mcpbx/config.json"), roff_text("for those who have none"));
  page.tagged(roff_italic("/usr/share/mcpbx/mcpbx.schema.json"),
              roff_text("its JSON Schema, for editors (\"$schema\")"));
  page.tagged(roff_italic("/usr/share/doc/mcpbx/examples"), roff_text("samples"));
  see_also(page, "mcpbx-config(5)");
  return page.str();
}

}  // namespace mcpbx::manual
