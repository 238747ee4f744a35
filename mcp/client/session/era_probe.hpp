// What the answer to server/discover, or its absence, says about a tool server (2026-07-28, stdio transport, "Backward
// Compatibility"). A pure function.
#pragma once
#include "mcp/rpc/pending_calls.hpp"

#include <string>

namespace mcpbx::mcp {

struct probe_verdict {
  enum class kind : std::uint8_t {
    modern,     ///< speak `revision`; `capabilities` are the server's
    ask_again,  ///< modern, but refused the first request: it supports `revision`
    legacy,     ///< initialize with `revision`
    refused     ///< nothing in common; `why` is a clause about the server
  };
  kind type = kind::legacy;
  std::string revision;
  raw_json capabilities;
  std::string why;
};

/// `pinned` is "auto" or the revision to insist on, which is then a modern one.
probe_verdict read_probe(const call_outcome& outcome, std::string_view pinned);

}  // namespace mcpbx::mcp
