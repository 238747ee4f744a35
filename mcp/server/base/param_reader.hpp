// Reads the params of a request member by member. Every error has the path of the member, the expected and the found
// value, in one form for all methods: "params.limits.maxRounds: expected an integer from 0 to 100000, got true".
#pragma once
#include "mcp/json/json_reader.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::mcp::server {

/// A strict reader: unlike json_reader, which reads files, it refuses unknown members and repeated ones.
class param_reader {
 public:
  /// Reads an object. Absent `params` read as {}.
  explicit param_reader(const json::raw_json& params, std::string path = "params");
  param_reader(const param_reader&) = delete;
  param_reader& operator=(const param_reader&) = delete;

  // Each of these functions reads one optional member. Returns nullopt (or absent) if it is missing or wrong, which
  // includes a repeated member; errors are remembered.
  std::optional<std::string> text(std::string_view key,
                                  std::size_t max_bytes = std::numeric_limits<std::size_t>::max());
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least, std::int64_t most);
  std::optional<bool> boolean(std::string_view key);
  /// Returns the index of the word among `words`.
  std::optional<std::size_t> word(std::string_view key, std::span<const std::string_view> words);
  std::optional<std::vector<std::string>> texts(std::string_view key);
  json::raw_json object(std::string_view key);
  json::raw_json array(std::string_view key);
  json::raw_json any(std::string_view key);

  /// Returns a reader for a value inside this one, such as inside(value, ".limits"), which must not outlive this one.
  /// Errors are shared; unknown members of `value` are found by the new reader's own finish().
  param_reader inside(const json::raw_json& value, std::string_view suffix) {
    return {value, path_ + std::string(suffix), error_};
  }

  // Access for typed_member.
  std::string_view token(std::string_view key) { return take(key).text(); }
  void wrong_kind(std::string_view key, std::string_view form, std::string_view token) {
    expected(key, form, json::raw_json::literal(token));
  }

  bool has(std::string_view key) const;
  /// Returns the members that are not in `without`, sorted by key, as one text: equal members give equal texts.
  std::string others(std::span<const std::string_view> without) const;
  /// Remembers an error at a member ("" for the object itself), unless there is one already.
  void wrong(std::string_view key, std::string_view what);
  /// Remembers a type error in the common form: expected …, got ….
  void expected(std::string_view key, std::string_view form, const json::raw_json& got);
  bool failed() const noexcept { return error_->has_value(); }

  /// Returns the first error. An unread member is an error too, with the nearest name that was read.
  result<void> finish();

 private:
  struct member {
    std::string key;
    json::raw_json value;
    bool twice = false, asked = false;
  };
  param_reader(const json::raw_json& value, std::string path, std::optional<error>* shared_error);
  void open(const json::raw_json& value);
  /// Returns the value of a member and marks it as read; absent if it is missing or occurs twice.
  json::raw_json take(std::string_view key);

  json::raw_json json_;
  std::string path_;
  std::vector<member> members_;
  std::vector<std::string> asked_;
  std::optional<error> own_error_;
  std::optional<error>* error_;
};

/// Returns a value for an error text: numbers, words and short strings as they are, the rest by its kind ("an object").
std::string describe(const json::raw_json& value);

}  // namespace mcpbx::mcp::server
