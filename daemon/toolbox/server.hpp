// The bundled MCP server as a core: bytes of stdin in, bytes for stdout out. An `initialize`-era server of tools only.
#pragma once
#include "daemon/toolbox/toolbox_tools.hpp"
#include "mcp/rpc/line_framer.hpp"
#include "mcp/rpc/rpc_message.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::toolbox {

class server final : private mcp::message_sink {
 public:
  struct options {
    std::string version;
    std::function<std::int64_t()> wall_ms;  ///< milliseconds since 1970, for the clock
  };
  server(options o, folders files);

  /// Takes bytes as they were read and returns the lines that answer them, each with its line feed.
  std::string feed(std::string_view bytes);
  /// stdin has ended; returns what is left to say (an error for half a line).
  std::string finish();

 private:
  void on_message(mcp::message&& m) override;
  void on_fault(mcp::message_fault f) override;
  /// The answer to one message, or "" when it wants none.
  std::string answer_to(const mcp::message& m);
  std::string answer_to_batch(const mcp::message& m);
  std::string initialize(const mcp::message& m);
  std::string list_tools(const mcp::message& m) const;
  std::string call_tool(const mcp::message& m) const;
  void write(std::string_view line);

  options options_;
  folders files_;
  std::vector<const tool*> tools_;
  mcp::line_framer framer_;
  std::string out_;
  std::string revision_;  // agreed on; "" before `initialize`
};

}  // namespace mcpbx::toolbox
