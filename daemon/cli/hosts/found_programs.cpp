// Other programs' files may be links and may belong to anybody: they are only read, and their contents are shown before
// they are used.
#include "daemon/cli/hosts/found_programs.hpp"

#include "conf/hosts/programs/program_files.hpp"
#include "mcp/files/whole_file.hpp"
#include "mcp/support/text.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace mcpbx::cli::hosts {
namespace {

namespace fs = std::filesystem;

/// Adds the first file that a pattern stands for and that exists. One that `narrows` and cannot be read is added with a
/// broken text.
void add_file(std::string_view pattern, const conf::environment& env, std::vector<conf::imports::foreign_file>& into,
              std::vector<std::string>& unreadable, bool narrows) {
  for (const auto& path : conf::programs::program_paths(pattern, env.values)) {
    auto text = files::read_whole_file(path, conf::read::max_foreign_bytes);
    if (text && !*text) continue;
    if (!text) unreadable.push_back(text.error().message);
    if (text)
      into.push_back({path, std::move(**text), "", false});
    else if (narrows)
      into.push_back({path, "", "", true});
    return;
  }
}

/// Adds the rules that hold for a project's file: those of its folder, and those of the user's own files.
void add_project_rules(found_program& found, const std::string& folder, const conf::environment& env) {
  for (const auto end : found.program->project_rules)
    if (!end.empty() && !folder.empty()) add_file(folder + std::string(end), env, found.beside, found.unreadable, true);
  if (!found.program->rules_in_files) return;
  std::vector<conf::imports::foreign_file> others;
  for (const auto pattern : found.program->files) add_file(pattern, env, others, found.unreadable, true);
  for (auto& other : others) {
    if (other.path == found.files.front().path) continue;
    other.rules_only = true;
    found.files.push_back(std::move(other));
  }
}

std::string names_of(const std::vector<const conf::programs::program*>& programs) {
  std::string out;
  for (const auto* p : programs) out += (out.empty() ? "" : ", ") + std::string(p->name);
  return out;
}

}  // namespace

std::vector<std::string> places_of(const conf::programs::program& program, const conf::environment& env) {
  std::vector<std::string> out;
  for (const auto pattern : program.files)
    for (auto& path : conf::programs::program_paths(pattern, env.values)) out.push_back(std::move(path));
  return out;
}

found_program look_for(const conf::programs::program& program, const conf::environment& env) {
  found_program out{&program, {}, {}, {}};
  for (const auto pattern : program.files) add_file(pattern, env, out.files, out.unreadable, program.rules_in_files);
  if (out.files.empty()) return out;
  for (const auto pattern : program.beside) add_file(pattern, env, out.beside, out.unreadable, true);
  return out;
}

result<found_program> look_at(const std::string& path, const conf::programs::program* as,
                              const conf::environment& env) {
  std::error_code failed;
  const auto whole = fs::absolute(path, failed).lexically_normal().native();
  if (failed) return fail(errc::config, path + " is no path: " + failed.message());
  auto text = files::read_whole_file(whole, conf::read::max_foreign_bytes);
  if (!text) return fail(errc::config, text.error().message);
  if (!*text) return fail(errc::config, "there is no file " + shell_word(whole) + ": correct the path");
  found_program out{as, {}, {}, {}};
  std::string folder;
  for (const auto& p : conf::programs::all_programs())
    for (const auto& place : places_of(p, env))
      if (place == whole && as == nullptr) out.program = &p;
  const auto project = conf::programs::project_of(whole);
  if (project.of != nullptr && (out.program == nullptr || out.program == project.of)) {
    // The home folder is no project: its files are the user's.
    if (project.folder != env.get("HOME").value_or("")) folder = project.folder;
    out.program = project.of;
  }
  if (out.program == nullptr) {
    std::vector<conf::documents::diagnostic> errors;
    const auto format = conf::programs::format_of(whole);
    const auto tree = conf::read::read_foreign(format, **text, 0, whole, errors);
    if (!errors.empty()) return fail(errc::config, errors.front().text());
    const auto like = conf::programs::programs_like(tree, format);
    if (like.size() != 1)
      return fail(errc::config,
                  whole + (like.empty() ? " could be of any program" : " could be of " + names_of(like)) +
                      ", and these differ in units and meanings: add --from PROGRAM (`mcpbx install --list` "
                      "has the names)");
    out.program = like.front();
  }
  out.files.push_back({whole, std::move(**text), folder, false});
  if (out.program == project.of) add_project_rules(out, folder, env);
  for (const auto pattern : out.program->beside) add_file(pattern, env, out.beside, out.unreadable, true);
  return out;
}

}  // namespace mcpbx::cli::hosts
