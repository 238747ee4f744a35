// The levels of loop settings: configuration, model entry, profile, request. Each one is laid over those before it,
// then the ceiling is applied. The numbers among them are listed here once, for all who go through them.
#pragma once
#include "conf/model/model.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

namespace mcpbx::conf {

/// A setting of the loop that is a number: what loop.max may bound. Times are in milliseconds.
struct loop_number {
  using count_member = std::optional<std::int64_t> loop_settings::*;
  using time_member = std::optional<milliseconds> loop_settings::*;

  std::string_view key;
  std::variant<count_member, time_member> member;
  bool zero_is_none = false;  ///< 0 stands for "no limit", which is more than any number

  std::optional<std::int64_t> of(const loop_settings& s) const;
  void set(loop_settings& s, std::optional<std::int64_t> value) const;
  /// The least and the greatest value that a file or a request may give: those of the key table.
  std::pair<std::int64_t, std::int64_t> range() const;
  /// The ceiling that `max` sets, if it does.
  std::optional<std::int64_t> ceiling(const loop_settings& max) const;
  bool exceeds(std::int64_t value, std::int64_t ceiling) const;
};
std::span<const loop_number> loop_numbers();
/// The one with this key, which there must be.
const loop_number& find_loop_number(std::string_view key);

/// Every default of the loop; members without one (token_budget, status_model) stay unset.
loop_settings default_loop();

/// Members that are set in `over` replace those of `base`.
void overlay(loop_settings& base, const loop_settings& over);

/// No number of `settings` above that of `max`; a token budget that is unset (none) becomes that of `max`.
void cap(loop_settings& settings, const loop_settings& max);

}  // namespace mcpbx::conf
