// `mcpbx reload`: has the daemon read its configuration again.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace mcpbx::cli {
namespace {

std::vector<std::string> texts_in(const raw_json& object, std::string_view key) {
  std::vector<std::string> texts;
  for_each_element(find_member(object, key), [&](const raw_json& one) {
    texts.push_back(one.as_string().value_or(""));
    return true;
  });
  return texts;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& w : words) out += (out.empty() ? "" : ", ") + w;
  return out;
}

int reload(context& c) {
  int code = 0;
  auto made = connect_or_explain(c, false, code, {.of_age = false});
  if (!made) return code;
  auto got = call_or_explain(c, made->link, "mcpbx/reload", "{}", code);
  if (!got) return code;
  if (c.json) {
    c.screen->out_json(got->text());
    return done;
  }
  for (const auto& notice : texts_in(*got, "notices")) c.screen->err_line(notice);
  const auto files = texts_in(*got, "files"), waiting = texts_in(*got, "fromNextStart");
  c.screen->out_line(files.empty() ? "in force: the defaults, since there is no configuration file"
                                   : "in force: " + joined(files));
  if (!waiting.empty())
    c.screen->out_line("from the daemon's next start: " + joined(waiting) + " (`mcpbx stop` ends this one)");
  return done;
}

}  // namespace

verb verb_reload() {
  return {
      .name = "reload",
      .place = 12,
      .summary = "have the daemon read its configuration again",
      .more =
          R"(A wrong file changes nothing, and its errors are printed. Tool servers whose entries are the same keep running, and
runs end with what they began with. SIGHUP does the same.)",
      .declare = [](CLI::App&) -> verb_action { return reload; }};
}

}  // namespace mcpbx::cli
