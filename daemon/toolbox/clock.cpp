// Time zones through TZ and the C library.
#include "daemon/toolbox/clock.hpp"

#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <fstream>
#include <optional>
#include <set>
#include <vector>

namespace mcpbx::toolbox {
namespace {

const std::string zone_folder = "/usr/share/zoneinfo/";
constexpr std::array<const char*, 7> weekdays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                 "Thursday", "Friday", "Saturday"};

/// Guard that sets TZ to a zone. An empty zone keeps the system's.
class zone_scope {
 public:
  explicit zone_scope(std::string_view zone) : changed_(!zone.empty()) {
    if (!changed_) {
      ::tzset();
      return;
    }
    if (const char* before = ::getenv("TZ")) before_ = before;
    // The colon marks a file instead of a POSIX rule. UTC needs no file.
    ::setenv("TZ", zone == "UTC" ? "UTC0" : (":" + std::string(zone)).c_str(), 1);
    ::tzset();
  }
  ~zone_scope() {
    if (!changed_) return;
    if (before_)
      ::setenv("TZ", before_->c_str(), 1);
    else
      ::unsetenv("TZ");
    ::tzset();
  }
  zone_scope(const zone_scope&) = delete;
  zone_scope& operator=(const zone_scope&) = delete;

 private:
  bool changed_;
  std::optional<std::string> before_;
};

std::string two(long value) {
  return (value < 10 ? "0" : "") + std::to_string(value);
}

std::string zone_key(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Returns the names of the zone table that comes with the data.
std::vector<std::string> zone_names() {
  std::vector<std::string> names{"UTC"};
  std::ifstream table(zone_folder + "zone1970.tab");
  if (!table) table.open(zone_folder + "zone.tab");
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with('#')) continue;
    const auto first = line.find('\t');
    const auto second = first == std::string::npos ? first : line.find('\t', first + 1);
    if (second == std::string::npos) continue;
    names.push_back(line.substr(second + 1, line.find('\t', second + 1) - second - 1));
  }
  return names;
}

/// Returns ` (did you mean "Europe/Berlin"?)`, since models write the city alone or in lower case.
std::string zone_hint(std::string_view zone) {
  const auto names = zone_names();
  const auto wanted = zone_key(zone);
  for (const auto& name : names) {
    const auto known = zone_key(name);
    if (known == wanted || known.ends_with("/" + wanted)) return " (did you mean \"" + name + "\"?)";
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return did_you_mean(zone, views);
}

/// Returns the name of the system's own zone, as far as it can be determined.
std::string system_zone(const tm& local) {
  if (const char* name = ::getenv("TZ"); name && *name) return name[0] == ':' ? name + 1 : name;
  char target[512];
  const auto size = ::readlink("/etc/localtime", target, sizeof target);
  const std::string_view path(target, size < 0 ? 0 : static_cast<std::size_t>(size));
  constexpr std::string_view marker = "zoneinfo/";
  if (const auto at = path.find(marker); at != std::string_view::npos)
    return std::string(path.substr(at + marker.size()));
  return local.tm_zone;
}

/// Reader of digits and separators from left to right.
class reader {
 public:
  explicit reader(std::string_view text) : text_(text) {}
  /// Reads exactly `digits` digits.
  std::optional<int> number(std::size_t digits) {
    if (text_.size() < digits) return std::nullopt;
    int value = 0;
    for (const char c : text_.substr(0, digits)) {
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + (c - '0');
    }
    text_.remove_prefix(digits);
    return value;
  }
  bool take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
};

struct written {
  std::optional<std::chrono::year_month_day> day;
  long seconds = 0;            // since midnight
  std::optional<long> offset;  // seconds east of UTC
};

std::optional<written> parse(std::string_view text) {
  using namespace std::chrono;
  reader in(text);
  written w;
  if (text.size() > 4 && text[4] == '-') {
    const auto y = in.number(4);
    const bool first = in.take('-');
    const auto m = in.number(2);
    const bool second = in.take('-');
    const auto d = in.number(2);
    if (!y || !first || !m || !second || !d) return std::nullopt;
    const year_month_day day{year(*y), month(static_cast<unsigned>(*m)), std::chrono::day(static_cast<unsigned>(*d))};
    if (!day.ok() || *y == 0) return std::nullopt;
    w.day = day;
    if (!in.take('T') && !in.take('t') && !in.take(' ')) return std::nullopt;
  }
  const auto hours = in.number(2);
  const bool colon = in.take(':');
  const auto minutes = in.number(2);
  if (!hours || !colon || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  w.seconds = *hours * 3600L + *minutes * 60L;
  if (in.take(':')) {
    const auto seconds = in.number(2);
    if (!seconds || *seconds > 59) return std::nullopt;
    w.seconds += *seconds;
    if (in.take('.') || in.take(','))  // fractions are ignored: answers are in seconds
      while (in.number(1)) {
      }
  }
  if (in.take('Z') || in.take('z')) {
    w.offset = 0;
  } else if (in.rest().starts_with('+') || in.rest().starts_with('-')) {
    const long sign = in.take('-') ? -1 : (in.take('+'), 1);
    const auto h = in.number(2);
    in.take(':');
    const auto m = in.number(2);
    if (!h || !m || *h > 23 || *m > 59) return std::nullopt;
    w.offset = sign * (*h * 3600L + *m * 60L);
  }
  if (!in.rest().empty()) return std::nullopt;
  return w;
}

/// Returns true if the file holds a zone. Other files in the folder of the zones must not pass for a zone at UTC.
bool is_zone_file(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
  return std::string_view(magic, sizeof magic) == "TZif";
}

long offset_at(std::int64_t unix_seconds) {
  const time_t t = unix_seconds;
  tm local{};
  ::localtime_r(&t, &local);
  return local.tm_gmtoff;
}

}  // namespace

result<void> check_time_zone(std::string_view zone) {
  if (zone == "UTC") return {};
  const auto allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("_+-/").contains(c);
  };
  const bool well_formed =
      !zone.empty() && zone.size() <= 64 && zone.front() != '/' && std::ranges::all_of(zone, allowed);
  if (well_formed && is_zone_file(zone_folder + std::string(zone))) return {};
  if (::access(zone_folder.c_str(), X_OK) != 0)
    return fail(errc::unavailable,
                "Time zones other than UTC are not installed on this machine (the package is called tzdata).");
  return fail(errc::invalid_argument, "There is no time zone \"" + redact::printable(cut_utf8(zone, 64)) + "\"" +
                                          zone_hint(zone) + ". Use an IANA name such as Europe/Berlin.");
}

result<local_time> time_in_zone(std::int64_t unix_seconds, std::string_view zone) {
  if (!zone.empty())
    if (auto known = check_time_zone(zone); !known) return std::unexpected(known.error());
  const zone_scope scope(zone);
  const time_t t = unix_seconds;
  tm local{};
  if (!::localtime_r(&t, &local)) return fail(errc::invalid_argument, "That time is outside the calendar.");
  local_time out;
  const long minutes = local.tm_gmtoff / 60;
  const long distance = minutes < 0 ? -minutes : minutes;
  out.offset = (minutes < 0 ? "-" : "+") + two(distance / 60) + ":" + two(distance % 60);
  auto year = std::to_string(local.tm_year + 1900);
  if (year.size() < 4) year.insert(0, 4 - year.size(), '0');
  out.iso = year + "-" + two(local.tm_mon + 1) + "-" + two(local.tm_mday) + "T" + two(local.tm_hour) + ":" +
            two(local.tm_min) + ":" + two(local.tm_sec) + out.offset;
  out.weekday = weekdays[static_cast<std::size_t>(local.tm_wday)];
  out.zone = zone.empty() ? system_zone(local) : std::string(zone);
  out.abbreviation = local.tm_zone;
  out.unix_seconds = unix_seconds;
  return out;
}

result<written_time> read_time(std::string_view text, std::string_view zone, std::int64_t now) {
  using namespace std::chrono;
  const auto w = parse(text);
  if (!w)
    return fail(errc::invalid_argument, "\"" + redact::printable(cut_utf8(text, 64)) +
                                            "\" is no time. Write it as 2026-07-28T09:30, or 09:30 for today, with an "
                                            "offset such as +02:00 or Z if it has one.");
  if (!zone.empty())
    if (auto known = check_time_zone(zone); !known) return std::unexpected(known.error());
  const zone_scope scope(zone);
  auto day = w->day;
  if (!day) {
    const auto there = now + w->offset.value_or(offset_at(now));
    day = year_month_day(floor<days>(sys_seconds(seconds(there))));
  }
  const std::int64_t as_if_utc = sys_seconds(sys_days(*day)).time_since_epoch().count() + w->seconds;
  written_time out;
  if (w->offset) {
    out.unix_seconds = as_if_utc - *w->offset;
    return out;
  }
  // Tries the offsets one day before and after, the only candidates: a change of clocks lies between them, if at all.
  constexpr std::int64_t one_day = 86400;
  const long before = offset_at(as_if_utc - one_day), after = offset_at(as_if_utc + one_day);
  std::set<std::int64_t> moments;
  for (const long offset : {before, after})
    if (offset_at(as_if_utc - offset) == offset) moments.insert(as_if_utc - offset);
  out.unix_seconds = moments.empty() ? as_if_utc - before : *moments.begin();
  if (moments.empty())
    out.note = "The clocks there skip that time when they go forward; the time after the change is meant.";
  if (moments.size() > 1) out.note = "The clocks there show that time twice when they go back; the first one is meant.";
  return out;
}

}  // namespace mcpbx::toolbox
