// Longest common subsequence of lines, after equal lines at both ends have been set aside.
#include "daemon/cli/terminal/line_diff.hpp"

#include "mcp/json/json_writer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mcpbx::cli::terminals {
namespace {

constexpr std::size_t most_cells = 4u << 20;  // 16 MiB of memory
constexpr int deepest_level = 64;

class json_lines {
 public:
  void add(const json::raw_json& value, const std::string& before, int level, std::string_view behind) {
    const std::string indent(static_cast<std::size_t>(level) * 2, ' ');
    const bool object = value.is_object();
    const auto opened = object ? json::raw_object::open(value) : result<json::raw_object>(std::unexpected(error{}));
    std::size_t left = 0;
    if (opened)
      opened->for_each([&](std::string_view, const json::raw_json&) { ++left; });
    else if (value.is_array())
      json::for_each_element(value, [&](const json::raw_json&) { return ++left, true; });
    if (left == 0 || level > deepest_level) {
      lines.push_back(indent + before + std::string(value.text()) + std::string(behind));
      return;
    }
    lines.push_back(indent + before + (object ? "{" : "["));
    const auto comma = [&] { return std::string_view(--left == 0 ? "" : ","); };
    if (opened)
      opened->for_each([&](std::string_view key, const json::raw_json& member) {
        add(member, json::json_quoted(key) + ": ", level + 1, comma());
      });
    else
      json::for_each_element(value, [&](const json::raw_json& element) {
        add(element, "", level + 1, comma());
        return true;
      });
    lines.push_back(indent + (object ? "}" : "]") + std::string(behind));
  }

  std::vector<std::string> lines;
};

}  // namespace

std::vector<diff_line> line_diff(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t head = 0, tail = 0;
  while (head < shorter && before[head] == after[head]) ++head;
  while (tail < shorter - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  const std::size_t rows = before.size() - head - tail, columns = after.size() - head - tail;

  std::vector<diff_line> out;
  for (std::size_t i = 0; i < head; ++i) out.push_back({' ', before[i]});
  // common[i][j] is the number of equal lines behind line i of the old and line j of the new middle part.
  const bool small = rows == 0 || columns < most_cells / rows;
  std::vector<std::uint32_t> common(small ? (rows + 1) * (columns + 1) : 0);
  const auto cell = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return common[i * (columns + 1) + j]; };
  if (small)
    for (std::size_t i = rows; i-- > 0;)
      for (std::size_t j = columns; j-- > 0;)
        cell(i, j) =
            before[head + i] == after[head + j] ? cell(i + 1, j + 1) + 1 : std::max(cell(i + 1, j), cell(i, j + 1));
  std::size_t i = 0, j = 0;
  while (i < rows || j < columns) {
    if (small && i < rows && j < columns && before[head + i] == after[head + j]) {
      out.push_back({' ', before[head + i]});
      ++i, ++j;
    } else if (i < rows && (!small || j == columns || cell(i + 1, j) >= cell(i, j + 1))) {
      out.push_back({'-', before[head + i++]});
    } else {
      out.push_back({'+', after[head + j++]});
    }
  }
  for (std::size_t n = before.size() - tail; n < before.size(); ++n) out.push_back({' ', before[n]});
  return out;
}

std::vector<std::string> comparable_lines(const json::raw_json& value) {
  if (!value) return {};
  if (const auto text = value.as_string()) {
    std::vector<std::string> lines;
    for (std::size_t from = 0; from != std::string::npos;) {
      const auto end = text->find('\n', from);
      lines.push_back(text->substr(from, end - from));
      from = end == std::string::npos ? end : end + 1;
    }
    return lines;
  }
  json_lines made;
  made.add(value, "", 0, "");
  return std::move(made.lines);
}

}  // namespace mcpbx::cli::terminals
