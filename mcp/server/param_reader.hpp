// Reads the params of a request member by member. Every error has the path of the member, what is expected there and
// what was found, in one form for all methods: "params.limits.maxRounds: expected an integer from 0 to 100000, got
// true".
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

namespace mcpbx::mcp {

/// The reader of files (json_reader) takes what it knows; this one takes nothing else, and no member twice.
class param_reader {
 public:
  /// `params` is an object or absent (which reads as {}).
  explicit param_reader(const raw_json& params, std::string path = "params");
  param_reader(const param_reader&) = delete;
  param_reader& operator=(const param_reader&) = delete;

  // Each of these reads one optional member: nullopt (or absent) when it is not there or wrong; wrong ones are
  // remembered. A member that occurs twice is wrong.
  std::optional<std::string> text(std::string_view key,
                                  std::size_t max_bytes = std::numeric_limits<std::size_t>::max());
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least, std::int64_t most);
  std::optional<bool> boolean(std::string_view key);
  /// The index of the word among `words`.
  std::optional<std::size_t> word(std::string_view key, std::span<const std::string_view> words);
  std::optional<std::vector<std::string>> texts(std::string_view key);
  raw_json object(std::string_view key);
  raw_json array(std::string_view key);
  raw_json any(std::string_view key);

  /// A reader for a value inside this one, e.g. inside(value, ".limits") or inside(element, ".messages[2]"); its errors
  /// are this one's. It must not outlive this one. Its unknown members are checked by its own finish().
  param_reader inside(const raw_json& value, std::string_view suffix) {
    return {value, path_ + std::string(suffix), error_};
  }

  // For typed_member.
  std::string_view token(std::string_view key) { return take(key).text(); }
  void wrong_kind(std::string_view key, std::string_view form, std::string_view token) {
    expected(key, form, raw_json::literal(token));
  }

  bool has(std::string_view key) const;
  /// The members that are not among `without`, in the order of their keys, as one text: the same for the same members.
  std::string others(std::span<const std::string_view> without) const;
  /// Remembers an error at a member ("" for the object itself), unless there is one already.
  void wrong(std::string_view key, std::string_view what);
  /// The form of every type error: expected …, got ….
  void expected(std::string_view key, std::string_view form, const raw_json& got);
  bool failed() const noexcept { return error_->has_value(); }

  /// The first error; a member that nobody asked for is one, with the nearest name that was asked for.
  result<void> finish();

 private:
  struct member {
    std::string key;
    raw_json value;
    bool twice = false, asked = false;
  };
  param_reader(const raw_json& value, std::string path, std::optional<error>* shared_error);
  void open(const raw_json& value);
  /// The value of a member, which counts as asked for; absent when it is not there or occurs twice.
  raw_json take(std::string_view key);

  raw_json json_;
  std::string path_;
  std::vector<member> members_;
  std::vector<std::string> asked_;
  std::optional<error> own_error_;
  std::optional<error>* error_;
};

/// A value for an error text: numbers, words and short strings as they are, the rest by its kind ("an object").
std::string describe(const raw_json& value);

}  // namespace mcpbx::mcp
