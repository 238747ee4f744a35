// Recorded conversations with the toolbox (test/data/toolbox): what it answers stays the same, byte for byte.
#include "test/daemon/toolbox/protocol_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace mcpbx::toolbox;

namespace {

// The marks of a transcript, and the bytes that they stand for.
using marks = std::vector<std::pair<std::string, std::string>>;

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// The same conversation as it is answered now. A line "> " is sent with a line feed, "| " without one, and then the
// input ends; "< " is an answer; "# " and "$ folders" stand as they are.
std::string answered_now(const std::string& recorded, const marks& m, const std::string& folder) {
  client c(recorded.starts_with("$ folders\n") ? std::vector{folder} : std::vector<std::string>());
  std::string now;
  const auto add_answers = [&](std::string lines) {
    for (const auto& [mark, bytes] : m) lines = replaced(std::move(lines), bytes, mark);
    for (std::size_t at = 0; at < lines.size();) {
      const auto end = lines.find('\n', at);
      now += "< " + lines.substr(at, end - at) + "\n";
      at = end == std::string::npos ? end : end + 1;
    }
  };
  for (std::size_t at = 0; at < recorded.size();) {
    const auto end = recorded.find('\n', at);
    const auto line = recorded.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("< ")) continue;
    now += line + "\n";
    auto said = line.substr(2);
    for (const auto& [mark, bytes] : m) said = replaced(std::move(said), mark, bytes);
    if (line.starts_with("> ")) add_answers(c.feed(said));
    if (line.starts_with("| ")) add_answers(c.core.feed(said) + c.core.finish());
  }
  return now;
}

}  // namespace

TEST_CASE("toolbox: recorded conversations are answered with the same bytes") {
  const temporary_folder folder;
  folder.write("a.txt", "one\ntwo\nthree\n");
  folder.write("sub/b.txt", "two times two\n");
  folder.write(".hidden.txt", "two\n");
  const marks m{{"$DEEP", std::string(100, '[') + std::string(100, ']')},
                {"$LONG", std::string(5u << 20, 'x')},
                {"$FF", "\xFF"},
                {"$FOLDER", folder.path()}};
  int conversations = 0;
  for (const auto& file : std::filesystem::directory_iterator(MCPBX_SOURCE_DIR "/test/data/toolbox")) {
    if (file.path().extension() != ".transcript") continue;
    ++conversations;
    CAPTURE(file.path().filename().string());
    std::ifstream in(file.path(), std::ios::binary);
    const std::string recorded((std::istreambuf_iterator<char>(in)), {});
    const auto now = answered_now(recorded, m, folder.path());
    if (std::getenv("MCPBX_UPDATE") != nullptr) std::ofstream(file.path(), std::ios::binary) << now;
    const auto [a, b] = std::ranges::mismatch(recorded, now);
    const auto at = static_cast<std::size_t>(a - recorded.begin());
    CHECK_MESSAGE(recorded == now, "differs at byte " << at << ": " << recorded.substr(at, 200)
                                                      << "\nnow: " << now.substr(std::min(at, now.size()), 200));
  }
  CHECK(conversations >= 10);
}
