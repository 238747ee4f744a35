// Manual pages: text that roff would take for something else, and pages that have all that the tables have.
#include "conf/model/spec.hpp"
#include "daemon/cli/cli.hpp"
#include "daemon/manual/made_files.hpp"
#include "daemon/manual/pages.hpp"
#include "daemon/manual/roff.hpp"
#include "test/support/contains.hpp"

#include <CLI/CLI.hpp>
#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace mcpbx;
using namespace mcpbx::manual;
using mcpbx::test::contains;

TEST_CASE("manual: no text becomes a request or an escape") {
  CHECK(roff_text("a\\fBb --x 'y' `z` ~^") == "a\\(rsfBb \\-\\-x \\(aqy\\(aq \\(gaz\\(ga \\(ti\\(ha");
  CHECK(roff_text("→…é") == "\\[u2192]...\\[u00E9]");
  CHECK(roff_text("😀") == "\\[u1F600]");
  roff_page page("x", 1, "v", "about");
  page.paragraph(roff_text(".so /etc/passwd\n'br"));
  page.tagged(roff_text(".tag"), roff_text(".body"));
  page.verbatim(".line\n\n'other");
  for (const auto* wrong : {"\n.so", "\n.tag", "\n.body", "\n.line", "\n'"}) CHECK_FALSE(contains(page.str(), wrong));
}

TEST_CASE("manual: Markdown keeps its words") {
  CHECK(roff_of_markdown("`a`, [b](c#d) and **e `f`**") == "\\fBa\\fR, b and \\fBe \\fBf\\fR\\fR");
  CHECK(roff_of_markdown("2 * 3 ` [x") == "2 * 3 \\(ga [x");
}

TEST_CASE("manual: help keeps its tables and its paragraphs") {
  roff_page page("x", 1, "v", "about");
  page.help_text("One.\nTwo.\n\n  a  b\n  c  d\nExamples:\n  x");
  CHECK(
      contains(page.str(),
               ".PP\nOne.\nTwo.\n.PP\n.RS 4\n.nf\na  b\nc  d\n.fi\n.RE\n.PP\n\\fBExamples:\\fR\n.PP\n.RS 4\n.nf\nx\n"));
}

TEST_CASE("O6: mcpbx(1) has each verb and each of its options") {
  const auto page = mcpbx_page();
  cli::program::with_pages([&](const CLI::App& app) {
    for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
      CAPTURE(verb->get_name());
      CHECK(contains(page, ".SS \"" + verb->get_name() + "\"\n"));
      for (const auto* o : verb->get_options())
        for (const auto& name : o->get_lnames()) CHECK(contains(page, roff_bold("--" + name)));
    }
  });
  CHECK(contains(page, "130  interrupted"));
}

TEST_CASE("O6: mcpbx-config(5) has each key at the top and of a server") {
  const auto page = config_page();
  for (const auto& key : conf::model::root_section().keys) {
    CAPTURE(key.name);
    CHECK(contains(page, roff_bold(key.name)));
    if (key.inner != nullptr)
      for (const auto& below : key.inner->keys) CHECK(contains(page, roff_bold(below.name)));
  }
  CHECK(contains(page, "${cred:NAME}"));
}

TEST_CASE("manual: the other two programs have pages with their options") {
  CHECK(contains(mcpbxd_page(), "\\fB\\-\\-check\\-config\\fR"));
  CHECK_FALSE(contains(mcpbxd_page(), "private\\-folder"));
  CHECK(contains(toolbox_page(), "\\fIFOLDER\\fR"));
}

TEST_CASE("manual: pages, completions and units are made, each once") {
  std::set<std::string> paths;
  for (const auto& file : made_files()) {
    CAPTURE(file.path);
    CHECK(paths.insert(file.path).second);
    CHECK(file.text.size() > 100);
    CHECK(file.text.ends_with('\n'));
  }
  for (const auto* path : {"man/man5/mcpbx-config.5", "completion/zsh/_mcpbx", "systemd/user/mcpbx.socket",
                           "systemd/system/mcpbx@.service"})
    CHECK(paths.contains(path));
}
