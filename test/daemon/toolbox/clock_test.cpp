// Time zones with a given now: what a clock shows, what a written time means, and that TZ is left as it was.
#include "daemon/toolbox/clock.hpp"

#include <doctest/doctest.h>

#include <stdlib.h>
#include <unistd.h>

#include <optional>
#include <string>

using namespace mcpbx::toolbox;

namespace {

// 2026-07-28T07:30:15Z, a Tuesday.
constexpr std::int64_t summer = 1785223815;

/// TZ for one test.
class zone_of_test {
 public:
  explicit zone_of_test(const char* value) {
    if (const char* found = ::getenv("TZ")) before_ = found;
    ::setenv("TZ", value, 1);
  }
  ~zone_of_test() {
    if (before_)
      ::setenv("TZ", before_->c_str(), 1);
    else
      ::unsetenv("TZ");
  }
  zone_of_test(const zone_of_test&) = delete;
  zone_of_test& operator=(const zone_of_test&) = delete;

 private:
  std::optional<std::string> before_;
};

// A machine without zone data can only be asked for UTC.
bool zones_are_installed() {
  return ::access("/usr/share/zoneinfo/Europe/Berlin", R_OK) == 0;
}

std::string iso(std::int64_t moment, std::string_view zone) {
  const auto t = time_in_zone(moment, zone);
  return t ? t->iso : "error: " + t.error().message;
}

std::string meant(std::string_view text, std::string_view zone) {
  const auto t = read_time(text, zone, summer);
  if (!t) return "error: " + t.error().message;
  return iso(t->unix_seconds, "UTC") + (t->note.empty() ? "" : " " + t->note);
}

}  // namespace

TEST_CASE("clock: shows a moment in UTC with weekday and offset") {
  const auto t = time_in_zone(summer, "UTC");
  REQUIRE(t.has_value());
  CHECK(t->iso == "2026-07-28T07:30:15+00:00");
  CHECK(t->weekday == "Tuesday");
  CHECK(t->offset == "+00:00");
  CHECK(t->zone == "UTC");
  CHECK(t->unix_seconds == summer);
}

TEST_CASE("clock: shows a moment in other zones and leaves TZ as it was") {
  if (!zones_are_installed()) return;
  const zone_of_test here("America/New_York");
  CHECK(iso(summer, "Europe/Berlin") == "2026-07-28T09:30:15+02:00");
  CHECK(iso(summer, "Asia/Kathmandu") == "2026-07-28T13:15:15+05:45");
  CHECK(iso(summer, "Pacific/Marquesas") == "2026-07-27T22:00:15-09:30");
  CHECK(std::string(::getenv("TZ")) == "America/New_York");
  const auto local = time_in_zone(summer, "");
  REQUIRE(local.has_value());
  CHECK(local->iso == "2026-07-28T03:30:15-04:00");
  CHECK(local->zone == "America/New_York");
  CHECK(local->abbreviation == "EDT");
}

TEST_CASE("clock: an unset TZ stays unset") {
  const zone_of_test restore("");
  ::unsetenv("TZ");
  CHECK(time_in_zone(summer, "UTC").has_value());
  CHECK(::getenv("TZ") == nullptr);
}

TEST_CASE("clock: unknown zones are errors that help") {
  for (const std::string zone : {"Mars/Olympus", "../../etc/passwd", "/etc/passwd", "Europe/../UTC", "zone.tab",
                                 "leapseconds", "Europe", "Europe/", ":UTC", "UTC0;rm", "<+03>-3"}) {
    CAPTURE(zone);
    const auto t = time_in_zone(summer, zone);
    REQUIRE_FALSE(t.has_value());
    CHECK(t.error().message.find("time zone") != std::string::npos);
  }
  if (!zones_are_installed()) return;
  CHECK(check_time_zone("berlin").error().message.find("did you mean \"Europe/Berlin\"?") != std::string::npos);
  CHECK(check_time_zone("new york").error().message.find("did you mean \"America/New_York\"?") != std::string::npos);
}

TEST_CASE("clock: reads written times") {
  CHECK(meant("2026-07-28T09:30", "UTC") == "2026-07-28T09:30:00+00:00");
  CHECK(meant("2026-07-28 09:30:59", "UTC") == "2026-07-28T09:30:59+00:00");
  CHECK(meant("2026-07-28T09:30:15.250Z", "UTC") == "2026-07-28T09:30:15+00:00");
  CHECK(meant("2026-07-28T09:30+05:45", "UTC") == "2026-07-28T03:45:00+00:00");
  CHECK(meant("2026-07-28T09:30:00-0800", "UTC") == "2026-07-28T17:30:00+00:00");
  CHECK(meant("23:15", "UTC") == "2026-07-28T23:15:00+00:00");
  CHECK(meant("01:00+10:00", "UTC") == "2026-07-27T15:00:00+00:00");
  CHECK(meant("2024-02-29T00:00", "UTC") == "2024-02-29T00:00:00+00:00");
  if (!zones_are_installed()) return;
  CHECK(meant("2026-07-28T09:30", "Europe/Berlin") == "2026-07-28T07:30:00+00:00");
  CHECK(meant("2026-01-28T09:30", "Europe/Berlin") == "2026-01-28T08:30:00+00:00");
  CHECK(meant("09:00", "Asia/Tokyo") == "2026-07-28T00:00:00+00:00");
}

TEST_CASE("clock: times that a change of clocks skips or repeats carry a note") {
  if (!zones_are_installed()) return;
  CHECK(meant("2026-03-29T02:30", "Europe/Berlin").starts_with("2026-03-29T01:30:00+00:00 The clocks there skip"));
  CHECK(meant("2026-10-25T02:30", "Europe/Berlin")
            .starts_with("2026-10-25T00:30:00+00:00 The clocks there show that time twice"));
  CHECK(meant("2026-03-29T03:00", "Europe/Berlin") == "2026-03-29T01:00:00+00:00");
  CHECK(meant("2026-10-25T03:00", "Europe/Berlin") == "2026-10-25T02:00:00+00:00");
}

TEST_CASE("clock: refuses what is no time") {
  for (const std::string text :
       {"", "now", "25:00", "12:60", "12:00:60", "2026-02-29T00:00", "2026-13-01T00:00", "2026-07-28",
        "2026-07-28T9:30", "12:00 tomorrow", "12:00+99:00", "0000-01-01T00:00"}) {
    CAPTURE(text);
    const auto t = read_time(text, "UTC", summer);
    REQUIRE_FALSE(t.has_value());
    CHECK(t.error().message.find("is no time") != std::string::npos);
  }
}
