// A record as the journal keeps it: one JSON object in text, with the format's version. Pure, both ways lossless.
#pragma once
#include "daemon/store/records/record.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <string_view>

namespace mcpbx::daemon {

/// The format's version, "v" of every record. It rises only when an older reader would misread what is written.
inline constexpr int record_format_version = 1;

/// `r` as {"v":1,"type":name_of(r), …}. JSON inside of it (arguments, results, a provider's own message) stands there
/// byte for byte; texts must be UTF-8 (what is not is written as U+FFFD). `assistant` must have its message.
std::string to_text(const run_record& r);

/// Reads what to_text wrote. Members that are not known are ignored, members that are absent have their default, so
/// that records of a version with fewer or more of them can be read. errc::parse with the reason: no JSON object
/// (nested deeper than 10,000), a type or word that is not known, a member of the wrong kind, two calls of one id in a
/// message, or no message, call id or run name where the fold needs one; errc::config: a newer version of the format.
result<run_record> record_from(std::string_view text);

/// Reads many records, as record_from reads one. The runs of a session mostly have the same limits, most of their first
/// record: while these stand at its end in the same bytes they are read once.
class record_reader {
 public:
  result<run_record> read(std::string_view text);

 private:
  bool cut_limits(std::string_view text);
  std::string limits_end_;  // ,"limits":{…}} of the last record that had its own
  run_limits limits_;
  std::string without_limits_;  // a record whose end that was
};

}  // namespace mcpbx::daemon
