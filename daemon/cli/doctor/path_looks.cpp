// The first letter of a question to the child tells its kind, and a path follows.
#include "daemon/cli/doctor/path_looks.hpp"

#include "conf/places.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/json/raw_json.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace mcpbx::cli::doctor {
namespace {

namespace fs = std::filesystem;
constexpr char see_path = 'p', find_files = 'c', free_space = 'f';

// The bytes that the child sends about a path.
struct seen_path {
  path_facts::look state = path_facts::look::missing;
  path_facts::kind is = path_facts::kind::file;
  unsigned mode = 0;
  uid_t owner = 0;
  bool writable = false;
  std::int64_t inode = 0;
  int number = 0;
};

seen_path see(const std::string& path) {
  seen_path seen;
  struct stat s{};
  if (::stat(path.c_str(), &s) != 0) {
    seen.number = errno;
    struct stat link{};
    const bool gone = (errno == ENOENT || errno == ENOTDIR) && ::lstat(path.c_str(), &link) != 0;
    seen.state = gone ? path_facts::look::missing : path_facts::look::unreadable;
    return seen;
  }
  seen.state = path_facts::look::there;
  seen.is = S_ISREG(s.st_mode)    ? path_facts::kind::file
            : S_ISDIR(s.st_mode)  ? path_facts::kind::folder
            : S_ISSOCK(s.st_mode) ? path_facts::kind::socket
                                  : path_facts::kind::other;
  seen.mode = s.st_mode & 01777;
  seen.owner = s.st_uid;
  seen.inode = static_cast<std::int64_t>(s.st_ino);
  seen.writable = ::access(path.c_str(), W_OK) == 0;
  if (::access(path.c_str(), R_OK) != 0) {
    seen.number = errno;
    seen.state = path_facts::look::unreadable;
  }
  return seen;
}

std::string found_files(const link::place& chosen) {
  const auto files = conf::find_files(conf::environment_for_places(), file_options_of(chosen));
  std::string json;
  json::json_writer out(json);
  out.begin_object();
  if (!files) {
    out.member("fault", files.error().message);
  } else {
    out.key("files").begin_array();
    for (const auto& f : *files) out.value(f.native());
    out.end_array();
  }
  out.end_object();
  return json;
}

std::string free_bytes_at(const std::string& path) {
  struct statvfs s{};
  for (fs::path at = path; !at.empty(); at = at.parent_path()) {
    if (::statvfs(at.c_str(), &s) == 0)
      return std::to_string(static_cast<std::int64_t>(s.f_bavail) * static_cast<std::int64_t>(s.f_frsize));
    if (at == at.parent_path()) break;
  }
  return {};
}

std::string answer_to(const link::place& chosen, std::string_view question) {
  const std::string path(question.substr(1));
  if (question[0] == find_files) return found_files(chosen);
  if (question[0] == free_space) return free_bytes_at(path);
  const seen_path seen = see(path);
  return {reinterpret_cast<const char*>(&seen), sizeof seen};
}

}  // namespace

conf::file_options file_options_of(const link::place& chosen) {
  conf::file_options o;
  if (!chosen.config.empty()) o.flag = chosen.config;
  return o;
}

path_looks::path_looks(const link::place& chosen)
    : child_([chosen](std::string_view question) { return answer_to(chosen, question); }) {}

std::vector<path_facts> path_looks::at(const std::vector<std::string>& paths) {
  std::vector<std::string> questions;
  for (const auto& path : paths) questions.push_back(see_path + path);
  const auto answers = child_.ask(questions);
  std::vector<path_facts> all;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    path_facts p;
    p.path = paths[i];
    seen_path seen;
    if (!answers[i] || answers[i]->size() != sizeof seen) {
      p.state = path_facts::look::slow;
    } else {
      std::memcpy(&seen, answers[i]->data(), sizeof seen);
      p.state = seen.state;
      p.is = seen.is;
      p.mode = seen.mode;
      p.owner = seen.owner;
      p.writable = seen.writable;
      p.inode = seen.inode;
      if (seen.state == path_facts::look::unreadable) p.problem = std::strerror(seen.number);
    }
    all.push_back(std::move(p));
  }
  return all;
}

std::optional<path_looks::configuration> path_looks::configuration_files() {
  const auto answer = child_.ask({std::string(1, find_files)});
  if (!answer[0]) return std::nullopt;
  const auto told = json::raw_json::own(*answer[0]);
  configuration found{{}, json::member_text(told, "fault")};
  json::for_each_element(json::find_member(told, "files"), [&](const json::raw_json& f) {
    found.files.push_back(f.as_string().value_or(""));
    return true;
  });
  return found;
}

std::optional<std::int64_t> path_looks::free_bytes(const std::string& path) {
  const auto answer = child_.ask({free_space + path});
  if (!answer[0] || answer[0]->empty()) return std::nullopt;
  return std::stoll(*answer[0]);
}

}  // namespace mcpbx::cli::doctor
