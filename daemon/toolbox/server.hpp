// The bundled MCP server without I/O: bytes of stdin in, bytes for stdout out. It serves tools only, for the
// `initialize` era, with parts of mcp/server. Each request is answered before the next line is read.
#pragma once
#include "daemon/toolbox/toolbox_tools.hpp"
#include "mcp/rpc/line_framer.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/server/base/method_table.hpp"
#include "mcp/server/base/reply_once.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::toolbox {

class server final : private mcp::rpc::message_sink, private mcp::server::reply_taker {
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
  static const mcp::server::method_table<server>& methods();

  void on_message(mcp::rpc::message&& m) override;
  void on_fault(mcp::rpc::message_fault f) override;
  void take_reply(mcp::server::open_request& r, const json::segments& text) override { write(text, r.batch); }
  void take_request(const mcp::rpc::message& m, std::shared_ptr<mcp::server::reply_batch> batch);
  void take_batch(const mcp::rpc::message& m);
  /// Answers an invalid request with an error.
  void refuse(const mcp::rpc::rpc_id& id, int code, std::string message,
              const std::shared_ptr<mcp::server::reply_batch>& batch = nullptr);
  void write(const json::segments& text, const std::shared_ptr<mcp::server::reply_batch>& batch);
  void write_line(const json::segments& text);

  void initialize(const json::raw_json& params, const mcp::server::reply_once& reply);
  void list_tools(const json::raw_json& params, const mcp::server::reply_once& reply) const;
  void call_tool(const json::raw_json& params, const mcp::server::reply_once& reply) const;

  options options_;
  folders files_;
  std::vector<const tool*> tools_;
  mcp::rpc::line_framer framer_;
  std::uint64_t next_serial_ = 1;
  std::string out_;
  std::string revision_;  // negotiated revision; "" before `initialize`
};

}  // namespace mcpbx::toolbox
