// The backup and the note are on the disk before the file changes, and go after it has: a command that is killed leaves
// either the old file, with a backup of the same bytes, or the new one with all that takes it back.
#include "daemon/cli/hosts/own_file.hpp"

#include "mcp/files/whole_file.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/text.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace mcpbx::cli::hosts {
namespace {

namespace fs = std::filesystem;

/// Returns a mark by which a text is known again. A hash that nobody can forge is not needed: the file and the note
/// belong to the same person, and OpenSSL would cost every start of `mcpbx`.
std::string mark_of(std::string_view text) {
  return std::to_string(text.size()) + "-" + hex(stable_hash(text), 16);
}

std::string reason() {
  return std::strerror(errno);
}

/// Fails unless the folder is there and can be written.
result<void> check_folder(const conf::programs::program& program, const std::string& path) {
  const auto folder = fs::path(path).parent_path().native();
  struct stat s{};
  if (::stat(folder.c_str(), &s) != 0)
    return fail(errc::not_found, std::string(program.title) + " keeps its servers in " + path +
                                     ", and there is no folder " + folder +
                                     ": start the program once, or create the folder if it is right");
  if (!S_ISDIR(s.st_mode) || (s.st_mode & 0200) == 0 || ::access(folder.c_str(), W_OK) != 0)
    return fail(errc::config,
                "the folder " + folder + " cannot be written: run `chmod u+w " + shell_word(folder) + "`");
  return {};
}

/// Fails if the file is not as it was when it was looked at.
result<void> check_same(const own_file& file) {
  const auto now = files::read_whole_file(file.path, conf::read::max_foreign_bytes);
  if (!now) return std::unexpected(now.error());
  if (*now != file.text)
    return fail(errc::config,
                file.path + " has changed while this command waited, and nothing was written: run it again");
  return {};
}

result<void> write_text(const own_file& file, const std::optional<std::string>& text) {
  if (!text) return files::remove_whole_file(file.path);
  return files::replace_whole_file(file.path, *text, {.mode = file.mode, .ending = ".mcpbx-new"});
}

}  // namespace

std::string note_json(const install_note& note) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().member("program", note.program).member("mark", note.mark).member("created", note.created);
  w.key("off").begin_array();
  for (const auto& name : note.off) w.value(name);
  w.end_array().end_object();
  return json + "\n";
}

std::optional<install_note> read_note(std::string_view json) {
  const auto parsed = json::raw_json::parse(std::string(trimmed(json)));
  if (!parsed) return {};
  install_note note;
  note.program = json::find_member(*parsed, "program").as_string().value_or("");
  note.mark = json::find_member(*parsed, "mark").as_string().value_or("");
  note.created = json::find_member(*parsed, "created").is_true();
  json::for_each_element(json::find_member(*parsed, "off"), [&](const json::raw_json& name) {
    if (const auto text = name.as_string()) note.off.push_back(*text);
    return true;
  });
  if (note.mark.empty()) return {};
  return note;
}

bool own_file::is_as_left() const {
  return note && text && (backup || note->created) && mark_of(*text) == note->mark;
}

result<own_file> look_at_own_file(const conf::programs::program& program, const std::string& path) {
  if (auto good = check_folder(program, path); !good) return std::unexpected(good.error());
  own_file out;
  out.program = &program;
  out.path = path;
  struct stat s{};
  if (::lstat(path.c_str(), &s) == 0) {
    if (S_ISLNK(s.st_mode))
      return fail(errc::config, path +
                                    " is a link, and mcpbx does not write through links: replace the link by the file, "
                                    "or paste what `mcpbx install " +
                                    std::string(program.name) + " --paste` prints");
    if (!S_ISREG(s.st_mode)) return fail(errc::config, path + " is no regular file: move it away");
    if (s.st_uid != ::geteuid())
      return fail(errc::config, path + " belongs to user " + std::to_string(s.st_uid) + ": run this as that user");
    if ((s.st_mode & 0200) == 0 || ::access(path.c_str(), W_OK) != 0)
      return fail(errc::config, path + " is read-only: run `chmod u+w " + shell_word(path) + "`");
    out.mode = s.st_mode & 0777;
  } else if (errno != ENOENT) {
    return fail(errc::config, "cannot look at " + path + ": " + reason());
  }
  auto text = files::read_whole_file(path, conf::read::max_foreign_bytes);
  if (!text) return fail(errc::config, text.error().message);
  out.text = std::move(*text);
  auto backup = files::read_whole_file(out.backup_path(), conf::read::max_foreign_bytes);
  if (!backup) return fail(errc::config, backup.error().message);
  out.backup = std::move(*backup);
  const auto note = files::read_whole_file(out.note_path(), conf::read::max_foreign_bytes);
  if (!note) return fail(errc::config, note.error().message);
  if (*note) out.note = read_note(**note);
  return out;
}

result<std::string> base_text(const own_file& file) {
  if (!file.text) return std::string();
  if (file.is_as_left()) return file.backup.value_or("");
  // Nothing has been done yet, or it was killed before the file changed. An entry of our name is the person's then, and
  // the backup keeps it.
  if (!file.note || file.text == file.backup) return *file.text;
  // A file that should hold our entry alone has no part that is surely ours once somebody has changed it.
  if (!file.program->own_file.empty()) return *file.text;
  // Without the backup the switches are set back to what an entry without them says.
  return conf::install::without_own_entry(*file.program, *file.text, file.backup.value_or(""), file.note->off,
                                          file.path);
}

result<own_change> plan_install(const own_file& file, const std::string& base,
                                const conf::install::own_command& command, std::span<const std::string> off) {
  auto made = conf::install::with_own_entry(*file.program, base, command, off, file.path);
  if (!made) return std::unexpected(made.error());
  own_change out;
  out.same = file.text && made->text == *file.text;
  if (file.lost_note() && !out.same)
    return fail(errc::config, file.backup_path() +
                                  " is the backup of an earlier install, and the note beside it is gone: "
                                  "move it away, or put it back as " +
                                  file.path + ", then run this again");
  // A file that we made is the person's as soon as something of theirs stands in it: it is never removed then.
  const bool ours_alone = base.empty() && (!file.text || (file.note && file.note->created));
  out.note = {std::string(file.program->name), mark_of(made->text), ours_alone, std::move(made->switched_off)};
  out.after = std::move(made->text);
  out.backup = base;
  out.left_on = std::move(made->left_on);
  return out;
}

result<own_change> plan_uninstall(const own_file& file) {
  own_change out;
  if (file.is_as_left()) {
    if (!file.note->created) out.after = file.backup;
    return out;
  }
  if (!file.text) {
    out.same = !file.note && !file.backup;
    return out;
  }
  if (!file.program->own_file.empty() && !file.text->empty())
    return fail(errc::config, file.path +
                                  " is not as mcpbx left it, and nothing was changed: remove the file, or what is "
                                  "not yours in it");
  const auto there = conf::install::has_own_entry(*file.program, *file.text, file.path);
  if (!there) return std::unexpected(there.error());
  if (!*there || file.text == file.backup) {
    out.after = file.text;
    out.same = !file.note && (!file.backup || file.lost_note());
    return out;
  }
  auto text = file.note ? base_text(file)
                        : conf::install::without_own_entry(*file.program, *file.text, *file.text, {}, file.path);
  if (!text) return std::unexpected(text.error());
  out.after = std::move(*text);
  out.keeps_backup = file.lost_note();
  return out;
}

result<void> write_install(const own_file& file, const own_change& change) {
  if (auto written = files::replace_whole_file(file.backup_path(), change.backup); !written) return written;
  if (auto written = files::replace_whole_file(file.note_path(), note_json(change.note)); !written) return written;
  auto good = check_same(file);
  if (good) good = write_text(file, change.after);
  if (good) return good;
  // Backup and note belong to the text that stands there now: the old one, or the new one if only its safety failed.
  const auto now = files::read_whole_file(file.path, conf::read::max_foreign_bytes);
  if (!now || *now == change.after) return good;
  (void)(file.backup ? files::replace_whole_file(file.backup_path(), *file.backup)
                     : files::remove_whole_file(file.backup_path()));
  (void)(file.note ? files::replace_whole_file(file.note_path(), note_json(*file.note))
                   : files::remove_whole_file(file.note_path()));
  return good;
}

result<void> write_uninstall(const own_file& file, const own_change& change) {
  if (auto good = check_same(file); !good) return good;
  if (change.after != file.text)
    if (auto written = write_text(file, change.after); !written) return written;
  // In this order, since a backup without its note is taken for one that somebody needs.
  if (!change.keeps_backup)
    if (auto gone = files::remove_whole_file(file.backup_path()); !gone) return gone;
  return files::remove_whole_file(file.note_path());
}

}  // namespace mcpbx::cli::hosts
