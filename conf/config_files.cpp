// Search and reading of configuration files. The checks use the open descriptor, so nobody can swap the file between
// the check and the read.
#include "conf/config_files.hpp"

#include "conf/model/references.hpp"
#include "mcp/support/text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace mcpbx::conf {
namespace {

namespace fs = std::filesystem;

struct descriptor {
  int fd;
  explicit descriptor(int f) : fd(f) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

bool is_there(const fs::path& p) {
  struct stat s{};
  return ::stat(p.c_str(), &s) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/// Returns true if the path exists or cannot be examined. A dangling link counts, so that reading it gives an error.
bool is_named(const fs::path& p) {
  struct stat s{};
  return ::lstat(p.c_str(), &s) == 0 || errno != ENOENT;
}

/// Fails unless only `user` and root can change the file or directory that `s` describes.
result<void> guarded(const fs::path& path, const struct stat& s, uid_t user) {
  const bool directory = S_ISDIR(s.st_mode);
  const std::string what = directory ? "the directory " : "the file ";
  if (s.st_uid != user && s.st_uid != 0)
    return fail(errc::config, what + path.native() + " belongs to user " + std::to_string(s.st_uid) +
                                  ", who could change the configuration: run `chown " + std::to_string(user) + " " +
                                  shell_word(path.native()) + "`");
  if ((s.st_mode & 022) == 0 || (directory && (s.st_mode & S_ISVTX) != 0)) return {};
  return fail(errc::config,
              what + path.native() + " can be written by " + ((s.st_mode & 002) != 0 ? "everybody" : "its group") +
                  ", who could change the configuration: run `chmod go-w " + shell_word(path.native()) + "`");
}

result<void> guarded_directory(const fs::path& directory, uid_t user) {
  struct stat s{};
  if (::stat(directory.c_str(), &s) != 0)
    return fail(errc::config, "cannot look at the directory " + directory.native() + " (" + std::strerror(errno) +
                                  "): check its permissions");
  return guarded(directory, s, user);
}

/// Returns the JSON files of `config.d` in name order; none without such a folder.
result<std::vector<fs::path>> drop_ins(const fs::path& directory) {
  std::vector<fs::path> found;
  if (!is_named(directory)) return found;
  std::error_code failed;
  for (fs::directory_iterator i(directory, failed), end; !failed && i != end; i.increment(failed))
    if (const auto name = i->path().filename().native(); name.ends_with(".json") && !name.starts_with('.'))
      found.push_back(i->path());
  if (failed)
    return fail(errc::config, "cannot read the folder " + directory.native() + " (" + failed.message() +
                                  "), whose files belong to the configuration: make it a folder that you can read, or "
                                  "remove it");
  std::ranges::sort(found);
  return found;
}

result<std::vector<fs::path>> files_of(const fs::path& directory) {
  std::vector<fs::path> found;
  struct stat s{};
  if (::lstat(directory.c_str(), &s) != 0 && (errno == ENOENT || errno == ENOTDIR)) return found;
  if (::stat(directory.c_str(), &s) != 0)
    return fail(errc::config, "cannot look at the folder " + directory.native() + " (" + std::strerror(errno) +
                                  "), where the configuration is: make it a folder that you can read, or remove it");
  if (is_named(directory / "config.json")) found.push_back(directory / "config.json");
  auto more = drop_ins(directory / "config.d");
  if (!more) return more;
  for (auto& d : *more) found.push_back(std::move(d));
  return found;
}

result<read_source> read_source_at(const fs::path& path, std::optional<uid_t> asked) {
  const uid_t user = asked.value_or(::geteuid());
  const auto cannot = [&](const char* what) {
    return fail(errc::config, std::string("cannot ") + what + " " + path.native() + " (" + std::strerror(errno) +
                                  "): check the path and its permissions");
  };
  // Not blocking: a pipe under this name must be refused, not waited for.
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.fd < 0) return cannot("open");
  read_source source{path.native(), {}, {}};
  const struct stat& s = source.seen;
  if (::fstat(file.fd, &source.seen) != 0) return cannot("look at");
  if (!S_ISREG(s.st_mode))
    return fail(errc::config, path.native() + " is no regular file: write the configuration to a file and name that");
  if (auto good = guarded(path, s, user); !good) return std::unexpected(std::move(good.error()));

  // A link is as safe as the directory it stands in and the one it leads to.
  std::error_code failed;
  const auto parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (auto good = guarded_directory(parent, user); !good) return std::unexpected(std::move(good.error()));
  if (const auto real = fs::canonical(path, failed).parent_path(); !failed)
    if (auto good = guarded_directory(real, user); !good) return std::unexpected(std::move(good.error()));

  std::string& text = source.text;
  char block[65536];
  while (true) {
    const auto n = ::read(file.fd, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot("read");
    if (n == 0) return source;
    text.append(block, static_cast<std::size_t>(n));
    if (text.size() > max_file_bytes)
      return fail(
          errc::limit,
          path.native() + " has more than 4 MiB, which no configuration needs: check that it is the right file");
  }
}

}  // namespace

result<std::vector<fs::path>> find_files(const environment& env, const file_options& options) {
  const auto named = [&](const std::string& path, const std::string& by) -> result<std::vector<fs::path>> {
    const fs::path expanded = model::expand_home(path, env.get("HOME").value_or(""));
    if (path.empty() || !is_there(expanded))
      return fail(errc::config,
                  "there is no file " + shell_word(expanded.native()) + ", which " + by + " names: correct the path");
    return std::vector{expanded};
  };
  if (options.flag) return named(*options.flag, "--config");
  if (const auto v = env.filled("MCPBX_CONFIG")) return named(*v, "MCPBX_CONFIG");
  if (const auto user = user_config_directory(env)) {
    auto own = files_of(*user);
    if (!own || !own->empty()) return own;
  }
  return files_of(options.system_directory);
}

result<std::string> read_file(const fs::path& path, std::optional<uid_t> user) {
  auto source = read_source_at(path, user);
  if (!source) return std::unexpected(std::move(source.error()));
  return std::move(source->text);
}

result<void> check_directory(const fs::path& directory, std::optional<uid_t> user) {
  return guarded_directory(directory, user.value_or(::geteuid()));
}

loaded_files load_files(const environment& env, const file_options& options) {
  const auto paths = find_files(env, options);
  loaded_files out;
  std::vector<documents::diagnostic> unreadable;
  if (!paths) {
    unreadable.push_back({"", 0, 0, paths.error().message, "", ""});
  } else {
    for (const auto& p : *paths) {
      auto source = read_source_at(p, options.user);
      if (source)
        out.read.push_back(std::move(*source));
      else
        unreadable.push_back({"", 0, 0, std::move(source.error().message), "", ""});
    }
  }
  std::vector<source_text> texts;
  for (const auto& r : out.read) texts.push_back({r.path, r.text});
  if (unreadable.empty() || !texts.empty()) static_cast<loaded&>(out) = load(texts, env);
  out.errors.insert(out.errors.begin(), unreadable.begin(), unreadable.end());
  return out;
}

}  // namespace mcpbx::conf
