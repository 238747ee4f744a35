// Finds known secrets in texts, for secret.cpp (whole texts) and cut_text.cpp (cut texts).
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::redact {

/// Ends at which a text was cut, so that a secret may continue behind them.
struct cut_ends {
  bool front = false, back = false;
};

namespace secret_table {

struct span {
  std::size_t begin = 0, end = 0;
};

/// Adds a value of at least 6 bytes, its forms inside JSON, and each of its first 256 lines with at least 8 bytes,
/// because texts are often printed line by line.
void add(const std::string& value);
/// Adds a value until release() is called as often as hold() was; one that add() has added stays.
void hold(const std::string& value);
void release(const std::string& value);
/// Returns the positions of known values in `text`, in order and without overlaps. At an end that was cut it also finds
/// parts of at least 4 bytes; shorter parts reveal nothing and occur by chance. Thread-safe.
std::vector<span> find(std::string_view text, cut_ends cut);
void clear();

}  // namespace secret_table
}  // namespace mcpbx::redact
