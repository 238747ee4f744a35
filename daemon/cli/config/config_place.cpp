// The search itself is conf::find_files(); this adds the places where nothing stands yet.
#include "daemon/cli/config/config_place.hpp"

#include "conf/edit/entry_text.hpp"
#include "conf/places.hpp"
#include "mcp/support/text.hpp"

#include <unistd.h>

#include <system_error>

namespace mcpbx::cli::config {
namespace {

namespace fs = std::filesystem;

/// Returns the path with its links followed, so that a file is replaced where it is and not where a link leads to it.
fs::path real_path(const fs::path& path) {
  std::error_code failed;
  auto real = fs::canonical(path, failed);
  return failed ? path : real;
}

}  // namespace

fs::path config_place::file_of(std::string_view name) const {
  return file ? *file : folder / "config.d" / conf::edit::entry_file_name(name);
}

std::optional<std::string> config_place::text_of(const fs::path& path) const {
  for (const auto& r : read)
    if (r.path == path.native()) return r.text;
  return std::nullopt;
}

result<config_place> find_config_place(const context& c, const conf::environment& env,
                                       const fs::path& system_directory) {
  conf::file_options options;
  options.system_directory = system_directory;
  if (!c.place.config.empty()) options.flag = c.place.config;
  const auto files = conf::find_files(env, options);
  if (!files) return std::unexpected(files.error());
  config_place out;
  for (const auto& path : *files) {
    auto text = conf::read_file(path);
    if (!text) return std::unexpected(text.error());
    out.read.push_back({path.native(), {}, std::move(*text)});
  }
  if (options.flag || env.filled("MCPBX_CONFIG")) {
    out.read.front().path = real_path(files->front()).native();
    out.file = out.read.front().path;
    out.folder = out.file->parent_path();
    return out;
  }
  const auto own = conf::user_config_directory(env);
  const bool of_system = !files->empty() && (!own || !files->front().native().starts_with(own->native() + "/"));
  if (of_system) {
    if (::access(system_directory.c_str(), W_OK) != 0)
      return fail(errc::config,
                  "the configuration in force is " + files->front().native() +
                      ", which only root may change: run this with sudo, or begin your own with `mkdir -p " +
                      shell_word(own ? own->native() : "~/.config/mcpbx") + " && cp " +
                      shell_word(files->front().native()) + " " +
                      shell_word(((own ? *own : fs::path("~/.config/mcpbx")) / "config.json").native()) + "`");
    out.folder = system_directory;
    return out;
  }
  if (!own)
    return fail(errc::config,
                "there is no place for a configuration, since HOME is not set: set it, or name a file "
                "with --config");
  out.folder = *own;
  return out;
}

}  // namespace mcpbx::cli::config
