// Searches for the place of our entry as import does, but among the files of the user only.
#include "daemon/cli/hosts/own_dialog.hpp"

#include "conf/hosts/programs/program_files.hpp"
#include "daemon/cli/terminal/foreign_text.hpp"
#include "mcp/support/text.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace mcpbx::cli::hosts {
namespace {

bool exists(const std::string& path) {
  struct stat s{};
  return ::lstat(path.c_str(), &s) == 0;
}

}  // namespace

const conf::programs::program* program_or_explain(context& c, const std::string& name) {
  if (const auto* found = conf::programs::find_program(name)) return found;
  c.screen->error("mcpbx knows no program " + shell_word(name) + did_you_mean(name, names_of_programs()) +
                  "; `mcpbx install --list` has all names");
  return nullptr;
}

std::span<const std::string_view> names_of_programs() {
  static const auto names = [] {
    std::vector<std::string_view> all;
    for (const auto& p : conf::programs::all_programs()) all.push_back(p.name);
    return all;
  }();
  return names;
}

std::string own_path_of(const conf::programs::program& program, const conf::environment& env) {
  std::string likeliest;
  const auto look = [&](std::string_view pattern) -> std::string {
    if (pattern.empty() || conf::programs::is_machine_path(pattern)) return "";
    for (auto& path : conf::programs::program_paths(pattern, env.values)) {
      if (exists(path)) return path;
      if (likeliest.empty()) likeliest = std::move(path);
    }
    return "";
  };
  if (!program.own_file.empty()) {
    if (auto path = look(program.own_file); !path.empty()) return path;
    return likeliest;
  }
  for (const auto pattern : program.files)
    if (auto path = look(pattern); !path.empty()) return path;
  // Of places that do not exist yet, the one whose folder does is the likeliest.
  for (const auto pattern : program.files)
    if (!pattern.empty() && !conf::programs::is_machine_path(pattern))
      for (auto& path : conf::programs::program_paths(pattern, env.values))
        if (exists(path.substr(0, path.rfind('/')))) return path;
  return likeliest;
}

void tell_lines(context& c, std::string_view head, std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    auto line = terminals::framed(head, text.substr(begin, end - begin), c.screen->err_width());
    while (line.ends_with('\n')) line.pop_back();
    c.screen->err_line(line);
    begin = end + 1;
  }
}

}  // namespace mcpbx::cli::hosts
