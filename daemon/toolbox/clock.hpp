// Time zones for models: the present time in a zone, and conversion of times between zones. The C library knows the
// zones; TZ is set for a moment and restored, which is safe because the toolbox has one thread.
#pragma once
#include "mcp/support/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::toolbox {

/// One moment as a clock in one zone shows it.
struct local_time {
  std::string iso;           ///< 2026-07-28T09:30:00+02:00
  std::string weekday;       ///< Tuesday
  std::string zone;          ///< the IANA name; for the system's own zone as much as is known
  std::string offset;        ///< +02:00
  std::string abbreviation;  ///< CEST
  std::int64_t unix_seconds = 0;
};

/// Checks an IANA name such as Europe/Berlin and that its data is installed. errc::invalid_argument suggests a similar
/// name or the missing package.
result<void> check_time_zone(std::string_view zone);

/// Returns the moment in `zone`, or in the system's zone if `zone` is empty.
result<local_time> time_in_zone(std::int64_t unix_seconds, std::string_view zone);

/// A time read from text.
struct written_time {
  std::int64_t unix_seconds = 0;
  std::string note;  ///< one sentence when the clock showed that time twice or never, else ""
};

/// Reads "2026-07-28T09:30", "2026-07-28 09:30:15", "09:30" (today in `zone`) or any of them with Z or an offset such
/// as +02:00, which then counts instead of `zone`. `now` is in Unix seconds.
result<written_time> read_time(std::string_view text, std::string_view zone, std::int64_t now);

}  // namespace mcpbx::toolbox
