// What the checker says about the value of a key, in words for people.
#pragma once
#include "conf/document/jsonc.hpp"
#include "conf/model/spec.hpp"

#include <string>
#include <string_view>

namespace mcpbx::conf {

/// `"a", "b", "c"`.
template <class List>
std::string listed(const List& words) {
  std::string out;
  for (const auto& w : words) out += (out.empty() ? "\"" : ", \"") + std::string(w) + "\"";
  return out;
}

/// What the value of a key must be: "a whole number from 1 to 8".
std::string expected(const key_spec& k);

/// How a value of another kind is put right: "write it as a number without quotes (the default is 8)".
std::string mend_kind(const key_spec& k, const node& n);

}  // namespace mcpbx::conf
