// The settings of the loop that are numbers. A new one is a member of loop_counts, with its default, and a row of
// loop_numbers(), with its key, range and meaning: files, requests, ceilings, resumed runs, the journal and the schema
// go by the rows.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mcpbx::conf::loop {

/// A number that a level of settings may leave to the next one.
using open_number = std::optional<std::int64_t>;
/// A number of a run, after all levels were laid over each other.
using settled_number = std::int64_t;

/// Returns the default for a settled value; an open one begins unset.
template <class Value, class T>
constexpr Value usual(T value) {
  if constexpr (requires(Value v) { v.has_value(); })
    return {};
  else
    return Value(value);
}

/// Times are in milliseconds.
template <class Number>
struct loop_counts {
  Number max_rounds = usual<Number>(10);
  Number max_calls_per_round = usual<Number>(64);
  Number max_calls = usual<Number>(256);
  Number max_consecutive_errors = usual<Number>(3);
  Number max_repeated_calls = usual<Number>(3);
  Number tool_concurrency = usual<Number>(8);
  Number timeout_ms = usual<Number>(120'000);
  Number question_timeout_ms = usual<Number>(600'000);
  Number token_budget = usual<Number>(0);
  Number max_result_bytes = usual<Number>(102'400);
  bool operator==(const loop_counts&) const = default;
};
using open_counts = loop_counts<open_number>;
using settled_counts = loop_counts<settled_number>;

struct loop_number {
  std::string_view key;
  open_number open_counts::* open;
  settled_number settled_counts::* settled;
  std::int64_t low, high;    ///< range of the values in files and requests
  bool zero_is_none;         ///< 0 stands for "no limit", which is more than any number
  std::string_view meaning;  ///< a sentence for the schema

  bool in_milliseconds() const { return key.ends_with("Ms"); }
  /// Returns the ceiling that `max` sets, if any.
  open_number ceiling(const open_counts& max) const {
    const auto most = max.*open;
    return zero_is_none && most == 0 ? std::nullopt : most;
  }
  bool exceeds(std::int64_t value, std::int64_t most) const { return (zero_is_none && value == 0) || value > most; }
  /// Returns the smaller of two values. A 0 below the range, which no file can give, means "no limit" too.
  std::int64_t stricter(std::int64_t a, std::int64_t b) const;
};

std::span<const loop_number> loop_numbers();
/// Returns the number with this key, which must exist.
const loop_number& find_loop_number(std::string_view key);

}  // namespace mcpbx::conf::loop
