// Receiver of messages, whatever transport brought them: each one whole and checked, or a fault in its place.
#pragma once
#include "mcp/rpc/rpc_message.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::mcp::rpc {

/// Something received that is no message.
struct message_fault {
  enum class kind : std::uint8_t {
    noise,      ///< a log line on stdout (G9): does not start with { or [, or starts with [ and is no JSON ("[INFO] …")
    malformed,  ///< starts with { and is no JSON (-32700), or is JSON that breaks the rules of JSON-RPC (-32600)
    oversized,  ///< longer than the receiver's limit, or refused by the accountant; the rest of it is dropped
    too_deep    ///< nested deeper than the receiver's limit; the rest of it is dropped
  };
  kind type = kind::noise;
  envelope_fault envelope;  ///< code, id found so far, what
  std::size_t bytes = 0;    ///< of its text, as far as it was read
  std::string excerpt;      ///< its first 200 bytes at most, as they came
  /// A checked answer that is nested too deeply, with the limit that it exceeds.
  struct deep_message {
    message answer;
    int max_depth = 0;
    std::string_view max_depth_key;  ///< as in line_framer::options
  };
  /// Only of kind too_deep, if the receiver asked for such answers (line_framer::options::keep_deep_answers).
  std::optional<deep_message> deep_answer = {};
  /// The excerpt for people: printable, without secrets, whole or begun.
  std::string shown() const;
};

/// Receives messages and faults, in the order in which they came.
class message_sink {
 public:
  virtual ~message_sink() = default;
  virtual void on_message(message&& m) = 0;
  virtual void on_fault(message_fault f) = 0;
};

}  // namespace mcpbx::mcp::rpc
