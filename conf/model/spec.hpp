// The shape of the key table: one key_spec per key, made by key<&struct::member>(…), which derives the JSON type, the
// words of enums and the default from the member itself. Checking, the published schema and the nearest-key search all
// read the same table (keys.cpp), so a new key is a member in model.hpp and a line there.
#pragma once
#include "conf/document/jsonc.hpp"
#include "conf/loop/loop_numbers.hpp"
#include "conf/model/forms.hpp"
#include "conf/model/loop_levels.hpp"
#include "conf/model/model.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace mcpbx::conf::model {

/// Largest number of patterns in one list.
inline constexpr std::size_t max_tool_globs = 1000;

/// Largest number of elements in a list of entries.
inline constexpr std::size_t max_list_entries = 1000;

/// Shape of a key's value in the file.
enum class shape : std::uint8_t {
  boolean,
  whole,           ///< a whole number in a range
  real,            ///< a number in a range
  word,            ///< one of a closed set
  text,            ///< a string that may hold references
  texts,           ///< a list of those
  text_map,        ///< an object of those
  plain,           ///< a string without references
  plains,          ///< a list of those
  plain_map,       ///< an object of those
  whole_map,       ///< an object of whole numbers in a range
  switch_or_text,  ///< true, false or a text
  entries,         ///< a list of strings that may hold references, or of sections
  any_object,      ///< an object with anything in it
  section,         ///< an object with keys of its own
  named            ///< an object whose keys are names that the user chooses and whose values are sections
};

/// Context of a value that is being stored.
struct site {
  const std::string& path;
  bool server_entry = false;
};

struct section_spec;

/// One key. Built by key<>(), section<>() and named<>(); the methods refine it.
struct key_spec {
  std::string_view name;
  std::string_view doc;  ///< a sentence for the schema
  shape kind = shape::boolean;
  bool in_milliseconds = false;
  bool is_secret = false;          ///< text: a literal gets a notice; maps: where the name tells so
  bool never_empty = false;        ///< texts, plains: an empty list is an error
  std::int64_t low = 0, high = 0;  ///< of `whole`, and of each value of a whole_map
  double real_low = 0, real_high = 0;
  std::span<const std::string_view> words;
  const form* value_form = nullptr;  ///< each string must have it (texts with references are checked at use)
  const form* name_form = nullptr;   ///< each name of a map or of `named` must have it
  std::string default_json;          ///< empty: none
  const section_spec* inner = nullptr;
  std::function<void(void* target, const documents::node& value, const site& where)> store;  ///< takes a checked value
  /// section, named: returns the inner target; entries: adds an element and returns it.
  std::function<void*(void* target, std::string_view name, const documents::place& at)> enter;

  /// Returns the largest number of patterns in a list or map; 0: its items are no patterns.
  std::size_t most_items() const {
    return forms::is_glob(value_form) || forms::is_glob(name_form) ? max_tool_globs : 0;
  }
  key_spec range(std::int64_t from, std::int64_t to) && {
    low = from;
    high = to;
    return std::move(*this);
  }
  key_spec real_range(double from, double to) && {
    real_low = from;
    real_high = to;
    return std::move(*this);
  }
  key_spec like(const form& f) && {
    value_form = &f;
    return std::move(*this);
  }
  key_spec names(const form& f) && {
    name_form = &f;
    return std::move(*this);
  }
  key_spec one_of(std::span<const std::string_view> w) && {
    words = w;
    kind = shape::word;
    return std::move(*this);
  }
  key_spec filled_list() && {
    never_empty = true;
    return std::move(*this);
  }
  key_spec secret() && {
    is_secret = true;
    return std::move(*this);
  }
};

/// A required key: always, or only if the key `when` has one of `words`.
struct need {
  std::string_view key;
  std::string_view mend;
  std::string_view when = {};
  std::vector<std::string_view> words = {};
};

/// A set of keys.
struct section_spec {
  std::string_view title;  ///< its name among the definitions of the schema
  std::vector<key_spec> keys;
  std::vector<need> needs = {};
  std::pair<std::string_view, std::string_view> one_of_two = {};  ///< exactly one of these keys must be there
  bool server_entry = false;  ///< keys of other hosts are understood, and ${NAME} is a reference
  bool has_switches = false;  ///< tools of a server: other hosts write a list of names, or a switch for each tool

  const key_spec* find(std::string_view key) const;
  std::vector<std::string_view> key_names() const;
};

/// The whole file.
const section_spec& root_section();

/// A key that has no effect yet. `path` has `*` for names. Values in `acting` already have one; a value that ends in
/// "…" stands for all that begin with it.
struct later_rule {
  std::string_view path;
  std::vector<std::string_view> acting = {};
  std::string_view mend = {};  ///< replaces the usual advice, which lists `acting`
};
const std::vector<later_rule>& later_rules();

// Derivation of shape, stored value and default from a member's type.

namespace detail {

inline void assign(bool& to, const documents::node& n, const site&) {
  to = n.truth;
}
inline void assign(std::int64_t& to, const documents::node& n, const site&) {
  to = n.whole;
}
inline void assign(double& to, const documents::node& n, const site&) {
  to = n.real;
}
inline void assign(milliseconds& to, const documents::node& n, const site&) {
  to = milliseconds(n.whole);
}
inline void assign(span_map& to, const documents::node& n, const site&) {
  to.clear();
  for (const auto& m : n.members) to.emplace_back(m.key, milliseconds(m.value.whole));
}
inline void assign(std::string& to, const documents::node& n, const site&) {
  to = n.text;
}
inline void assign(reference_string& to, const documents::node& n, const site& s) {
  to = {n.text, s.path, s.server_entry};
}
void assign(std::vector<std::string>& to, const documents::node& n, const site&);
void assign(std::vector<reference_string>& to, const documents::node& n, const site& s);
void assign(string_map& to, const documents::node& n, const site&);
void assign(reference_map& to, const documents::node& n, const site& s);
void assign(loop::switch_or_text& to, const documents::node& n, const site&);
void assign(json_text& to, const documents::node& n, const site&);
template <loop::worded E>
void assign(E& to, const documents::node& n, const site&) {
  for (std::size_t i = 0; i < loop::words_of<E>.size(); ++i)
    if (loop::words_of<E>[i] == n.text) to = static_cast<E>(i);
}
template <class T>
void assign(std::optional<T>& to, const documents::node& n, const site& s) {
  assign(to.emplace(), n, s);
}

std::string default_json(bool v);
std::string default_json(std::int64_t v);
std::string default_json(milliseconds v);
std::string default_json(const std::string& v);
std::string default_json(const loop::switch_or_text& v);
template <loop::worded E>
std::string default_json(const E& v) {
  return default_json(std::string(loop::to_string(v)));
}
template <class T>
std::string default_json(const T&) {
  return {};  // texts, lists, maps, numbers with a fraction: no key of these kinds has a default
}
template <class T>
std::string default_json(const std::optional<T>& v) {
  return v ? default_json(*v) : std::string();
}

template <class T>
struct bare {
  using type = T;
};
template <class T>
struct bare<std::optional<T>> {
  using type = T;
};

template <class T>
constexpr shape shape_of() {
  if constexpr (std::is_same_v<T, bool>)
    return shape::boolean;
  else if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, milliseconds>)
    return shape::whole;
  else if constexpr (std::is_same_v<T, double>)
    return shape::real;
  else if constexpr (loop::worded<T>)
    return shape::word;
  else if constexpr (std::is_same_v<T, std::string>)
    return shape::plain;
  else if constexpr (std::is_same_v<T, reference_string>)
    return shape::text;
  else if constexpr (std::is_same_v<T, std::vector<std::string>>)
    return shape::plains;
  else if constexpr (std::is_same_v<T, std::vector<reference_string>>)
    return shape::texts;
  else if constexpr (std::is_same_v<T, string_map>)
    return shape::plain_map;
  else if constexpr (std::is_same_v<T, span_map>)
    return shape::whole_map;
  else if constexpr (std::is_same_v<T, reference_map>)
    return shape::text_map;
  else if constexpr (std::is_same_v<T, loop::switch_or_text>)
    return shape::switch_or_text;
  else if constexpr (std::is_same_v<T, json_text>)
    return shape::any_object;
  else
    static_assert(sizeof(T) == 0, "no shape for this member");
}

template <class T>
struct member_of;
template <class C, class T>
struct member_of<T C::*> {
  using owner = C;
};
template <auto M>
using owner_of = typename member_of<decltype(M)>::owner;

/// Returns a section without any key given, from which the defaults are read.
template <class Target>
const Target& prototype() {
  static const Target made{};
  return made;
}
template <>
inline const loop_section& prototype<loop_section>() {
  static const loop_section made{default_loop(), {}};
  return made;
}

/// Returns a key with what does not depend on its member.
key_spec named_key(std::string_view name, std::string_view doc, shape kind);

}  // namespace detail

/// A key that holds a value. `Target` is the struct of the section, where the member comes from a base of it.
template <class Target, class Owner, class T>
key_spec member_key(T Owner::* member, std::string_view name, std::string_view doc) {
  using type = typename detail::bare<T>::type;
  key_spec k = detail::named_key(name, doc, detail::shape_of<type>());
  k.in_milliseconds = std::is_same_v<type, milliseconds> || std::is_same_v<type, span_map>;
  if constexpr (loop::worded<type>) k.words = loop::words_of<type>;
  k.default_json = detail::default_json(detail::prototype<Target>().*member);
  k.store = [member](void* target, const documents::node& n, const site& s) {
    detail::assign(static_cast<Target*>(target)->*member, n, s);
  };
  return k;
}
template <auto M, class Target = detail::owner_of<M>>
key_spec key(std::string_view name, std::string_view doc) {
  return member_key<Target>(M, name, doc);
}

/// The key of a number of the loop.
template <class Target>
key_spec number_key(const loop::loop_number& n) {
  auto k = member_key<Target>(n.open, n.key, n.meaning).range(n.low, n.high);
  k.in_milliseconds = n.in_milliseconds();
  return k;
}

/// A key that holds an object with the keys of `inner`.
template <class Target, class Owner, class T>
key_spec member_section(T Owner::* member, std::string_view name, std::string_view doc, const section_spec& inner) {
  key_spec k = detail::named_key(name, doc, shape::section);
  k.inner = &inner;
  k.enter = [member](void* target, std::string_view, const documents::place&) -> void* {
    auto& into = static_cast<Target*>(target)->*member;
    if constexpr (requires { into.emplace(); }) {
      if (!into) into.emplace();
      return &*into;
    } else {
      return &into;
    }
  };
  return k;
}
template <auto M, class Target = detail::owner_of<M>>
key_spec section(std::string_view name, std::string_view doc, const section_spec& inner) {
  return member_section<Target>(M, name, doc, inner);
}

/// A key that holds an object of named entries, each with the keys of `inner`.
template <auto M, class Target = detail::owner_of<M>>
key_spec named(std::string_view name, std::string_view doc, const section_spec& inner, const form& names) {
  key_spec k = detail::named_key(name, doc, shape::named);
  k.inner = &inner;
  k.name_form = &names;
  k.enter = [](void* target, std::string_view entry_name, const documents::place& at) -> void* {
    auto& entry = (static_cast<Target*>(target)->*M).emplace_back();
    entry.name = entry_name;
    entry.at = at;
    return &entry;
  };
  return k;
}

/// A key that holds a list of texts and objects. An object has the keys of `inner`; a text is kept by `text` of a new
/// element.
template <auto M, auto Text, class Target = detail::owner_of<M>>
key_spec entries(std::string_view name, std::string_view doc, const section_spec& inner) {
  key_spec k = detail::named_key(name, doc, shape::entries);
  k.inner = &inner;
  k.enter = [](void* target, std::string_view, const documents::place&) -> void* {
    return &(static_cast<Target*>(target)->*M).emplace_back();
  };
  k.store = [](void* target, const documents::node& n, const site& s) {
    detail::assign((static_cast<Target*>(target)->*M).emplace_back().*Text, n, s);
  };
  return k;
}

}  // namespace mcpbx::conf::model
