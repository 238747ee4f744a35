// Newline-delimited JSON-RPC: bytes in, checked messages out. Holds at most one unfinished message. Knows no I/O.
// Follows the MCP stdio transport (messages are delimited by newlines and contain none) and design rule 4.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mcp/rpc/message.hpp"
#include "mcp/support/json_scanner.hpp"
#include "mcp/support/shared_bytes.hpp"

namespace mcpbx::mcp {

/// A line that is no message.
struct line_fault {
  enum class kind : std::uint8_t {
    noise,      ///< does not start with { or [, or is no JSON at all: a log line on stdout (row 9)
    malformed,  ///< JSON-RPC that breaks the rules; `envelope` says which and with which id
    oversized,  ///< longer than max_message_bytes, or refused by the accountant; dropped up to its newline
    too_deep    ///< nested deeper than max_depth; dropped up to its newline
  };
  kind type = kind::noise;
  envelope_fault envelope;  ///< code, id found so far, what
  std::size_t bytes = 0;    ///< of the line, as far as it was read
  std::string excerpt;      ///< its first 200 bytes at most, made printable
};

/// Receives what the framer finds, in order. Must not feed the framer from inside.
class line_sink {
 public:
  virtual ~line_sink() = default;
  virtual void on_message(message m) = 0;
  virtual void on_fault(line_fault f) = 0;
};

class line_framer {
 public:
  struct options {
    std::size_t max_message_bytes = 32u << 20;
    int max_depth = 256;
    /// From a tool server: invalid UTF-8 is repaired in a counted copy. From a caller: -32700.
    bool repair_utf8 = false;
  };
  explicit line_framer(options o) : options_(o), scanner_({o.max_depth, o.repair_utf8}) {}

  /// Takes bytes as they were read, cut anywhere. A message of up to 64 KiB that lies within `chunk` gets one exact
  /// allocation of its own; a longer one is gathered in one buffer that is handed over.
  /// Lines may end in CR LF, one byte order mark may come first, empty lines are skipped.
  void feed(std::string_view chunk, line_sink& sink);
  /// The stream ended: an unfinished line becomes a fault (malformed, "the line was cut off").
  void finish(line_sink& sink);

  /// Bytes of the unfinished message held now.
  std::size_t held() const noexcept { return tail_.size(); }
  std::uint64_t repaired_utf8() const noexcept { return repaired_; }

 private:
  void take_line_part(std::string_view part, line_sink& sink);
  void end_line(std::string_view last_part, line_sink& sink);
  void fault_line(line_sink& sink);
  options options_;
  json_scanner scanner_;
  byte_buffer tail_;
  std::size_t line_bytes_ = 0;
  bool first_line_ = true, discarding_ = false;
  line_fault pending_fault_;
  std::uint64_t repaired_ = 0;
};

}  // namespace mcpbx::mcp
