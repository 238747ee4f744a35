// One line of the audit (docs/guarantees.md, G48): who called which tool when, with what, and how it ended. Pure.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/server/call_recorder.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace mcpbx::daemon {

struct audit_record {
  std::int64_t wall_ms = 0;  ///< when the call was over, ms since 1970
  std::string principal;     ///< who asked: "uid:1000"
  pid_t pid = -1;            ///< of the caller; -1: it is not told
  std::string name;          ///< what the caller calls itself, or ""
  std::string run;           ///< the run that made the call, or ""
  mcp::finished_call call;
  bool arguments_known = true;  ///< false: the hash is left out
};

/// The record as one JSON object with its line break. The arguments are in it as the SHA-256 of their bytes ("{}" when
/// there are none); names are cut at 256 bytes.
std::string to_line(const audit_record& r);

}  // namespace mcpbx::daemon
