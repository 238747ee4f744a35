// Converts records to and from their form in the journal, a JSON object with the format's version. No I/O, no loss.
#pragma once
#include "daemon/store/records/record.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <string_view>

namespace mcpbx::daemon::stored {

/// The format's version, "v" of every record. It rises only if an older reader would misread the new form.
inline constexpr int record_format_version = 1;

/// Writes `r` as {"v":1,"type":name_of(r), …}. JSON inside (arguments, results, a provider's own message) is copied
/// byte for byte; invalid UTF-8 in texts becomes U+FFFD. `assistant` must have its message.
std::string to_text(const run_record& r);

/// Reads a text that to_text() wrote. Ignores unknown members and gives absent ones their default, so that records of
/// other versions can be read. errc::parse: a fault, with the reason. errc::config: a newer version of the format.
result<run_record> record_from(std::string_view text);

/// Reads many records, each as record_from() does. The runs of a session mostly have the same limits, which make up
/// most of their first record; limits with the same bytes at the end are parsed once.
class record_reader {
 public:
  result<run_record> read(std::string_view text);

 private:
  bool cut_limits(std::string_view text);
  std::string limits_end_;  // ,"limits":{…}} of the last record whose limits were parsed
  run_limits limits_;
  std::string without_limits_;  // a record without such an end
};

}  // namespace mcpbx::daemon::stored
