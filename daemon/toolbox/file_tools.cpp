// The tools list_files, read_file and file_info, which only read below the folders that the user gave.
#include "daemon/toolbox/clock.hpp"
#include "daemon/toolbox/files.hpp"
#include "daemon/toolbox/toolbox_tools.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace mcpbx::toolbox {
namespace {

constexpr std::size_t max_listed = 1000;
constexpr std::size_t max_read_bytes = 256u << 10;
constexpr std::int64_t max_line = 1'000'000'000;
// Bounds the search for a line in a large file, which reads from the beginning.
constexpr std::size_t max_scanned_bytes = 64u << 20;

result<answer> list_files(const context& c, const arguments& a) {
  const auto path = a.text("path", "");
  if (!path) return std::unexpected(path.error());
  if (path->empty() && c.files.list().size() > 1) {
    std::string text;
    for (const auto& f : c.files.list()) text += "folder  " + redact::printable(f.path.empty() ? "/" : f.path) + "\n";
    return answer{{text}, {}};
  }
  auto place = c.files.open_path(*path, O_RDONLY | O_NONBLOCK | O_DIRECTORY);
  if (!place) return std::unexpected(place.error());
  const auto shown = redact::printable(place->shown());
  const auto entries = entries_of(std::move(place->fd));
  if (!entries) return std::unexpected(entries.error());
  std::string text = shown + "\n";
  for (std::size_t i = 0; i < entries->size() && i < max_listed; ++i) {
    const auto& e = (*entries)[i];
    text += std::string(kind_name(e.mode)) + "  " + redact::printable(e.name);
    if (S_ISREG(e.mode)) text += "  " + std::to_string(e.size) + " bytes";
    text += '\n';
  }
  if (entries->empty()) text += "(empty)\n";
  answer out{{std::move(text)}, {}};
  if (entries->size() > max_listed)
    out.texts.push_back(std::to_string(entries->size() - max_listed) +
                        " more entries are not shown; search_files finds them by name.");
  return out;
}

/// Collects the requested lines piece by piece, so that a large file costs no memory.
class line_window {
 public:
  line_window(std::int64_t first, std::int64_t count) : first_(first), last_(first + count - 1) {}

  /// Takes the next bytes. Returns false if no more are wanted.
  bool take(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto end = bytes.find('\n');
      const auto piece = bytes.substr(0, end == std::string_view::npos ? bytes.size() : end + 1);
      if (line_ > last_) return false;
      if (line_ >= first_) {
        if (text_.size() + piece.size() > max_read_bytes) {
          stop(piece);
          return false;
        }
        text_ += piece;
      }
      if (end == std::string_view::npos) {
        open_line_ = true;
        return true;
      }
      open_line_ = false;
      ++line_;
      bytes.remove_prefix(piece.size());
    }
    return true;
  }

  std::string text_;
  bool cut_line_ = false;  ///< the text is the beginning of one long line
  /// Returns the first line that was not taken whole.
  std::int64_t next_line() const { return line_ + (open_line_ ? 1 : 0); }

  /// Stops before the end of the file. Keeps only whole lines, unless the first one alone is too long.
  void stop(std::string_view piece = {}) {
    if (const auto end = text_.rfind('\n'); end != std::string::npos) {
      text_.resize(end + 1);
    } else {
      text_ += piece.substr(0, max_read_bytes - text_.size());
      text_.resize(cut_utf8(text_, text_.size()).size());
      cut_line_ = true;
    }
    open_line_ = false;
  }

 private:
  std::int64_t first_, last_, line_ = 1;
  bool open_line_ = false;
};

result<answer> read_file(const context& c, const arguments& a) {
  const auto path = a.required_text("path");
  if (!path) return std::unexpected(path.error());
  const auto offset = a.integer("offset", 1, 1, max_line);
  if (!offset) return std::unexpected(offset.error());
  const auto limit = a.integer("limit", max_line, 1, max_line);
  if (!limit) return std::unexpected(limit.error());
  const auto place = open_regular(c.files, *path);
  if (!place) return std::unexpected(place.error());

  line_window window(*offset, *limit);
  std::size_t scanned = 0;
  bool more = false;
  std::string buffer(64u << 10, '\0');
  for (;;) {
    const auto n = ::read(place->fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return fail(errc::io, "\"" + redact::printable(*path) + "\" cannot be read: " + ::strerrordesc_np(errno) + ".");
    if (n == 0) break;
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(n));
    if (scanned == 0 && is_binary(bytes.substr(0, 4096)))
      return fail(errc::invalid_argument,
                  "\"" + redact::printable(*path) + "\" is a binary file; only text can be read.");
    scanned += bytes.size();
    if (!window.take(bytes)) {
      more = true;
      break;
    }
    if (scanned >= max_scanned_bytes) {
      if (window.text_.empty())
        return fail(errc::limit,
                    "Line " + std::to_string(*offset) + " lies further than 64 MiB into the file, which is too far.");
      window.stop();
      more = true;
      break;
    }
  }
  if (window.text_.find('\0') != std::string::npos)
    return fail(errc::invalid_argument,
                "\"" + redact::printable(*path) + "\" is a binary file; only text can be read.");
  if (window.text_.empty() && *offset > 1)
    return fail(errc::invalid_argument,
                "\"" + redact::printable(*path) + "\" has only " + std::to_string(window.next_line() - 1) + " lines.");
  answer out;
  std::string note;
  if (window.cut_line_)
    note = "The line is longer than 256 KiB and was cut.";
  else if (more)
    note = "There is more: go on with offset " + std::to_string(window.next_line()) + ".";
  else if (window.text_.empty())
    note = "The file is empty.";
  if (!window.text_.empty()) out.texts.push_back(std::move(window.text_));
  if (!note.empty()) out.texts.push_back(note);
  return out;
}

result<answer> file_info(const context& c, const arguments& a) {
  const auto path = a.required_text("path");
  if (!path) return std::unexpected(path.error());
  const auto place = c.files.open_path(*path, O_PATH);
  if (!place) return std::unexpected(place.error());
  struct stat info{};
  if (::fstat(place->fd.get(), &info) != 0)
    return fail(errc::io,
                "\"" + redact::printable(*path) + "\" cannot be looked at: " + ::strerrordesc_np(errno) + ".");
  const auto modified = time_in_zone(info.st_mtime, "");
  if (!modified) return std::unexpected(modified.error());
  std::string mode = "0000";
  for (int i = 0; i < 4; ++i)
    mode[static_cast<std::size_t>(3 - i)] = static_cast<char>('0' + ((info.st_mode >> (3 * i)) & 7));
  const auto shown = redact::printable(place->shown());
  const auto kind = std::string(kind_name(info.st_mode));
  return answer{
      {shown + ": " + kind + ", " + std::to_string(info.st_size) + " bytes, changed " + modified->iso + ", mode " +
       mode},
      json::json_object("path", shown, "type", kind, "size", info.st_size, "modified", modified->iso, "mode", mode)};
}

constexpr tool file_tool_list[] = {
    {"list_files", "List files", "Lists what a folder holds: type, name and size, sorted by name.",
     R"({"path":{"type":"string","description":"The folder; left out: the folders that can be read"}})", "", "",
     list_files},
    {"read_file", "Read a text file", "Reads a text file, or some of its lines; at most 256 KiB at once.",
     R"({"path":{"type":"string","description":"The file"},)"
     R"("offset":{"type":"integer","minimum":1,"description":"The first line to read, counted from 1, which is the default"},)"
     R"("limit":{"type":"integer","minimum":1,"description":"How many lines to read; left out: as many as fit"}})",
     R"(["path"])", "", read_file},
    {"file_info", "File information", "Tells type, size, time of the last change and mode of a file or folder.",
     R"({"path":{"type":"string","description":"The file or folder"}})", R"(["path"])",
     R"({"path":{"type":"string"},"type":{"type":"string"},"size":{"type":"integer","description":"Bytes"},)"
     R"("modified":{"type":"string","description":"ISO 8601"},"mode":{"type":"string","description":"Permission bits, octal"}})",
     file_info},
};

}  // namespace

std::span<const tool> file_tools() {
  return file_tool_list;
}

}  // namespace mcpbx::toolbox
