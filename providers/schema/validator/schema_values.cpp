// Comparison and hashing of values. On our platforms (x86-64, AArch64) long double holds every 64-bit integer and every
// double, so mixed comparisons are exact.
#include "providers/schema/validator/schema_values.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>

namespace mcpbx::providers::schema {
namespace {

static_assert(std::numeric_limits<long double>::digits >= 64);

long double number(const tree::value& v) {
  if (v.kind() == tree::kind::int64) return static_cast<long double>(v.get_int64());
  if (v.kind() == tree::kind::uint64) return static_cast<long double>(v.get_uint64());
  return static_cast<long double>(v.get_double());
}

// Returns the cost of a value in steps: one, and one for every 64 bytes of a string and of member names.
bool spend(const tree::value& v, std::size_t& steps) {
  std::size_t cost = v.is_string() ? 1 + v.get_string().size() / 64 : 1;
  if (const auto* object = v.if_object())
    for (auto m = object->begin(); m != object->end() && cost <= steps; ++m) cost += m->key().size() / 64;
  const bool enough = cost <= steps;
  steps -= enough ? cost : steps;
  return enough;
}

std::uint64_t mixed(std::uint64_t seed, std::uint64_t h) {
  return (seed ^ h) * 0x9E3779B97F4A7C15 + (h >> 29);
}

}  // namespace

std::partial_ordering compare_numbers(const tree::value& a, const tree::value& b) {
  return number(a) <=> number(b);
}

bool is_integer(const tree::value& v) {
  if (!v.is_double()) return v.is_integer();
  return std::isfinite(v.get_double()) && std::floor(v.get_double()) == v.get_double();
}

bool is_multiple(const tree::value& v, const tree::value& step) {
  if (!v.is_double() && !step.is_double()) return std::fmod(number(v), number(step)) == 0;
  // Decimal fractions are not exact in binary, so the quotient may miss an integer by a few units in the last place.
  const double q = static_cast<double>(number(v)) / static_cast<double>(number(step));
  if (!std::isfinite(q)) return false;
  const double off = std::fabs(q - std::round(q));
  return off <= std::max(1e-9, std::fabs(q) * 4e-16);
}

bool equal(const tree::value& a, const tree::value& b, std::size_t& steps) {
  if (!spend(a, steps)) return false;
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case tree::kind::string:
      return a.get_string() == b.get_string();
    case tree::kind::bool_:
      return a.get_bool() == b.get_bool();
    case tree::kind::array: {
      const auto &x = a.get_array(), &y = b.get_array();
      return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(),
                                                [&](const auto& l, const auto& r) { return equal(l, r, steps); });
    }
    case tree::kind::object: {
      const auto &x = a.get_object(), &y = b.get_object();
      return x.size() == y.size() && std::all_of(x.begin(), x.end(), [&](const auto& member) {
               const auto* other = y.if_contains(member.key());
               return other && equal(member.value(), *other, steps);
             });
    }
    default:
      return true;
  }
}

std::uint64_t hash(const tree::value& v, std::size_t& steps) {
  if (!spend(v, steps)) return 0;
  const std::hash<std::string_view> text;
  if (v.is_number()) return mixed(1, std::hash<double>()(static_cast<double>(number(v))));
  switch (v.kind()) {
    case tree::kind::string:
      return mixed(2, text(std::string_view(v.get_string())));
    case tree::kind::bool_:
      return v.get_bool() ? 3 : 4;
    case tree::kind::array: {
      std::uint64_t h = 5;
      for (const auto& e : v.get_array()) h = mixed(h, hash(e, steps));
      return h;
    }
    case tree::kind::object: {
      std::uint64_t h = 6;  // a sum: the order of members does not matter
      for (const auto& m : v.get_object()) h += mixed(text(std::string_view(m.key())), hash(m.value(), steps));
      return h;
    }
    default:
      return 7;
  }
}

std::size_t length(std::string_view s) {
  return static_cast<std::size_t>(
      std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace mcpbx::providers::schema
