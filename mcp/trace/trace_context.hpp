// The place of a request in a distributed trace (W3C Trace Context, https://www.w3.org/TR/trace-context/): reading what
// a caller gives. No I/O.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace mcpbx::trace {

/// The two header fields of a trace, checked. mcpbx makes no spans of its own, so it passes both on as they came: a
/// parent id of its own would name a span that no collector ever gets.
struct trace_context {
  std::string parent;  ///< traceparent of version 00, 55 bytes; "": there is no trace
  std::string state;   ///< tracestate, at most longest_state bytes of printable ASCII; or ""

  /// The length that each participant should pass on at least (section 3.3.1.5, "tracestate Limits").
  static constexpr std::size_t longest_state = 512;

  bool empty() const noexcept { return parent.empty(); }
  /// Returns the trace id, 32 digits of hexadecimal in lower case, or "".
  std::string_view id() const noexcept { return parent.empty() ? std::string_view() : id_in(parent); }
  friend bool operator==(const trace_context&, const trace_context&) = default;

 private:
  static std::string_view id_in(std::string_view parent) noexcept { return parent.substr(3, 32); }
};

/// Reads a traceparent and the values of all tracestate fields in their order. An invalid traceparent gives no trace,
/// an invalid tracestate is left out; one over longest_state is cut as section 3.3.1.5 says.
trace_context read_trace(std::string_view parent, std::span<const std::string_view> states);

}  // namespace mcpbx::trace
