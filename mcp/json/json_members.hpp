// Reads and writes the members of one JSON object by their type; the formats of files and of the journal are built on
// it. A reader remembers the first member that does not fit as the reason and goes on with defaults; in the end the
// whole is refused.
#pragma once
#include "mcp/json/object_index.hpp"
#include "mcp/json/raw_json.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx {

/// An enum whose words are those of its to_string; `Last` is its last value.
template <class E, E Last>
struct spoken {
  static std::string_view word(E value) { return to_string(value); }
  static std::optional<E> value(std::string_view word) {
    for (int i = 0; i <= static_cast<int>(Last); ++i)
      if (to_string(static_cast<E>(i)) == word) return static_cast<E>(i);
    return std::nullopt;
  }
};

/// An enum whose words are in a table.
template <class E, const auto& Words>
struct listed {
  static std::string_view word(E value) {
    const auto i = static_cast<std::size_t>(value);
    return i < Words.size() ? Words[i] : Words[0];
  }
  static std::optional<E> value(std::string_view word) {
    for (std::size_t i = 0; i < Words.size(); ++i)
      if (Words[i] == word) return static_cast<E>(i);
    return std::nullopt;
  }
};

/// Spelling of an enum: enum_words<E>::word(value) and enum_words<E>::value(word). Words never change; a new value gets
/// a new word at the end.
template <class E>
struct enum_words;

/// Appends one object to `out`, from construction to end(). filled(), json() and set() leave empty members out.
class object_writer {
 public:
  explicit object_writer(std::string& out) : out_(out) { out_ += '{'; }
  void end() { out_ += '}'; }

  void key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += '"';
    out_ += name;
    out_ += "\":";
  }
  void text(std::string_view name, std::string_view value) {
    key(name);
    append_quoted(out_, value);
  }
  void filled(std::string_view name, std::string_view value) {
    if (!value.empty()) text(name, value);
  }
  void json(std::string_view name, const raw_json& value) {
    if (!value) return;
    key(name);
    out_ += value.text();
  }
  void number(std::string_view name, std::int64_t value) {
    key(name);
    char digits[24];
    out_.append(digits, std::to_chars(std::begin(digits), std::end(digits), value).ptr);
  }
  void set(std::string_view name, bool value) {
    if (!value) return;
    key(name);
    out_ += "true";
  }
  void numbers(std::string_view name, const std::vector<int>& values) {
    key(name);
    char before = '[';
    for (const auto v : values) {
      out_ += before;
      out_ += std::to_string(v);
      before = ',';
    }
    out_ += values.empty() ? "[]" : "]";
  }
  void texts(std::string_view name, const std::vector<std::string>& values) {
    key(name);
    char before = '[';
    for (const auto& v : values) {
      out_ += before;
      append_quoted(out_, v);
      before = ',';
    }
    out_ += values.empty() ? "[]" : "]";
  }
  void jsons(std::string_view name, const std::vector<raw_json>& values) {
    key(name);
    char before = '[';
    for (const auto& v : values) {
      out_ += before;
      out_ += v.text();
      before = ',';
    }
    out_ += values.empty() ? "[]" : "]";
  }
  template <class E>
  void word(std::string_view name, E value) {
    text(name, enum_words<E>::word(value));
  }

 private:
  std::string& out_;
  bool first_ = true;
};

/// Reads one object member by member, without copies, since a journal has many records.
class object_reader {
 public:
  /// Reads an outermost object. `place` names it in errors ("a record") and must outlive the reader; `wrong` gets the
  /// first error.
  object_reader(raw_json json, std::string_view place, std::string& wrong)
      : json_(std::move(json)), place_(place), wrong_(wrong) {
    open();
  }
  /// Reads an object in the member `name` of another one, which must outlive this reader.
  object_reader(raw_json json, const object_reader& within, std::string_view name)
      : json_(std::move(json)), within_(&within), place_(name), wrong_(within.wrong_) {
    open();
  }
  object_reader(const object_reader&) = delete;
  object_reader& operator=(const object_reader&) = delete;

  void complain(std::string_view what) const {
    if (wrong_.empty()) wrong_ = place() + " " + std::string(what);
  }

  raw_json json(std::string_view name) const {
    const auto value = members_.find(name);
    return value.empty() ? raw_json() : json_.slice(value);
  }
  std::string text(std::string_view name) const { return text_of(name, members_.find(name)); }
  std::string needed(std::string_view name) const {
    const auto value = members_.find(name);
    if (value.empty()) bad(name, "there");
    return text_of(name, value);
  }
  template <class I>
  void number(std::string_view name, I& to) const {
    const auto value = members_.find(name);
    if (value.empty()) return;
    const auto read = raw_json::literal(value).as_integer();
    if (!read || *read < std::numeric_limits<I>::min() || *read > std::numeric_limits<I>::max())
      return bad(name, "a whole number in range");
    to = static_cast<I>(*read);
  }
  void set(std::string_view name, bool& to) const {
    const auto value = members_.find(name);
    if (value.empty()) return;
    if (value != "true" && value != "false") return bad(name, "true or false");
    to = value == "true";
  }
  void hash(std::string_view name, std::uint64_t& to) const {
    const auto value = members_.find(name);
    if (value.empty()) return;
    const auto digits = text_of(name, value);
    const auto* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, to, 16);
    if (digits.empty() || read.ec != std::errc() || read.ptr != end) bad(name, "a hash of hexadecimal digits");
  }
  template <class E>
  void word(std::string_view name, E& to) const {
    const auto value = members_.find(name);
    if (value.empty()) return;
    // Nearly every word has no escapes and can be compared in place.
    const bool plain = value.size() >= 2 && value.front() == '"' && value.find('\\') == value.npos;
    const auto read =
        plain ? enum_words<E>::value(value.substr(1, value.size() - 2)) : enum_words<E>::value(text_of(name, value));
    if (!read) return bad(name, "a word that this version knows");
    to = *read;
  }
  template <class F>
  void each(std::string_view name, F&& f) const {
    const auto value = json(name);
    if (!value) return;
    if (!value.is_array()) return bad(name, "an array");
    for_each_element(value, [&](raw_json element) {
      f(std::move(element));
      return wrong_.empty();
    });
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
  std::string text_of(std::string_view name, std::string_view value) const {
    if (value.empty()) return {};
    if (value.front() == '"') return unescaped(value);
    bad(name, "a string");
    return {};
  }

  raw_json json_;
  object_index members_;
  const object_reader* within_ = nullptr;
  std::string_view place_;
  std::string& wrong_;
};

}  // namespace mcpbx
