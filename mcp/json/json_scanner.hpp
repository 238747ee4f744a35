// The scanner: checks a JSON text while it arrives and finds the members of a JSON-RPC envelope on the way, in one
// pass, without recursion and copies. Accepts any bytes.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::json {

/// The members of a JSON-RPC 2.0 envelope, in the order of envelope_index::members.
enum class envelope_member : std::uint8_t { jsonrpc, id, method, params, result, error };

/// Positions of the envelope's members, as byte offsets from the start of the text. A span with begin == end is absent.
struct envelope_index {
  struct span {
    std::size_t begin = 0, end = 0;
    bool present() const { return end != begin; }
  };
  std::array<span, 6> members;
  /// A bit for each envelope_member that occurred more than once; its span is that of the first.
  std::uint8_t duplicates = 0;
  bool duplicate(envelope_member m) const { return (duplicates >> static_cast<unsigned>(m) & 1u) != 0; }
  /// A bit for each envelope_member whose key was read, even if a fault came before the end of its value.
  std::uint8_t seen = 0;
  bool has_seen(envelope_member m) const { return (seen >> static_cast<unsigned>(m) & 1u) != 0; }
  const span& operator[](envelope_member m) const { return members[static_cast<std::size_t>(m)]; }
};

/// A resumable RFC 8259 checker: grammar, depth, strict UTF-8, no control characters in strings, exactly one value.
class json_scanner {
 public:
  struct options {
    int max_depth = 256;                 ///< 1 … 10,000 nested containers
    bool tolerate_invalid_utf8 = false;  ///< note invalid UTF-8 (saw_invalid_utf8) instead of failing
    bool tolerate_deep_result = false;   ///< go on to 10,000 levels where the envelope has a `result` (saw_deep_result)
  };
  static constexpr int most_depth = 10'000;
  enum class fault : std::uint8_t { none, syntax, depth, utf8, control_character, truncated };

  json_scanner() : json_scanner(options{}) {}
  explicit json_scanner(options o);

  /// Takes the next bytes of the text, which may be cut anywhere. Returns false after a fault, which fault_kind() and
  /// fault_offset() describe; further bytes are ignored then. Accepts blanks around the value.
  bool feed(std::string_view bytes);
  /// Ends the text. Returns false (fault::truncated or syntax) unless exactly one value is complete.
  bool finish();
  /// Returns to the start, for the next text.
  void reset();

  /// Returns true if the value is complete, so that only blanks may follow.
  bool complete() const noexcept;
  fault fault_kind() const noexcept { return fault_; }
  std::size_t fault_offset() const noexcept { return fault_offset_; }
  /// Returns the number of bytes taken since reset().
  std::size_t offset() const noexcept { return offset_; }
  /// Returns the first byte of the value ('{', '[', …), or 0 before it has come.
  char first_byte() const noexcept { return first_; }
  std::size_t value_begin() const noexcept { return value_begin_; }
  std::size_t value_end() const noexcept { return value_end_; }
  bool saw_invalid_utf8() const noexcept { return saw_invalid_utf8_; }
  /// Returns true if a result was nested deeper than max_depth and tolerated. deep_offset() is the place.
  bool saw_deep_result() const noexcept { return depth_limit_ != options_.max_depth; }
  std::size_t deep_offset() const noexcept { return deep_offset_; }
  /// Returns true if a raw CR or LF was between two tokens: an HTTP body must then be turned into one line.
  bool saw_line_break() const noexcept { return saw_line_break_; }
  /// Returns the envelope found so far, even after a fault, so that the error answer can have the id.
  const envelope_index& envelope() const noexcept { return envelope_; }

 private:
  enum class state : std::uint8_t {
    value,
    array_first,
    object_first,
    key,
    colon,
    after,
    string,
    number,
    literal,
    done
  };
  enum class number_part : std::uint8_t { minus, zero, integer, dot, fraction, e, e_sign, exponent };

  bool scan_string(const char*& p, const char* end);
  bool scan_number(const char*& p, const char* end);
  bool scan_literal(const char*& p, const char* end);
  const char* scan_blanks(const char* p, const char* end);
  bool number_may_end() const noexcept;
  void push(bool object);
  bool in_object() const noexcept;
  bool capturing() const noexcept { return in_key_ && depth_ == 1; }
  void keep_key(const char* from, const char* to);
  void end_key(const char* from, const char* to);
  bool fail(fault f);
  bool may_go_deeper(std::size_t at) noexcept;

  // State is kept between feeds; see json_scanner.cpp for the machine.
  options options_;
  state state_ = state::value;
  number_part number_ = number_part::minus;
  std::uint8_t literal_pos_ = 0, literal_kind_ = 0;
  std::uint8_t utf8_need_ = 0, utf8_low_ = 0, utf8_high_ = 0;
  std::uint8_t escape_ =
      0;  // inside a string: 0 none, 1 after the backslash, 2 … 5 hexadecimal digits still to come + 1
  std::uint8_t key_size_ = 0;  // bytes of the current top-level key kept in key_, 255: too long to matter
  bool in_key_ = false;
  bool saw_invalid_utf8_ = false, saw_line_break_ = false;
  char first_ = 0;
  fault fault_ = fault::none;
  int current_member_ = -1;  // envelope member whose value is being read, -1: none
  int depth_ = 0;
  int depth_limit_ = 0;  // max_depth, or most_depth once a deep result was tolerated
  std::size_t deep_offset_ = 0;
  std::size_t offset_ = 0, fault_offset_ = 0, value_begin_ = 0, value_end_ = 0, member_begin_ = 0;
  std::array<char, 64> key_{};
  std::vector<std::uint64_t> stack_;  // one bit per level: 1 = object
  envelope_index envelope_;
};

/// Checks a whole text at once. Returns the fault (none: it is one value) and sets `offset` to its place.
json_scanner::fault check_json(std::string_view text, int max_depth, std::size_t* offset = nullptr);
/// Returns the words for a fault in errors ("invalid UTF-8").
std::string_view to_string(json_scanner::fault f);

}  // namespace mcpbx::json
