// Compares values as JSON Schema does: numbers by their mathematical value, however they are written.
#pragma once
#include "providers/schema/validator/json_tree.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>

namespace mcpbx::providers::schema {

/// Compares two numbers exactly, also integers with doubles.
std::partial_ordering compare_numbers(const tree::value& a, const tree::value& b);
/// Returns true for numbers without a fraction, such as 1.0.
bool is_integer(const tree::value& v);
/// Returns true if `v` / `step` is an integer within the precision of doubles. Both must be numbers, `step` > 0.
bool is_multiple(const tree::value& v, const tree::value& step);
/// Compares deeply: 1 equals 1.0, and the order of members does not matter. Subtracts a step for each value, more for
/// long strings; returns false when `steps` reaches 0.
bool equal(const tree::value& a, const tree::value& b, std::size_t& steps);
/// Returns the same hash for equal values. Subtracts a step for each value.
std::uint64_t hash(const tree::value& v, std::size_t& steps);
/// Counts the code points of valid UTF-8.
std::size_t length(std::string_view s);

}  // namespace mcpbx::providers::schema
