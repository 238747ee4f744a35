// The values that must never be printed, for the two who take them out of texts: secret.cpp (whole texts) and
// cut_text.cpp (texts that are cut).
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx {

/// Which ends of a text lie within a longer one, so that a secret may go on behind them.
struct cut_ends {
  bool front = false, back = false;
};

namespace secret_table {

struct span {
  std::size_t begin = 0, end = 0;
};

/// Adds a value as it is, as it looks inside JSON, and, where it has several lines, each of the first 256 that has 8
/// bytes or more: texts are often told line by line. What is shorter than 6 bytes is left out.
void add(const std::string& value);
/// Where known values stand in `text`, in order, without overlaps. At an end that was cut also what may be a part of
/// one, of 4 bytes or more: fewer tell nothing and stand there by chance. Any thread.
std::vector<span> find(std::string_view text, cut_ends cut);
void clear();

}  // namespace secret_table
}  // namespace mcpbx
