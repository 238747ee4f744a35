// Looking up many members of one object: its members once, as views, so that nothing is copied and nothing is counted.
#pragma once
#include <array>
#include <cstddef>
#include <forward_list>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx {

/// The members of one level of a checked object: views into the text, which must outlive it.
class object_index {
 public:
  object_index() = default;
  object_index(const object_index&) = delete;
  object_index& operator=(const object_index&) = delete;

  /// Takes the members of `object` in place of those it had. False, and no members, when it is no object or is not even
  /// cut into members; safe on any text.
  bool open(std::string_view object);
  /// The value of the last member called `key`, or "". Keys are compared unescaped.
  std::string_view find(std::string_view key) const;
  std::size_t size() const noexcept { return count_; }

 private:
  struct member {
    std::string_view key, value;  // unescaped; a token
  };
  void clear();

  std::array<member, 8> few_;  // the first ones: most objects have no more
  std::vector<member> more_;   // sorted by key where there are many
  bool sorted_ = false;
  std::forward_list<std::string> unescaped_;  // the keys that have escapes
  std::size_t count_ = 0;
};

}  // namespace mcpbx
