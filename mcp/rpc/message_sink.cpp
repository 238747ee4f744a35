// Describes a fault for people.
#include "mcp/rpc/message_sink.hpp"

#include "mcp/redact/cut_text.hpp"

namespace mcpbx::mcp::rpc {
namespace {

constexpr std::size_t longest_excerpt = 200;

}  // namespace

// It may end within a secret: cut off there, at the end of the stream, or by a process that died while it wrote.
std::string message_fault::shown() const {
  return redact::cut_for_people(excerpt, longest_excerpt, {.cut = {.front = false, .back = true}});
}

}  // namespace mcpbx::mcp::rpc
