// Reads the era of a tool server from the answer to server/discover, or its absence (2026-07-28, stdio transport,
// "Backward Compatibility"). A pure function.
#pragma once
#include "mcp/rpc/pending_calls.hpp"

#include <string>

namespace mcpbx::mcp::session {

/// The step that follows a probe.
struct probe_verdict {
  enum class kind : std::uint8_t {
    modern,     ///< speak `revision`; `capabilities` are the server's
    ask_again,  ///< a modern server that refused the first request and supports `revision`
    legacy,     ///< send initialize with `revision`
    refused     ///< nothing in common; `why` is a clause about the server
  };
  kind type = kind::legacy;
  std::string revision;
  json::raw_json capabilities, instructions;  ///< of a modern server
  std::string why;
};

/// Returns the verdict. `pinned` is "auto" or the revision to insist on, which is then a modern one.
probe_verdict read_probe(const rpc::call_outcome& outcome, std::string_view pinned);

}  // namespace mcpbx::mcp::session
