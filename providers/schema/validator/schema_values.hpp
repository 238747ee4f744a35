// Values as JSON Schema compares them: by mathematical value, whatever way a number is written.
#pragma once
#include "providers/schema/validator/json_tree.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>

namespace mcpbx::providers::schema {

/// Both must be numbers. Exact, also between integers and doubles.
std::partial_ordering compare_numbers(const tree::value& a, const tree::value& b);
/// A number without a fraction: 1.0 is one.
bool is_integer(const tree::value& v);
/// Whether `v` / `step` is an integer, as far as doubles can tell; both numbers, `step` > 0.
bool is_multiple(const tree::value& v, const tree::value& step);
/// Deep equality: 1 equals 1.0, the order of members does not matter. Takes one of `steps` per value (long
/// strings: more) and is false when they do not suffice (they are 0 then).
bool equal(const tree::value& a, const tree::value& b, std::size_t& steps);
/// The same for equal values. Takes one of `steps` per value.
std::uint64_t hash(const tree::value& v, std::size_t& steps);
/// The number of code points of valid UTF-8.
std::size_t length(std::string_view s);

}  // namespace mcpbx::providers::schema
