// Finds material for arguments in a question: quoted text, numbers, expressions, file names, addresses, times, zones.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::rehearsal {

struct findings {
  std::string clause;                ///< the text they come from
  std::vector<std::string> quoted;   ///< without their quotes
  std::vector<std::string> numbers;  ///< JSON number tokens
  std::vector<std::string> paths;    ///< README.md, src/main.cpp, /etc/hosts
  std::vector<std::string> urls;
  std::vector<std::string> zones;   ///< IANA names; cities people name are known by their zone
  std::vector<std::string> cities;  ///< as written, same order as zones
  std::vector<std::string> times;   ///< 15:30, 3 pm → 15:00, 2026-07-28
  std::string expression;           ///< "17*23+4", or ""
  std::string subject;              ///< words behind "mentions", "about", "for", …, or ""
  std::string called;               ///< word behind "called" or "named", or a name with an asterisk
  /// Returns true if anything but plain words was found.
  bool has_own() const {
    return !quoted.empty() || !numbers.empty() || !paths.empty() || !urls.empty() || !zones.empty() || !times.empty() ||
           !expression.empty();
  }
  bool points_back = false;  ///< "it", "that file", "them": needs an earlier result
};

findings find_in(std::string_view clause);

/// Returns the path-like words of a tool's result, best first; "read it" refers to them.
std::vector<std::string> paths_in(std::string_view text);

}  // namespace mcpbx::providers::rehearsal
