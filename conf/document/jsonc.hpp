// Parses JSON with comments and trailing commas into a tree whose nodes know their line and column, so that every later
// error can name its place. The parser goes on after an error and reports all of them at once.
#pragma once
#include "conf/document/diagnostic.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::conf::documents {

struct node_member;

/// One value of the document.
struct node {
  enum class kind : std::uint8_t {
    broken,  ///< malformed text; its error was reported, so later checks stay silent about it
    null,
    boolean,
    integer,  ///< a number without a fractional part that fits 64 bits (`1.0` and `1e3` too)
    number,
    string,
    array,
    object
  };
  kind type = kind::broken;
  bool truth = false;
  /// Objects and arrays: an error was reported between their brackets, so members may be missing from the tree.
  bool damaged = false;
  std::int64_t whole = 0;
  double real = 0;   ///< the value of both kinds of numbers
  std::string text;  ///< strings, unescaped
  std::vector<node> items;
  std::vector<node_member> members;  ///< in the order of the file, keys unique
  place at;

  bool is(kind k) const { return type == k; }
  /// Returns the member called `key`, or nullptr.
  const node_member* find(std::string_view key) const;
  node_member* find(std::string_view key);
};

struct node_member {
  std::string key;
  place at;  ///< place of the key
  node value;
};

/// Returns the value as JSON without comments and blanks; broken values become null.
std::string json_of(const node& n);

/// Returns the words for a kind, with the article ("a string").
std::string_view words_for(node::kind k);

/// Largest nesting depth of arrays and objects.
inline constexpr int max_jsonc_depth = 64;

/// Parses one file of any bytes. Appends at most 50 errors to `errors`; the tree holds whatever could be read. `file`
/// goes into every place, `name` into every error. Throws std::bad_alloc only.
node parse_jsonc(std::string_view text, std::uint32_t file, std::string_view name, std::vector<diagnostic>& errors);

}  // namespace mcpbx::conf::documents
