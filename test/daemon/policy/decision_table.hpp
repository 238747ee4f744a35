// Decision tables: rows of conditions, of which the first one that fits says the outcome.
#pragma once
#include "daemon/policy/decision.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::test {

struct table_row {
  std::string_view conditions;  ///< a character for each input, as in the inputs or `-` for any; blanks only part them
  policy::verdict says;
  policy::rule by;
  mutable std::size_t used = 0;
};

/// Calls `look` with every combination of inputs: one character each of the alphabets in `inputs`.
template <class Look>
void each_combination(const std::vector<std::string_view>& inputs, const Look& look) {
  std::vector<std::size_t> at(inputs.size());
  for (std::string now(inputs.size(), ' ');;) {
    for (std::size_t i = 0; i < inputs.size(); ++i) now[i] = inputs[i][at[i]];
    look(std::string_view(now));
    std::size_t i = 0;
    while (i < inputs.size() && ++at[i] == inputs[i].size()) at[i++] = 0;
    if (i == inputs.size()) return;
  }
}

inline bool fits(std::string_view conditions, std::string_view inputs) {
  std::size_t i = 0;
  for (const char c : conditions) {
    if (c == ' ') continue;
    if (c != '-' && c != inputs[i]) return false;
    ++i;
  }
  return i == inputs.size();
}

/// Checks every combination against the table, and that each row decides some of them.
template <class Decide>
void check_table(const std::vector<std::string_view>& inputs, const std::vector<table_row>& table,
                 const Decide& decide) {
  std::size_t wrong = 0;
  each_combination(inputs, [&](std::string_view now) {
    for (const auto& row : table) {
      if (!fits(row.conditions, now)) continue;
      ++row.used;
      const policy::decision d = decide(now);
      if (d.says == row.says && d.by == row.by) return;
      if (++wrong <= 10) MESSAGE("inputs ", std::string(now), ": not as in the row ", std::string(row.conditions));
      return;
    }
    if (++wrong <= 10) MESSAGE("inputs ", std::string(now), ": no row");
  });
  CHECK(wrong == 0);
  for (const auto& row : table) CHECK_MESSAGE(row.used > 0, std::string(row.conditions));
}

}  // namespace mcpbx::daemon::test
