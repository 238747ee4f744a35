// Index of the members of one object, for many look-ups. It keeps views into the text and copies nothing.
#pragma once
#include <array>
#include <cstddef>
#include <forward_list>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::json {

/// Views of the members of one level of an object, whose text must outlive this index.
class object_index {
 public:
  object_index() = default;
  object_index(const object_index&) = delete;
  object_index& operator=(const object_index&) = delete;

  /// Replaces the content by the members of `object`. Returns false, with no members, if that is no object or not cut
  /// into members. Safe on any text.
  bool open(std::string_view object);
  /// Returns the value of the last member called `key`, or "". Compares keys unescaped.
  std::string_view find(std::string_view key) const;
  std::size_t size() const noexcept { return count_; }

 private:
  struct member {
    std::string_view key, value;  // the unescaped key; the value as a JSON token
  };
  void clear();

  std::array<member, 8> few_;  // the members of most objects
  std::vector<member> more_;   // all members of larger ones, sorted by key
  bool sorted_ = false;
  std::forward_list<std::string> unescaped_;  // copies of keys that have escapes
  std::size_t count_ = 0;
};

}  // namespace mcpbx::json
