// Formatting.
#include "test/bench/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace mcpbx::bench {
namespace {

std::string number(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// Characters, as the units hold a few beyond ASCII.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

void report::add(const std::string& row, std::string_view column, double value) {
  values_[row][std::string(column)].push_back(value);
}

double report::median(const std::string& row, std::string_view column) const {
  const auto known = values_.find(row);
  if (known == values_.end()) return 0;
  const auto cell = known->second.find(column);
  return cell == known->second.end() ? 0 : quantile(cell->second, 0.5);
}

std::string report::table() const {
  std::vector<std::vector<std::string>> cells{{"", "unit", "direct", "floor", "mcpbx", "mcpbx to", "aim"}};
  for (const auto& r : rows_) {
    const auto known = values_.find(r.name);
    if (known == values_.end()) continue;
    const auto cell = [&](std::string_view column) {
      const auto found = known->second.find(column);
      return found == known->second.end() ? "" : number(quantile(found->second, 0.5), r.digits);
    };
    std::string compared;
    if (const double base = r.against.empty() ? 0 : median(r.name, r.against); base > 0) {
      const double own = median(r.name, "mcpbx");
      compared = r.difference ? (own < base ? "-" : "+") + number(std::abs(own - base), std::max(r.digits, 1))
                              : number(own / base, 2) + "x";
      compared += " " + r.against;
    }
    cells.push_back({r.name, r.unit, cell("direct"), cell("floor"), cell("mcpbx"), compared, r.aim});
  }
  std::vector<std::size_t> widths(cells.front().size());
  for (const auto& row : cells)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  std::string out;
  for (const auto& row : cells) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - width(row[i]), ' ');
      const bool right = i >= 2 && i <= 4;  // numbers
      line += (right ? pad + row[i] : row[i] + pad) + "  ";
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out += line + "\n";
  }
  return out;
}

}  // namespace mcpbx::bench
