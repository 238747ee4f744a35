// Edits one level of an object. The result consists of the original's stretches between changed members. A member owns
// the comma before it, so that erasing a member removes exactly one comma.
#include "mcp/json/json_walk.hpp"
#include "mcp/json/raw_json.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace mcpbx::json {

namespace {

std::unexpected<error> too_many(std::size_t most) {
  return fail(errc::limit, "an object of more than " + std::to_string(most) + " members is too large here");
}

}  // namespace

result<raw_object> raw_object::open(raw_json json, std::span<const std::string_view> unique, std::size_t most) {
  if (!json.is_object()) return fail(errc::invalid_argument, "an object is expected here");
  if (json.text().size() > std::numeric_limits<std::uint32_t>::max())
    return fail(errc::limit, "an object of more than 4 GiB cannot be edited");
  raw_object o;
  const char* const begin = json.text().data();
  const auto at = [begin](const char* p) { return static_cast<std::uint32_t>(p - begin); };
  walk::member_walk members(json.text());
  o.members_.reserve(8);  // edited objects (params, _meta, a definition) rarely have more
  while (members.next()) {
    if (o.members_.size() == most) return too_many(most);
    member& m = o.members_.emplace_back();
    if (members.key_has_escapes)
      own_key(m, unescaped(members.key));
    else
      m.key = members.key.substr(1, members.key.size() - 2);
    m.begin = at(members.key.data());
    m.value_begin = at(members.value.data());
    m.value_end = at(members.value.data() + members.value.size());
  }
  if (members.broken()) return fail(errc::parse, "an object with broken members cannot be edited");
  for (const std::string_view key : unique) {
    int seen = 0;
    for (const member& m : o.members_) seen += m.key == key ? 1 : 0;
    if (seen > 1) return fail(errc::invalid_argument, "duplicate member " + json_quoted(key));
  }
  o.original_ = std::move(json);
  return o;
}

raw_json raw_object::value_of(const member& m) const {
  if (!m.replacement.empty()) return m.replacement;
  return original_.slice(original_.text().substr(m.value_begin, m.value_end - m.value_begin));
}

// Makes an index of the members after many edits of a large object. Few edits search all members instead.
bool raw_object::indexed() {
  constexpr std::uint32_t few = 8;
  if (!last_.empty()) return true;
  if (++searches_ <= few || members_.size() <= few) return false;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    if (members_[i].erased) continue;
    auto& last = last_.try_emplace(std::string(members_[i].key), i).first->second;
    if (last != i) members_[i].before = last + 1;
    last = i;
  }
  return !last_.empty();
}

void raw_object::own_key(member& m, std::string_view key) {
  m.own_key = shared_bytes::copy(key);
  m.key = m.own_key.view();
}

// Erases earlier members with the same key.
void raw_object::erase_before(member& m) {
  for (auto i = std::exchange(m.before, 0); i != 0; i = std::exchange(members_[i - 1].before, 0))
    members_[i - 1].erased = true;
}

raw_json raw_object::find(std::string_view key) const {
  for (auto m = members_.rbegin(); m != members_.rend(); ++m)
    if (!m->erased && m->key == key) return value_of(*m);
  return {};
}

void raw_object::set(std::string_view key, raw_json value) {
  edited_ = true;
  member* place = nullptr;
  if (indexed()) {
    const auto [last, fresh] = last_.try_emplace(std::string(key), static_cast<std::uint32_t>(members_.size()));
    if (!fresh) erase_before(*(place = &members_[last->second]));
  } else {
    for (member& m : members_) {
      if (m.erased || m.key != key) continue;
      if (place != nullptr) place->erased = true;
      place = &m;
    }
  }
  if (place == nullptr) {
    place = &members_.emplace_back();
    own_key(*place, key);
    place->added = true;
  }
  place->replacement = std::move(value);
}

bool raw_object::erase(std::string_view key) {
  bool found = false;
  if (indexed()) {
    const auto last = last_.find(std::string(key));
    if (last == last_.end()) return false;
    erase_before(members_[last->second]);
    members_[last->second].erased = edited_ = true;
    last_.erase(last);
    return true;
  }
  for (member& m : members_) {
    if (m.erased || m.key != key) continue;
    m.erased = true;
    found = true;
  }
  edited_ = edited_ || found;
  return found;
}

std::size_t raw_object::size() const noexcept {
  std::size_t n = 0;
  for (const member& m : members_) n += m.erased ? 0 : 1;
  return n;
}

segments raw_object::build() const {
  segments out;
  if (!edited_) {
    out.append(original_);
    return out;
  }
  const std::string_view text = original_.text();
  const bool was_empty = members_.empty() || members_.front().added;
  // Stretch of the original to append next; first the brace and its blanks.
  std::size_t run_begin = 0, run_end = was_empty ? 1 : members_.front().begin;
  const auto flush = [&] { out.append(original_.slice(text.substr(run_begin, run_end - run_begin))); };
  const auto extend = [&](std::size_t begin, std::size_t end) {
    if (begin != run_end) {
      flush();
      run_begin = begin;
    }
    run_end = end;
  };

  bool any = false;
  std::size_t before = run_end;  // beginning of the next member's separator
  for (const member& m : members_) {
    if (m.added) continue;
    if (!m.erased) {
      extend(any ? before : std::size_t{m.begin}, m.replacement.empty() ? m.value_end : m.value_begin);
      any = true;
      if (!m.replacement.empty()) {
        flush();
        out.append(m.replacement);
        run_begin = run_end = m.value_end;
      }
    }
    before = m.value_end;
  }
  for (const member& m : members_) {
    if (!m.added || m.erased) continue;
    flush();
    run_begin = run_end;
    std::string head = any ? "," : "";
    append_quoted(head, m.key);
    head += ':';
    out.append_copy(head);
    out.append(m.replacement);
    any = true;
  }
  extend(before, text.size());
  flush();
  return out;
}

raw_json raw_object::json() const {
  return edited_ ? build().join() : original_;
}

result<void> read_members(const raw_json& object, std::span<const std::string_view> keys, std::span<raw_json> values) {
  if (!object.is_object()) return fail(errc::invalid_argument, "an object is expected here");
  walk::member_walk members(object.text());
  for (std::size_t n = 0; members.next(); ++n) {
    if (n == most_members) return too_many(most_members);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!members.key_is(keys[i])) continue;
      if (!values[i].empty()) return fail(errc::invalid_argument, "duplicate member " + json_quoted(keys[i]));
      values[i] = raw_json::literal(members.value);
    }
  }
  if (members.broken()) return fail(errc::parse, "an object with broken members cannot be edited");
  return {};
}

raw_json with_replaced(const raw_json& whole, std::string_view part, std::string_view replacement) {
  const std::string_view text = whole.text();
  const auto begin = static_cast<std::size_t>(part.data() - text.data());
  byte_buffer out;
  char* end = out.extend(text.size() - part.size() + replacement.size());
  end = std::copy_n(text.data(), begin, end);
  end = std::copy(replacement.begin(), replacement.end(), end);
  std::copy(text.begin() + static_cast<std::ptrdiff_t>(begin + part.size()), text.end(), end);
  return raw_json::whole(out.take());
}

raw_json find_member(const raw_json& object, std::string_view key, std::size_t most) {
  raw_json found;
  std::string_view value;
  walk::member_walk members(object.text());
  for (std::size_t n = 0; members.next(); ++n) {
    if (n == most) return {};
    if (members.key_is(key)) value = members.value;
  }
  if (!value.empty()) found = object.slice(value);
  return found;
}

}  // namespace mcpbx::json
