// Builds trees from checked JSON: enforces the limits, joins duplicate members, and sorts the names of large objects.
#include "providers/schema/validator/json_tree.hpp"

#include "mcp/json/json_skip.hpp"
#include "mcp/support/byte_search.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <new>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::providers::schema::tree {
namespace {

constexpr std::size_t few = 16;  // largest object without an index; its members are searched one by one

std::uint32_t hex4(std::string_view digits) {
  std::uint32_t n = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), n, 16);
  return n;
}

bool has_half_pair(std::string_view token) {
  for (auto at = token.find('\\'); at != token.npos; at = token.find('\\', at)) {
    if (token.substr(at, 2) != "\\u") {
      at += 2;
      continue;
    }
    const auto one = hex4(token.substr(at + 2, 4));
    at += 6;
    if (one < 0xD800 || one > 0xDFFF) continue;
    const auto other = token.substr(at, 2) == "\\u" ? hex4(token.substr(at + 2, 4)) : 0;
    if (one > 0xDBFF || other < 0xDC00 || other > 0xDFFF) return true;
    at += 6;
  }
  return false;
}

// Rounds a number that no double can hold to infinity or 0, by the power of ten of its first digit.
double beyond_doubles(std::string_view token) {
  const bool negative = token.starts_with('-');
  const auto e = token.find_first_of("eE");
  const auto mantissa = token.substr(negative ? 1 : 0, e == token.npos ? e : e - (negative ? 1 : 0));
  long long power = 0;
  if (e != token.npos) {
    const bool down = token[e + 1] == '-';
    for (const char c : token.substr(e + 1))
      if (c >= '0' && c <= '9' && power < 1'000'000'000'000) power = power * 10 + (c - '0');
    if (down) power = -power;
  }
  const auto point = std::min(mantissa.find('.'), mantissa.size());
  const auto digit = mantissa.find_first_of("123456789");
  if (digit != mantissa.npos) power += static_cast<long long>(point) - static_cast<long long>(digit);
  if (power <= 0) return negative ? -0.0 : 0.0;
  return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

value number_of(std::string_view token) {
  const auto *const begin = token.data(), *const end = begin + token.size();
  if (token.find_first_of(".eE") == token.npos) {
    std::int64_t i = 0;
    if (std::from_chars(begin, end, i).ec == std::errc()) return value(i);
    std::uint64_t u = 0;
    if (*begin != '-' && std::from_chars(begin, end, u).ec == std::errc()) return value(u);
  }
  double d = 0;
  if (std::from_chars(begin, end, d).ec == std::errc()) return value(d);
  return value(beyond_doubles(token));
}

class reader {
 public:
  reader(std::string_view json, int max_depth, std::pmr::memory_resource& memory)
      : p_(json.data()), end_(p_ + json.size()), depth_left_(max_depth), memory_(memory) {}

  result<value> run() {
    p_ = byte_search::skip_blanks(p_, end_);
    value root;
    if (!read(root))
      return fail(why_ == too_deep || why_ == too_many_values || why_ == too_many_members ? errc::limit : errc::parse,
                  std::string(why_));
    return root;
  }

 private:
  bool refuse(std::string_view why) {
    why_ = why;
    return false;
  }
  bool next_is(char c) {
    p_ = byte_search::skip_blanks(p_, end_);
    if (p_ == end_ || *p_ != c) return false;
    p_ = byte_search::skip_blanks(p_ + 1, end_);
    return true;
  }

  bool read(value& into) {
    if (++values_ > max_values) return refuse(too_many_values);
    const char* const token_end = p_ == end_ || *p_ == '{' || *p_ == '[' ? p_ : json::json_skip::value(p_, end_);
    const std::string_view token(p_, static_cast<std::size_t>(token_end - p_));
    if (p_ == end_) return refuse(no_json);
    switch (*p_) {
      case '{':
        return nested(into, &reader::read_object);
      case '[':
        return nested(into, &reader::read_array);
      case '"': {
        std::string_view text;
        if (!read_text(text)) return false;
        into = value(text);
        return true;
      }
      case 't':
      case 'f':
        into = value(*p_ == 't');
        break;
      case 'n':
        into = value();
        break;
      default:
        if (token.empty()) return refuse(no_json);
        into = number_of(token);
    }
    p_ = token_end;
    return true;
  }

  bool nested(value& into, bool (reader::*part)(value&)) {
    if (depth_left_ == 0) return refuse(too_deep);
    --depth_left_;
    const bool ok = (this->*part)(into);
    ++depth_left_;
    return ok;
  }

  bool read_text(std::string_view& text) {
    if (p_ == end_ || *p_ != '"') return refuse(no_json);
    const char* const token_end = json::json_skip::string(p_, end_);
    const std::string_view token(p_, static_cast<std::size_t>(token_end - p_));
    if (token.size() < 2) return refuse(no_json);
    p_ = token_end;
    text = token.substr(1, token.size() - 2);
    if (text.find('\\') == text.npos) return true;
    if (has_half_pair(text)) return refuse(half_pair);
    const auto plain = json::unescaped(token);
    const auto kept = room<char>(plain.size());
    std::ranges::copy(plain, kept);
    text = {kept, plain.size()};
    return true;
  }

  // One list holds the elements of all open arrays; an array removes its own at its end.
  bool read_array(value& into) {
    const auto first = elements_.size();
    ++p_;
    for (bool more = !next_is_end(']'); more; more = next_is(',')) {
      value element;
      if (!read(element)) return false;
      elements_.push_back(element);
    }
    if (!closed(']')) return false;
    const auto size = elements_.size() - first;
    auto* const kept = room<value>(size);
    std::uninitialized_copy(elements_.begin() + static_cast<std::ptrdiff_t>(first), elements_.end(), kept);
    elements_.resize(first);
    into = value(*new (room<array>(1)) array({kept, size}));
    return true;
  }

  bool read_object(value& into) {
    const auto first = members_.size();
    ++p_;
    for (bool more = !next_is_end('}'); more; more = next_is(',')) {
      std::string_view name;
      value v;
      if (++member_count_ > max_members) return refuse(too_many_members);
      if (!read_text(name)) return false;
      if (!next_is(':')) return refuse(no_json);
      if (!read(v)) return false;
      members_.emplace_back(name, v);
    }
    if (!closed('}')) return false;
    into = value(*new (room<object>(1)) object(kept_members(first)));
    return true;
  }

  object kept_members(std::size_t first) {
    auto order = std::span<std::uint32_t>();
    for (;;) {
      const std::span all = std::span(members_).subspan(first);
      if (all.size() > few) {
        if (order.size() < all.size()) order = {room<std::uint32_t>(all.size()), all.size()};
        order = order.first(all.size());
        std::iota(order.begin(), order.end(), 0U);
        std::ranges::sort(
            order, [&](auto a, auto b) { return all[a].key() != all[b].key() ? all[a].key() < all[b].key() : a < b; });
      }
      if (!join_same(first, order)) break;
    }
    const std::span all = std::span(members_).subspan(first);
    auto* const kept = room<member>(all.size());
    std::uninitialized_copy(all.begin(), all.end(), kept);
    const auto size = all.size();
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(first), members_.end());
    return {{kept, size}, size > few ? std::span<const std::uint32_t>(order) : std::span<const std::uint32_t>()};
  }

  // Joins members of one name. Returns true if there were any.
  bool join_same(std::size_t first, std::span<const std::uint32_t> order) {
    const std::span all = std::span(members_).subspan(first);
    std::vector<bool> gone;
    const auto join = [&](std::size_t earlier, std::size_t later) {
      gone.resize(all.size());
      all[earlier] = member(all[earlier].key(), all[later].value());
      gone[later] = true;
    };
    if (all.size() > few) {
      for (std::size_t i = 0, k = 1; k < order.size(); ++k) {
        if (all[order[i]].key() == all[order[k]].key())
          join(order[i], order[k]);
        else
          i = k;
      }
    } else {
      for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t k = i + 1; k < all.size() && (gone.empty() || !gone[i]); ++k)
          if (all[i].key() == all[k].key()) join(i, k);
    }
    if (gone.empty()) return false;
    auto to = first;
    for (std::size_t i = 0; i < gone.size(); ++i)
      if (!gone[i]) members_[to++] = members_[first + i];
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(to), members_.end());
    return true;
  }

  bool next_is_end(char c) {
    p_ = byte_search::skip_blanks(p_, end_);
    return p_ != end_ && *p_ == c;
  }
  bool closed(char c) {
    if (!next_is_end(c)) return refuse(no_json);
    ++p_;
    return true;
  }
  template <class T>
  T* room(std::size_t n) {
    return static_cast<T*>(memory_.allocate(std::max<std::size_t>(n, 1) * sizeof(T), alignof(T)));
  }

  const char* p_;
  const char* end_;
  int depth_left_;
  std::pmr::memory_resource& memory_;
  std::size_t values_ = 0, member_count_ = 0;
  std::vector<value> elements_;
  std::vector<member> members_;
  std::string_view why_;
};

}  // namespace

const value* object::if_contains(std::string_view name) const noexcept {
  if (by_name_.empty()) {
    const auto found = std::ranges::find(members_, name, &member::key);
    return found == members_.end() ? nullptr : &found->value();
  }
  const auto key = [this](std::uint32_t i) { return members_[i].key(); };
  const auto found = std::ranges::lower_bound(by_name_, name, {}, key);
  return found != by_name_.end() && key(*found) == name ? &members_[*found].value() : nullptr;
}

result<value> read(std::string_view json, int max_depth, std::pmr::memory_resource& memory) {
  return reader(json, max_depth, memory).run();
}

}  // namespace mcpbx::providers::schema::tree
