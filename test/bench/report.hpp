// Medians over repetitions, and the one table.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::bench {

/// The value below which `share` (0 … 1) of the values lie; 0 without values.
double quantile(std::vector<double> values, double share);

class report {
 public:
  /// One more measurement of `row` for `column` (direct, floor or mcpbx); the table shows the median.
  void add(const std::string& row, std::string_view column, double value);
  /// Shows a row: its unit and digits, what mcpbx is compared with ("direct", "floor" or ""), as a quotient or as a
  /// difference, and the aim in words.
  struct row {
    std::string name, unit;
    int digits = 0;
    std::string against;
    bool difference = false;
    std::string aim;
  };
  void show(row r) { rows_.push_back(std::move(r)); }
  double median(const std::string& row, std::string_view column) const;
  /// All rows with measurements, as one text table.
  std::string table() const;

 private:
  std::vector<row> rows_;
  std::map<std::string, std::map<std::string, std::vector<double>, std::less<>>> values_;
};

}  // namespace mcpbx::bench
