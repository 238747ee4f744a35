// Compares two transcripts line by line and describes the difference for people.
#include "test/transcripts/player.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

namespace mcpbx::transcripts {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  return lines;
}

constexpr std::string_view dots = "…";

// Returns whether the line is the expected one, where each … stands for any characters.
bool fits(std::string_view expected, std::string_view line) {
  const auto first = expected.find(dots);
  if (first == std::string_view::npos) return expected == line;
  if (!line.starts_with(expected.substr(0, first))) return false;
  line.remove_prefix(first);
  expected.remove_prefix(first + dots.size());
  for (;;) {
    const auto next = expected.find(dots);
    const auto part = expected.substr(0, next);
    if (next == std::string_view::npos) return line.ends_with(part);
    const auto at = line.find(part);
    if (at == std::string_view::npos) return false;
    line.remove_prefix(at + part.size());
    expected.remove_prefix(next + dots.size());
  }
}

// A long line: what is about the first place in which it differs from the other.
std::string about(const std::string& line, const std::string& other) {
  constexpr std::size_t before = 120, most = 320;
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(line, other).in1 - line.begin());
  if (line.size() <= most) return line;
  const auto from = at > before ? at - before : 0;
  return (from > 0 ? "[" + std::to_string(from) + " bytes] " : "") + line.substr(from, most);
}

}  // namespace

std::string difference(std::string_view expected, std::string_view got, bool open_dots) {
  const auto a = split(expected), b = split(got);
  const auto same = [&](std::size_t i, std::size_t j) { return open_dots ? fits(a[i], b[j]) : a[i] == b[j]; };
  // The longest common subsequence of what follows each pair of places.
  std::vector<std::vector<std::size_t>> common(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (auto i = a.size(); i-- > 0;)
    for (auto j = b.size(); j-- > 0;)
      common[i][j] = same(i, j) ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::string out;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && same(i, j)) {
      ++i, ++j;
      continue;
    }
    const bool gone = j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1]);
    const auto nothing = std::string();
    out += "line " + std::to_string((gone ? i : j) + 1);
    if (gone)
      out += " expected: " + about(a[i], j < b.size() ? b[j] : nothing) + "\n", ++i;
    else
      out += " got:      " + about(b[j], i > 0 ? a[i - 1] : nothing) + "\n", ++j;
  }
  return out;
}

}  // namespace mcpbx::transcripts
