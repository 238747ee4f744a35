// Cuts newline-delimited JSON-RPC, the form of MCP's stdio transport, into checked messages. Holds at most one
// unfinished message. No I/O.
#pragma once
#include "mcp/json/json_scanner.hpp"
#include "mcp/rpc/message_sink.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mcpbx::mcp::rpc {

class line_framer {
 public:
  struct options {
    std::size_t max_message_bytes = 32u << 20;
    int max_depth = 256;
    /// From a tool server: invalid UTF-8 is repaired in a counted copy. From a caller: -32700.
    bool repair_utf8 = false;
    /// From a tool server: an answer whose result is nested deeper than max_depth, but at most 10,000 levels, is still
    /// a fault, and one that has the message (message_fault::deep_answer).
    bool keep_deep_answers = false;
    /// Configuration keys of the limits, for the texts of faults: string literals, or "".
    std::string_view max_message_bytes_key = {}, max_depth_key = {};
  };
  explicit line_framer(options o) : options_(o), scanner_({o.max_depth, o.repair_utf8, o.keep_deep_answers}) {}

  /// Takes bytes as they were read, cut anywhere; reports do not depend on the cuts. `sink` must not feed the framer
  /// from inside.
  void feed(std::string_view chunk, message_sink& sink);
  /// Returns `bytes` bytes of space behind a large unfinished message, or none. A read into it, if it is fed next,
  /// needs no copy.
  std::span<char> room(std::size_t bytes) noexcept;
  /// Ends the stream. An unfinished line becomes a fault (malformed, "the line was cut off"; noise if it looks like
  /// it).
  void finish(message_sink& sink);

  /// Returns the size in bytes of the unfinished message.
  std::size_t held() const noexcept { return tail_.size(); }
  /// Returns the number of invalid UTF-8 sequences replaced so far.
  std::uint64_t repaired_utf8() const noexcept { return repaired_; }

 private:
  enum class phase : std::uint8_t {
    reading,    // no fault so far
    faulty,     // a fault was found: the rest is only counted, the fault is reported at the newline or at the limit
    discarding  // the fault was reported; nothing matters but the newline
  };
  void skip_byte_order_mark(std::string_view& chunk, message_sink& sink);
  void take_part(std::string_view part, bool last, message_sink& sink);
  void end_line();
  void deliver(std::string_view last_part, message_sink& sink);
  std::expected<message, envelope_fault> repaired(const json::raw_json& whole);
  void scan_failed(std::string_view part);
  std::string too_deep_at(std::size_t offset) const;
  void begin_fault(message_fault::kind type, int code, std::string what, std::string_view part);
  void report(message_sink& sink);

  options options_;
  json::json_scanner scanner_;
  byte_buffer tail_;            // the unfinished line, while it has no fault
  std::size_t line_bytes_ = 0;  // length of the line, at most the limit + 1
  phase phase_ = phase::reading;
  std::uint8_t mark_bytes_ = 0;  // bytes received of a byte order mark at the start of the stream
  bool stream_begins_ = true;
  message_fault fault_;
  std::uint64_t repaired_ = 0;
};

}  // namespace mcpbx::mcp::rpc
