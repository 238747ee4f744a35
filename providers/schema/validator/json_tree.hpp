// JSON as a tree, for schemas and the values that they check. Both come from strangers, so members are sorted, not
// hashed: no choice of names makes look-ups slow. The number of values is bounded. Texts without escapes are views into
// the JSON.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <string_view>

namespace mcpbx::providers::schema::tree {

enum class kind : std::uint8_t { null, bool_, int64, uint64, double_, string, array, object };

class value;
class member;

class array {
 public:
  explicit array(std::span<const value> elements) : elements_(elements) {}
  const value* begin() const noexcept;
  const value* end() const noexcept;
  const value& operator[](std::size_t i) const noexcept;
  std::size_t size() const noexcept { return elements_.size(); }
  bool empty() const noexcept { return elements_.empty(); }

 private:
  std::span<const value> elements_;
};

/// Members in the order of the text. Of duplicates the last value counts, at the position of the first.
class object {
 public:
  object(std::span<const member> members, std::span<const std::uint32_t> by_name)
      : members_(members), by_name_(by_name) {}
  const member* begin() const noexcept;
  const member* end() const noexcept;
  std::size_t size() const noexcept { return members_.size(); }
  bool empty() const noexcept { return members_.empty(); }
  /// Returns the value of the member called `name`, or null.
  const value* if_contains(std::string_view name) const noexcept;
  bool contains(std::string_view name) const noexcept { return if_contains(name) != nullptr; }

 private:
  std::span<const member> members_;
  std::span<const std::uint32_t> by_name_;  // indices sorted by name; empty for few members
};

class value {
 public:
  value() noexcept : kind_(tree::kind::null), int64_(0) {}
  explicit value(bool b) noexcept : kind_(tree::kind::bool_), bool_(b) {}
  explicit value(std::int64_t n) noexcept : kind_(tree::kind::int64), int64_(n) {}
  explicit value(std::uint64_t n) noexcept : kind_(tree::kind::uint64), uint64_(n) {}
  explicit value(double n) noexcept : kind_(tree::kind::double_), double_(n) {}
  /// Keeps a view of `text`, which must be shorter than 4 GiB.
  explicit value(std::string_view text) noexcept
      : kind_(tree::kind::string), size_(static_cast<std::uint32_t>(text.size())), chars_(text.data()) {}
  explicit value(const array& a) noexcept : kind_(tree::kind::array), array_(&a) {}
  explicit value(const object& o) noexcept : kind_(tree::kind::object), object_(&o) {}

  tree::kind kind() const noexcept { return kind_; }
  bool is_bool() const noexcept { return kind_ == tree::kind::bool_; }
  bool is_true() const noexcept { return is_bool() && bool_; }
  bool is_string() const noexcept { return kind_ == tree::kind::string; }
  bool is_array() const noexcept { return kind_ == tree::kind::array; }
  bool is_object() const noexcept { return kind_ == tree::kind::object; }
  bool is_double() const noexcept { return kind_ == tree::kind::double_; }
  bool is_integer() const noexcept { return kind_ == tree::kind::int64 || kind_ == tree::kind::uint64; }
  bool is_number() const noexcept { return is_integer() || is_double(); }

  // Call a getter only for a value of its kind.
  bool get_bool() const noexcept { return bool_; }
  std::int64_t get_int64() const noexcept { return int64_; }
  std::uint64_t get_uint64() const noexcept { return uint64_; }
  double get_double() const noexcept { return double_; }
  std::string_view get_string() const noexcept { return {chars_, size_}; }
  const array& get_array() const noexcept { return *array_; }
  const object& get_object() const noexcept { return *object_; }
  /// Return null for other kinds.
  const array* if_array() const noexcept { return is_array() ? array_ : nullptr; }
  const object* if_object() const noexcept { return is_object() ? object_ : nullptr; }

 private:
  tree::kind kind_;
  std::uint32_t size_ = 0;  // length of a string in bytes
  union {
    bool bool_;
    std::int64_t int64_;
    std::uint64_t uint64_;
    double double_;
    const char* chars_;
    const array* array_;
    const object* object_;
  };
};

class member {
 public:
  member(std::string_view key, const tree::value& value) : key_(key), value_(value) {}
  std::string_view key() const noexcept { return key_; }
  const tree::value& value() const noexcept { return value_; }

 private:
  std::string_view key_;
  tree::value value_;
};

inline const value* array::begin() const noexcept {
  return elements_.data();
}
inline const value* array::end() const noexcept {
  return elements_.data() + elements_.size();
}
inline const value& array::operator[](std::size_t i) const noexcept {
  return elements_[i];
}
inline const member* object::begin() const noexcept {
  return members_.data();
}
inline const member* object::end() const noexcept {
  return members_.data() + members_.size();
}

inline constexpr std::size_t max_values = 1'000'000, max_members = 250'000;  // members are sorted, which costs more
/// Reasons why a text has no tree.
inline constexpr std::string_view too_many_values = "more than a million values",
                                  too_many_members = "more than 250,000 members",
                                  half_pair = "half of a surrogate pair", too_deep = "too many levels",
                                  no_json = "text that is no JSON";

/// Builds the tree of checked `json` in `memory`, at most `max_depth` levels deep. `json` must outlive the tree. The
/// message of an error is one of the texts above: errc::limit, or errc::parse.
result<value> read(std::string_view json, int max_depth, std::pmr::memory_resource& memory);

/// A tree that owns its text and memory. It may be moved: pointers to its values stay valid, except to `root` itself.
struct document {
  json::raw_json text;
  std::unique_ptr<std::pmr::monotonic_buffer_resource> memory;
  value root;
};

}  // namespace mcpbx::providers::schema::tree
