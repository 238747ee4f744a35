// The one reader of members by their type: of files and the journal (json_reader) and of the params of requests
// (param_reader in mcp/server). The first member that cannot be taken is the reason that the whole is refused.
#pragma once
#include "mcp/json/enum_words.hpp"
#include "mcp/json/json_walk.hpp"
#include "mcp/json/object_index.hpp"
#include "mcp/json/raw_json.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::json {

/// Functions common to all readers of members. A `Reader` finds the members and words the complaints: it has
/// `std::string_view token(name)`, "" for what is absent, and `void wrong_kind(name, form, token)`, where `form` says
/// what is expected. Each function returns nullopt for what is absent or has been complained about.
namespace typed_member {

template <class Reader>
std::optional<std::string> text(Reader& reader, std::string_view name) {
  const std::string_view token = reader.token(name);
  if (token.empty()) return {};
  if (walk::is_string(token)) return unescaped(token);
  reader.wrong_kind(name, "a string", token);
  return {};
}
/// An integer from `least` to `most`; `form()` says so.
template <class Reader, class Form>
std::optional<std::int64_t> integer(Reader& reader, std::string_view name, std::int64_t least, std::int64_t most,
                                    Form&& form) {
  const std::string_view token = reader.token(name);
  if (token.empty()) return {};
  const auto n = raw_json::literal(token).as_integer();
  if (n && *n >= least && *n <= most) return n;
  reader.wrong_kind(name, form(), token);
  return {};
}
template <class Reader>
std::optional<bool> boolean(Reader& reader, std::string_view name) {
  const std::string_view token = reader.token(name);
  if (token.empty()) return {};
  if (token == "true" || token == "false") return token == "true";
  reader.wrong_kind(name, "true or false", token);
  return {};
}
/// The token of an array or an object, of which `is` tells.
template <class Reader>
std::optional<std::string_view> container(Reader& reader, std::string_view name, bool (*is)(std::string_view),
                                          std::string_view form) {
  const std::string_view token = reader.token(name);
  if (token.empty()) return {};
  if (is(token)) return token;
  reader.wrong_kind(name, form, token);
  return {};
}

}  // namespace typed_member

/// Reads one object of a file, a member at a time, without copies: a journal is read with it record by record. Reading
/// goes on with defaults behind what is wrong; the last one of members with the same key counts.
class json_reader {
 public:
  /// The outermost object. `place` names it in complaints ("a record") and must outlive the reader; `wrong` gets the
  /// first complaint.
  json_reader(raw_json json, std::string_view place, std::string& wrong)
      : json_(std::move(json)), place_(place), wrong_(wrong) {
    open();
  }
  /// An object in the member `name` of another one, which outlives this reader.
  json_reader(raw_json json, const json_reader& within, std::string_view name)
      : json_(std::move(json)), within_(&within), place_(name), wrong_(within.wrong_) {
    open();
  }
  json_reader(const json_reader&) = delete;
  json_reader& operator=(const json_reader&) = delete;

  void complain(std::string_view what) const {
    if (wrong_.empty()) wrong_ = place() + " " + std::string(what);
  }

  // For typed_member.
  std::string_view token(std::string_view name) const { return members_.find(name); }
  void wrong_kind(std::string_view name, std::string_view form, std::string_view) const { bad(name, form); }

  raw_json json(std::string_view name) const {
    const auto value = token(name);
    return value.empty() ? raw_json() : json_.slice(value);
  }
  std::string text(std::string_view name) const { return typed_member::text(*this, name).value_or(""); }
  std::string needed(std::string_view name) const {
    if (token(name).empty()) bad(name, "there");
    return text(name);
  }
  template <class I>
  void number(std::string_view name, I& to) const {
    using limits = std::numeric_limits<I>;
    static_assert(std::in_range<std::int64_t>(limits::max()));
    const auto read =
        typed_member::integer(*this, name, limits::min(), limits::max(), [] { return "a whole number in range"; });
    if (read) to = static_cast<I>(*read);
  }
  void set(std::string_view name, bool& to) const { to = typed_member::boolean(*this, name).value_or(to); }
  void hash(std::string_view name, std::uint64_t& to) const {
    const auto digits = typed_member::text(*this, name);
    if (!digits) return;
    const auto* end = digits->data() + digits->size();
    const auto read = std::from_chars(digits->data(), end, to, 16);
    if (digits->empty() || read.ec != std::errc() || read.ptr != end) bad(name, "a hash of hexadecimal digits");
  }
  template <class E>
  void word(std::string_view name, E& to) const {
    const auto value = token(name);
    if (value.empty()) return;
    // Nearly every word stands there as it is.
    const bool plain = value.size() >= 2 && value.front() == '"' && value.find('\\') == value.npos;
    const auto read =
        plain ? enum_words<E>::value(value.substr(1, value.size() - 2)) : enum_words<E>::value(text(name));
    if (!read) return bad(name, "a word that this version knows");
    to = *read;
  }
  /// Calls `f(element)` for each element, until something is wrong.
  template <class F>
  void each(std::string_view name, F&& f) const {
    const auto array = typed_member::container(*this, name, walk::is_array, "an array");
    if (!array) return;
    walk::element_walk elements(*array);
    while (wrong_.empty() && elements.next()) f(json_.slice(elements.value));
  }
  std::vector<std::string> texts(std::string_view name) const {
    std::vector<std::string> all;
    each(name, [&](const raw_json& element) {
      auto one = element.as_string();
      if (!one) return bad(name, "an array of strings");
      all.push_back(std::move(*one));
    });
    return all;
  }
  void bad(std::string_view name, std::string_view must_be) const {
    if (wrong_.empty()) wrong_ = place() + "." + std::string(name) + " is not " + std::string(must_be);
  }

 private:
  void open() {
    if (!members_.open(json_.text())) complain("is no object");
  }
  std::string place() const { return (within_ ? within_->place() + "." : std::string()) + std::string(place_); }
  raw_json json_;
  object_index members_;
  const json_reader* within_ = nullptr;
  std::string_view place_;
  std::string& wrong_;
};

}  // namespace mcpbx::json
