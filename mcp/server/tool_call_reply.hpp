// The answer to one tools/call, or another request that is recorded: goes to the recorder of calls first, if there is
// one, and then to the caller.
#pragma once
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/server/base/call_recorder.hpp"
#include "mcp/server/base/reply_once.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace mcpbx::mcp::callers {

/// A handle on the answer; copies stand for the same call. Without a recorder it is a reply_once and nothing more.
class tool_call_reply {
 public:
  tool_call_reply(server::reply_once reply, std::shared_ptr<server::call_recorder> recorder,
                  std::string_view method = "tools/call");

  const server::reply_once& request() const noexcept { return reply_; }
  bool open() const noexcept { return reply_.open(); }
  /// Notes name and arguments of the call, for the record.
  void about(std::string_view name, const json::raw_json& arguments) const;
  /// Notes that the call has been passed on to this tool server.
  void called(std::string_view server) const;

  void result(const json::raw_json& value) const;
  void error(const json::raw_json& e) const;
  /// Answers that the call failed on the way, or that it was refused before it was passed on.
  void failed(const rpc::rpc_error& e) const;
  void refused(const rpc::rpc_error& e, server::call_decision why = server::call_decision::refused) const;
  /// Makes the record of a call whose caller has cancelled it or is gone, so that no answer is sent.
  void abandoned() const;

 private:
  void finish(server::call_end end, std::size_t result_bytes, std::function<void()> answer) const;
  server::reply_once reply_;
  std::shared_ptr<server::call_recorder> recorder_;
  std::shared_ptr<server::finished_call> record_;  // null without a recorder
};

}  // namespace mcpbx::mcp::callers
