// One line of the audit (docs/guarantees.md, G48): the caller, the tool, prompt or resource, the time, a hash of the
// arguments, the outcome.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/server/base/call_recorder.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace mcpbx::daemon::audit {

struct audit_record {
  std::int64_t wall_ms = 0;  ///< end of the call, in milliseconds since 1970
  std::string principal;     ///< user or token that asked: "uid:1000"
  pid_t pid = -1;            ///< process of the caller; -1: left out
  std::string name;          ///< the caller's own name, or ""
  std::string run;           ///< run that made the call, or ""
  mcp::server::finished_call call;
  bool arguments_known = true;  ///< false: the hash is left out
};

/// Returns the record as one JSON object with its line break. It contains the SHA-256 of the arguments' bytes ("{}" if
/// there are none), not the arguments; names are cut at 256 bytes.
std::string to_line(const audit_record& r);

}  // namespace mcpbx::daemon::audit
