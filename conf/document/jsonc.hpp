// JSON with comments and trailing commas, parsed into a tree that knows where everything stands, so that every error of
// a configuration can name its place. Goes on after an error, so that all of them come at once.
#pragma once
#include "conf/document/diagnostic.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::conf {

struct node_member;

/// One value of the document.
struct node {
  enum class kind : std::uint8_t {
    broken,  ///< the text was wrong here and an error was reported; say nothing more about it
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
  /// The member called `key`, or nullptr.
  const node_member* find(std::string_view key) const;
  node_member* find(std::string_view key);
};

struct node_member {
  std::string key;
  place at;  ///< where the key stands
  node value;
};

/// The value as JSON without comments and blanks; null in place of what is broken.
std::string json_of(const node& n);

/// The words for a kind, with its article ("a string").
std::string_view words_for(node::kind k);

/// How deep arrays and objects may be nested.
inline constexpr int max_jsonc_depth = 64;

/// Parses one file: RFC 8259 with `//` and `/* */` comments, trailing commas and a leading byte order mark; strict
/// UTF-8; a key that occurs twice in an object is an error that names both places; \u0000 and lone surrogates are
/// errors. Errors are appended to `errors` (at most 50 per file); the tree holds what could be read all the same.
/// `file` goes into every place, `name` into every error. Never throws but for memory; any bytes may come in.
node parse_jsonc(std::string_view text, std::uint32_t file, std::string_view name, std::vector<diagnostic>& errors);

}  // namespace mcpbx::conf
