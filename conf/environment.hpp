// The environment variables as a value, so that code that depends on them does no I/O.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::conf {

struct environment {
  std::map<std::string, std::string, std::less<>> values;

  /// The value of `name`; nullopt: unset.
  std::optional<std::string> get(std::string_view name) const {
    const auto i = values.find(name);
    return i == values.end() ? std::nullopt : std::optional(i->second);
  }
  /// The value of `name` unless it is unset or empty.
  std::optional<std::string> filled(std::string_view name) const {
    auto v = get(name);
    if (v && v->empty()) v.reset();
    return v;
  }
  /// The variables of this process.
  static environment of_process();
};

}  // namespace mcpbx::conf
