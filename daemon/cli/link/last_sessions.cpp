// Reads and replaces the file as a whole.
#include "daemon/cli/link/last_sessions.hpp"

#include "conf/places.hpp"
#include "daemon/cli/link/private_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace mcpbx::cli::link {
namespace {

constexpr std::size_t most_places = 256;

struct entry {
  std::string session, place;
};

std::vector<entry> entries_of(const std::string& path) {
  std::vector<entry> all;
  std::ifstream in(path, std::ios::binary);
  for (std::string line; all.size() < most_places && std::getline(in, line);)
    if (const auto blank = line.find(' '); blank != std::string::npos)
      all.push_back({line.substr(0, blank), line.substr(blank + 1)});
  return all;
}

// Returns the words of /proc/WHO/stat from the third one, the state, on. The name before it may hold blanks.
std::vector<std::string> stat_of(const std::string& who) {
  std::ifstream in("/proc/" + who + "/stat");
  std::string line;
  std::getline(in, line);
  std::istringstream rest(line.substr(std::min(line.rfind(')') + 1, line.size())));
  std::vector<std::string> words;
  for (std::string word; rest >> word;) words.push_back(word);
  return words;
}

}  // namespace

std::vector<std::string> own_places() {
  std::vector<std::string> places;
  constexpr std::size_t session = 3, terminal = 4, start = 19;  // fields 6, 7 and 22 of proc_pid_stat(5)
  if (const auto own = stat_of("self"); own.size() > terminal && own[terminal] != "0") {
    // Numbers of terminals and processes are given again, so the start of the session's first process belongs to it.
    const auto leader = stat_of(own[session]);
    places.push_back("terminal " + own[terminal] + " " + own[session] + " " +
                     (leader.size() > start ? leader[start] : std::string("0")));
  }
  std::error_code wrong;
  const auto folder = std::filesystem::current_path(wrong).string();
  if (!wrong && folder.find('\n') == std::string::npos) places.push_back("folder " + folder);
  return places;
}

last_sessions last_sessions::of_user() {
  const auto state = conf::state_directory(conf::environment_for_places());
  return last_sessions(state ? (*state / "last-sessions").string() : "");
}

std::vector<std::string> last_sessions::of(const std::vector<std::string>& places) const {
  std::vector<std::string> sessions;
  const auto all = entries_of(path_);
  for (const auto& place : places) {
    const auto found = std::ranges::find(all, place, &entry::place);
    if (found != all.end() && std::ranges::find(sessions, found->session) == sessions.end())
      sessions.push_back(found->session);
  }
  return sessions;
}

void last_sessions::note(std::string_view session, const std::vector<std::string>& places) const {
  if (path_.empty() || session.empty()) return;
  const private_lock lock(path_);
  auto all = entries_of(path_);
  std::erase_if(all, [&](const entry& e) { return std::ranges::find(places, e.place) != places.end(); });
  for (const auto& place : places) all.insert(all.begin(), {std::string(session), place});
  if (all.size() > most_places) all.resize(most_places);
  std::string text;
  for (const auto& e : all) text.append(e.session).append(" ").append(e.place).append("\n");
  replace_private_file(path_, text);
}

}  // namespace mcpbx::cli::link
