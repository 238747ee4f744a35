// Phrases for errors about the value of a key.
#pragma once
#include "conf/document/jsonc.hpp"
#include "conf/model/spec.hpp"

#include <string>
#include <string_view>

namespace mcpbx::conf::model {

/// Joins words as `"a", "b", "c"`.
template <class List>
std::string listed(const List& words) {
  std::string out;
  for (const auto& w : words) out += (out.empty() ? "\"" : ", \"") + std::string(w) + "\"";
  return out;
}

/// Describes a right value: "a whole number from 1 to 8".
std::string expected(const key_spec& k);

/// Tells how to correct a value of another kind: "write it as a number without quotes (the default is 8)".
std::string mend_kind(const key_spec& k, const documents::node& n);

}  // namespace mcpbx::conf::model
