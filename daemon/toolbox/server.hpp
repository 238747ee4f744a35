// The bundled MCP server without I/O: bytes of stdin in, bytes for stdout out. It serves tools only, for the
// `initialize` era, as a `served_session` of mcp/server. Each request is answered before the next line is read.
#pragma once
#include "daemon/toolbox/toolbox_tools.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/rpc/line_framer.hpp"
#include "mcp/rpc/message_sink.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/server/base/method_table.hpp"
#include "mcp/server/base/reply_once.hpp"
#include "mcp/server/base/served_session.hpp"

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::toolbox {

class server final : private mcp::server::reply_outbox, public mcp::server::served_session {
 public:
  struct options {
    std::string version;
    std::function<std::int64_t()> wall_ms;  ///< milliseconds since 1970, for the clock
  };
  server(options o, folders files);

  /// Takes bytes and returns the lines that answer them, each with its line feed.
  std::string feed(std::string_view bytes);
  /// Handles the end of stdin and returns the remaining answers (an error for half a line).
  std::string finish();

 private:
  using tables = mcp::server::method_tables<server>;
  static const tables& methods();

  void send(const mcp::server::answered& what, const json::segments& text) override;
  void on_fault(mcp::rpc::message_fault f) override;
  void dispatch(const mcp::rpc::message& m, mcp::server::reply_once reply) override;
  std::expected<std::string, mcp::rpc::rpc_error> read_opening(const json::raw_json& params) override;
  void write_capabilities(json::json_writer& out, std::string_view revision) const override;
  json::raw_json make_server_info() const override;
  std::string instructions() const override;
  /// Ignores a broken response, since the toolbox sends no requests.
  bool take_broken_response(const mcp::rpc::envelope_fault& f) override { return f.is_response; }

  void list_tools(const json::raw_json& params, const mcp::server::reply_once& reply) const;
  void call_tool(const json::raw_json& params, const mcp::server::reply_once& reply) const;

  options options_;
  folders files_;
  std::vector<const tool*> tools_;
  mcp::rpc::line_framer framer_;
  std::string lines_;  // answers that feed() or finish() will return
};

}  // namespace mcpbx::toolbox
