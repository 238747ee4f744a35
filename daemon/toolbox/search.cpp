// The tool search_files: finds names by text or glob and contents by text, bounded in entries, bytes, depth and
// results.
#include "daemon/toolbox/files.hpp"
#include "daemon/toolbox/toolbox_tools.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

namespace mcpbx::toolbox {
namespace {

constexpr std::size_t max_entries = 50'000;
constexpr std::size_t max_bytes = 64u << 20;
constexpr std::size_t max_file_bytes = 8u << 20;
constexpr std::size_t max_line_shown = 300;
constexpr std::size_t max_matches_per_file = 20;
constexpr int max_depth = 64;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

class search {
 public:
  std::string name, text;
  bool case_sensitive = false, hidden = false;
  std::size_t limit = 100;

  /// Walks one folder; `relative` is its path below the folder that was given.
  void walk(const folder& root, const std::string& relative, int depth) {
    if (done() || depth > max_depth) return;
    const int fd = open_beneath(root.fd.get(), relative, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    if (fd < 0) return;
    const auto entries = entries_of(descriptor(fd));
    if (!entries) return;
    for (const auto& e : *entries) {
      if (done()) return;
      if (!hidden && e.name.starts_with('.')) continue;
      if (++entries_ > max_entries) {
        stopped_ = "more than 50,000 entries were looked at";
        return;
      }
      const auto path = relative.empty() ? e.name : relative + "/" + e.name;
      if (matches_name(e.name, path)) {
        if (text.empty())
          add(root.path + "/" + path + (S_ISDIR(e.mode) ? "/" : ""));
        else if (S_ISREG(e.mode))
          look_into(root, path);
      }
      if (S_ISDIR(e.mode)) walk(root, path, depth + 1);
    }
  }

  answer take() {
    answer out;
    if (found_ == 0) lines_ = "Nothing was found.";
    out.texts.push_back(std::move(lines_));
    if (!stopped_.empty()) out.texts.push_back("The search stopped early: " + stopped_ + ". Narrow it down.");
    return out;
  }

 private:
  bool done() const { return !stopped_.empty(); }

  void add(std::string_view line) {
    if (found_ == limit) {
      stopped_ = "there are more than " + std::to_string(limit) + " results";
      return;
    }
    ++found_;
    lines_ += redact::printable(line);
    lines_ += '\n';
  }

  std::string folded(std::string_view t) const { return case_sensitive ? std::string(t) : lower(t); }

  bool matches_name(const std::string& entry_name, const std::string& path) const {
    if (name.empty()) return true;
    const auto wanted = folded(name);
    if (name.find_first_of("*?") == std::string::npos) return folded(entry_name).find(wanted) != std::string::npos;
    return glob_match(wanted, folded(name.find('/') == std::string::npos ? entry_name : path));
  }

  void look_into(const folder& root, const std::string& path) {
    const descriptor fd(std::max(open_beneath(root.fd.get(), path, O_RDONLY | O_NONBLOCK | O_NOCTTY), -1));
    struct stat info{};
    if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return;
    std::string content;
    content.resize(std::min<std::size_t>(static_cast<std::size_t>(info.st_size), max_file_bytes));
    std::size_t size = 0;
    while (size < content.size()) {
      const auto n = ::read(fd.get(), content.data() + size, content.size() - size);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      size += static_cast<std::size_t>(n);
    }
    content.resize(size);
    if (is_binary(std::string_view(content).substr(0, 4096))) return;
    if ((bytes_ += size) > max_bytes) stopped_ = "more than 64 MiB were read";
    look_at_lines(root.path + "/" + path, content);
  }

  void look_at_lines(const std::string& shown, std::string_view content) {
    const auto wanted = folded(text);
    const auto searched = folded(content);
    std::size_t line = 1, line_begin = 0, matches = 0;
    for (auto at = searched.find(wanted); at != std::string::npos && found_ <= limit;) {
      for (auto end = content.find('\n', line_begin); end != std::string_view::npos && end < at;
           end = content.find('\n', line_begin)) {
        ++line;
        line_begin = end + 1;
      }
      auto line_end = content.find('\n', at);
      if (line_end == std::string_view::npos) line_end = content.size();
      if (++matches > max_matches_per_file) return add(shown + ": more matches");
      // Shows a long line from a little before the match.
      const auto begin = at - line_begin > max_line_shown / 2 ? at - 40 : line_begin;
      add(shown + ":" + std::to_string(line) + ": " +
          std::string(cut_utf8(content.substr(begin, line_end - begin), max_line_shown)));
      if (done()) return;
      at = searched.find(wanted, line_end);
    }
  }

  std::string lines_, stopped_;
  std::size_t found_ = 0, entries_ = 0, bytes_ = 0;
};

result<answer> search_files(const context& c, const arguments& a) {
  search s;
  const auto name = a.text("name", "");
  if (!name) return std::unexpected(name.error());
  const auto text = a.text("text", "");
  if (!text) return std::unexpected(text.error());
  const auto path = a.text("path", "");
  if (!path) return std::unexpected(path.error());
  const auto limit = a.integer("maxResults", 100, 1, 1000);
  if (!limit) return std::unexpected(limit.error());
  const auto sensitive = a.flag("caseSensitive", false);
  if (!sensitive) return std::unexpected(sensitive.error());
  const auto hidden = a.flag("hidden", false);
  if (!hidden) return std::unexpected(hidden.error());
  if (name->empty() && text->empty())
    return fail(
        errc::invalid_argument,
        "Give \"name\" (part of a file name, or a pattern such as *.txt), \"text\" (to look for in files) or both.");
  if (text->find('\n') != std::string::npos)
    return fail(errc::invalid_argument, "\"text\" is looked for within lines and cannot hold a line break.");
  s.name = *name;
  s.text = *text;
  s.limit = static_cast<std::size_t>(*limit);
  s.case_sensitive = *sensitive;
  s.hidden = *hidden;
  if (path->empty()) {
    for (const auto& f : c.files.list()) s.walk(f, "", 0);
  } else {
    const auto place = c.files.open_path(*path, O_PATH | O_DIRECTORY);
    if (!place) return std::unexpected(place.error());
    s.walk(*place->root, place->relative, 0);
  }
  return s.take();
}

constexpr tool search_tool_list[] = {
    {"search_files", "Search files",
     "Searches a folder and all below it for files by name, for text in files, or for text in files of some name. "
     "Links are "
     "not followed.",
     R"({"name":{"type":"string","description":"Part of the name, or a pattern: *.txt, or with a slash for the path below the folder: src/*.cpp"},)"
     R"("text":{"type":"string","description":"Text to look for in the files; answers are path:line: the line"},)"
     R"("path":{"type":"string","description":"The folder to search; left out: all that can be read"},)"
     R"("maxResults":{"type":"integer","minimum":1,"maximum":1000,"description":"100 when left out"},)"
     R"("caseSensitive":{"type":"boolean","description":"false when left out"},)"
     R"("hidden":{"type":"boolean","description":"Whether names that begin with a dot count too; false when left out"}})",
     "", "", search_files},
};

}  // namespace

std::span<const tool> search_tools() {
  return search_tool_list;
}

}  // namespace mcpbx::toolbox
