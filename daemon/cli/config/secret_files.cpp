// Files are only created, never changed: an existing one with another content belongs to another secret, in spite of
// its name.
#include "daemon/cli/config/secret_files.hpp"

#include "conf/edit/literal_secrets.hpp"
#include "mcp/files/whole_file.hpp"

#include <algorithm>
#include <optional>

namespace mcpbx::cli::config {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_secret = 64 * 1024, longest_name = 120;

/// Returns a word for a file's name: letters, digits, `.`, `_` and `-`.
std::string word_for_file(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, longest_name)) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.';
    out += plain && !(c == '.' && out.empty()) ? c : '_';
  }
  return out.empty() ? "secret" : out;
}

/// Returns true if the file holds this value, as resolving it would read it.
bool holds(const fs::path& file, std::string_view value) {
  const auto text = files::read_whole_file(file.native(), longest_secret);
  return text && *text && std::string_view(**text).substr(0, (*text)->find_last_not_of("\r\n") + 1) == value;
}

bool is_free(const fs::path& file) {
  std::error_code failed;
  return fs::symlink_status(file, failed).type() == fs::file_type::not_found;
}

std::string reference_to(const fs::path& file, const fs::path& home) {
  const auto& path = file.native();
  const std::string front = home.native() + "/";
  const bool below = !home.empty() && path.starts_with(front);
  return "${file:" + (below ? "~/" + path.substr(front.size()) : path) + "}";
}

}  // namespace

moved_entry plan_secrets(std::string_view name, std::string_view entry, const fs::path& folder, const fs::path& home,
                         std::vector<fs::path>& taken) {
  const auto found = conf::edit::literal_secrets(entry, conf::edit::text_of::server_entry);
  moved_entry out;
  std::vector<std::string> by;
  for (const auto& secret : found) {
    const auto base = folder / "secrets" / (word_for_file(name) + "." + word_for_file(secret.label));
    // A value that ends in a line break would lose it in a file; it is kept where it is.
    const bool movable =
        secret.value.find_last_of("\r\n") != secret.value.size() - 1 && secret.value.size() <= longest_secret;
    if (!movable) {
      by.push_back(secret.value);
      continue;
    }
    fs::path file = base;
    bool is_there = false;
    for (int n = 2;; ++n) {
      const bool ours = std::ranges::find(taken, file) != taken.end();
      const auto same = std::ranges::find_if(out.secrets, [&](const moved_secret& m) { return m.file == file; });
      if (same != out.secrets.end() ? same->value == secret.value : !ours && is_free(file)) break;
      if (!ours && (is_there = holds(file, secret.value))) break;
      file = base.native() + "-" + std::to_string(n);
    }
    taken.push_back(file);
    by.push_back(reference_to(file, home));
    out.secrets.push_back({secret.path, file, secret.value, is_there});
  }
  out.entry = conf::edit::with_replaced(entry, found, by);
  return out;
}

result<void> write_secrets(const std::vector<moved_secret>& secrets) {
  std::vector<fs::path> written;
  for (const auto& s : secrets) {
    if (s.is_there || std::ranges::find(written, s.file) != written.end()) continue;
    auto done = files::make_folder_of(s.file.native());
    written.push_back(s.file);
    if (done) done = files::replace_whole_file(s.file.native(), s.value + "\n");
    if (done) continue;
    for (const auto& file : written) (void)files::remove_whole_file(file.native());
    return done;
  }
  return {};
}

void take_back_secrets(const std::vector<moved_secret>& secrets) {
  for (const auto& s : secrets)
    if (!s.is_there) (void)files::remove_whole_file(s.file.native());
}

}  // namespace mcpbx::cli::config
