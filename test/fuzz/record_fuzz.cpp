// The journal's records: any text is refused or read, and what was read is written and read again as the same.
#include "daemon/store/records/record_format.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = mcpbx::daemon::stored::record_from(text);
  if (!read) return 0;
  const auto written = mcpbx::daemon::stored::to_text(*read);
  const auto again = mcpbx::daemon::stored::record_from(written);
  if (!again || mcpbx::daemon::stored::to_text(*again) != written) std::abort();
  return 0;
}
