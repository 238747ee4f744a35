// JSON that is passed on byte for byte: a view of checked text with its owner, and an editor for the members of one
// level that leaves all other bytes as they are.
#pragma once
#include "mcp/support/error.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mcpbx::json {

/// One well-formed JSON value as its original bytes (RFC 8259; no blanks around it). Empty means "absent".
class raw_json {
 public:
  enum class kind { absent, object, array, string, number, boolean, null };

  raw_json() noexcept = default;

  /// `view` must be one checked value inside `owner` (or inside static storage when `owner` is empty).
  static raw_json trusted(shared_bytes owner, std::string_view view) noexcept {
    raw_json r;
    r.owner_ = std::move(owner);
    r.view_ = view;
    return r;
  }
  /// Takes a block that is one checked value from its first byte to its last.
  static raw_json whole(shared_bytes block) noexcept {
    const std::string_view view = block.view();
    return trusted(std::move(block), view);
  }
  /// Makes a value of a literal in the source, such as `{}`; `text` must live forever.
  static raw_json literal(std::string_view text) noexcept { return trusted({}, text); }
  /// Copies and checks text of unknown origin. errc::parse with the byte offset, errc::limit for depth.
  static result<raw_json> parse(std::string_view text, int max_depth = 256);
  /// Copies text that is known to be well-formed (our own output).
  static raw_json own(std::string_view checked_text);
  /// Returns `text` as a JSON string.
  static raw_json string(std::string_view text);
  static raw_json integer(std::int64_t value);

  bool empty() const noexcept { return view_.empty(); }
  explicit operator bool() const noexcept { return !empty(); }
  std::string_view text() const noexcept { return view_; }
  const shared_bytes& owner() const noexcept { return owner_; }
  kind type() const noexcept;
  bool is_object() const noexcept { return !view_.empty() && view_.front() == '{'; }
  bool is_array() const noexcept { return !view_.empty() && view_.front() == '['; }
  bool is_string() const noexcept { return !view_.empty() && view_.front() == '"'; }
  bool is_null() const noexcept { return view_ == "null"; }
  bool is_true() const noexcept { return view_ == "true"; }

  /// Returns a part of this value that shares its owner. `part` must lie inside text().
  raw_json slice(std::string_view part) const noexcept { return trusted(owner_, part); }
  /// Copies the bytes into a block of their own, so that a small part does not keep a large message alive.
  raw_json detached() const { return own(view_); }

  /// Returns the unescaped text of a JSON string (lone surrogates become U+FFFD); nullopt for other kinds.
  std::optional<std::string> as_string() const;
  /// Returns an integer without fraction and exponent that fits 64 bits; nullopt otherwise.
  std::optional<std::int64_t> as_integer() const;

 private:
  shared_bytes owner_;
  std::string_view view_;
};

/// A list of text pieces, as which an edited message is written without being joined first.
class segments {
 public:
  segments() = default;
  segments(const segments&) = default;
  segments(segments&& other) noexcept
      : few_(std::move(other.few_)),
        many_(std::move(other.many_)),
        count_(std::exchange(other.count_, 0)),
        size_(std::exchange(other.size_, 0)) {}
  segments& operator=(segments other) noexcept {
    std::swap(few_, other.few_);
    std::swap(many_, other.many_);
    std::swap(count_, other.count_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~segments() = default;

  void append(raw_json piece);
  /// Appends text in static storage.
  void append_literal(std::string_view text) { append(raw_json::literal(text)); }
  /// Copies `text`. Consecutive copies should be joined by the caller first.
  void append_copy(std::string_view text);
  void append(const segments& other) {
    for (const auto& p : other.pieces()) append(p);
  }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return count_ == 0; }
  std::span<const raw_json> pieces() const noexcept { return {many_.empty() ? few_.data() : many_.data(), count_}; }
  /// Joins all pieces to a string.
  std::string str() const;
  /// Joins all pieces to a value that owns its text. They must form one well-formed value.
  raw_json join() const;

 private:
  std::array<raw_json, 3> few_;  // all pieces of nearly every message
  std::vector<raw_json> many_;   // all pieces, if there are more than fit into few_
  std::size_t count_ = 0, size_ = 0;
};

/// Largest number of members in a level that is opened or searched. A hostile message may have millions, and each costs
/// time and memory. Values that pass through unopened have no such bound.
inline constexpr std::size_t most_members = 10'000;
/// Bound for schemas, whose levels may be long lists of names.
inline constexpr std::size_t most_schema_members = 250'000;
/// No bound, for our own text.
inline constexpr std::size_t any_number_of_members = static_cast<std::size_t>(-1);

/// One level of a JSON object, opened for reading and editing. Members that are not touched keep their bytes, their
/// order and their duplicates; of those with one key the last one is read (mcp/README.md has the rule).
class raw_object {
 public:
  /// Indexes one level of `json`; compares keys unescaped. errc::invalid_argument: no object, or a key of `unique`
  /// occurs twice ("duplicate member …"); errc::parse: a text that is not cut into members; errc::limit: more than
  /// `most` members or 4 GiB. Safe on any text.
  static result<raw_object> open(raw_json json, std::span<const std::string_view> unique = {},
                                 std::size_t most = most_members);
  static result<raw_object> open(raw_json json, std::initializer_list<std::string_view> unique,
                                 std::size_t most = most_members) {
    return open(std::move(json), std::span(unique.begin(), unique.size()), most);
  }

  /// Returns the value of the last member called `key`, or an absent raw_json.
  raw_json find(std::string_view key) const;
  bool contains(std::string_view key) const { return !find(key).empty(); }
  /// Replaces the value in place, or appends the member. `value` must not be absent. Of duplicates the last one gets
  /// the value and the others are erased, so that no reader finds another value.
  void set(std::string_view key, raw_json value);
  /// Removes every member called `key` with its comma. Returns whether there was one.
  bool erase(std::string_view key);
  /// Returns the number of members.
  std::size_t size() const noexcept;
  /// Returns the edited object. Its unchanged parts are slices of the original.
  segments build() const;
  /// Returns the edited object as one value; the original itself if nothing was edited.
  raw_json json() const;
  /// Calls `f(unescaped key, value)` for each member in order.
  template <class F>
  void for_each(F&& f) const {
    for (const auto& m : members_)
      if (!m.erased) f(m.key, value_of(m));
  }

 private:
  struct member {
    std::string_view key;  // unescaped; a view into the original, or into own_key
    shared_bytes own_key;  // of a key with escapes, or one that set() added
    std::uint32_t begin = 0, value_begin = 0,
                  value_end = 0;  // offsets into the original: opening quote of the key, value
    raw_json replacement;         // absent unless set()
    bool erased = false;
    bool added = false;        // appended by set(): offsets unused
    std::uint32_t before = 0;  // with an index: 1 + the previous member of the same key; 0: none
  };
  using key_index = std::unordered_map<std::string, std::uint32_t>;
  bool indexed();
  void erase_before(member& m);
  static void own_key(member& m, std::string_view key);
  raw_json value_of(const member& m) const;
  raw_json original_;
  std::vector<member> members_;
  bool edited_ = false;
  std::uint32_t searches_ = 0;  // number of searches by set() and erase()
  key_index last_;              // last member of each key; made after many searches
};

/// Does the same as the overload below, for spans of equal size.
result<void> read_members(const raw_json& object, std::span<const std::string_view> keys, std::span<raw_json> values);
/// Returns the values of the members called `keys`, in that order; a missing one is absent. One walk without
/// allocation, for reading without editing. Errors as for raw_object::open(object, keys). The values are views into
/// `object` without an owner; keep object.slice(v.text()) instead.
template <std::size_t N>
result<std::array<raw_json, N>> read_members(const raw_json& object, const std::string_view (&keys)[N]) {
  result<std::array<raw_json, N>> values;
  if (auto read = read_members(object, keys, *values); !read) values = std::unexpected(std::move(read.error()));
  return values;
}

/// Returns `whole` with `part`, a value inside it, replaced.
raw_json with_replaced(const raw_json& whole, std::string_view part, std::string_view replacement);

/// Calls `f(element)` for each element of a checked JSON array; `f` returns false to stop early. Elements are slices.
/// Returns the number of elements visited; 0 for a value that is not an array.
std::size_t for_each_element(const raw_json& array, const std::function<bool(raw_json)>& f);

/// Finds the last member of a checked object called `key`. Absent: no such member, no object, or more than `most`
/// members.
raw_json find_member(const raw_json& object, std::string_view key, std::size_t most = most_members);
/// Returns the text of a string member; "" if it is missing or no string.
std::string member_text(const raw_json& object, std::string_view key);

/// Appends `text` to `out` as a JSON string with quotes. Invalid UTF-8 is written as U+FFFD.
void append_quoted(std::string& out, std::string_view text);
void append_quoted(byte_buffer& out, std::string_view text);
std::string json_quoted(std::string_view text);
/// Unescapes a JSON string token (with its quotes) that the scanner has accepted. Lone surrogates become U+FFFD.
std::string unescaped(std::string_view token);

}  // namespace mcpbx::json
