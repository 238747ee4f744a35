// The answer of one tools/call: goes to the caller, and before that to whoever keeps record of calls.
#pragma once
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/server/call_recorder.hpp"
#include "mcp/server/reply_once.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace mcpbx::mcp {

/// Copies stand for the same call. Without a recorder it is a reply_once and nothing more.
class tool_call_reply {
 public:
  tool_call_reply(reply_once reply, std::shared_ptr<call_recorder> recorder);

  const reply_once& request() const noexcept { return reply_; }
  bool open() const noexcept { return reply_.open(); }
  /// What is known of the call by now, for the record.
  void about(std::string_view name, const raw_json& arguments) const;
  /// It has been passed on to this tool server.
  void called(std::string_view server) const;

  void result(const raw_json& value) const;
  void error(const raw_json& e) const;
  /// It was passed on and failed on the way, or it was refused before that.
  void failed(const rpc_error& e) const;
  void refused(const rpc_error& e, call_decision why = call_decision::refused) const;
  /// It is over, and its caller has cancelled it or is gone: only the record is left to be made.
  void abandoned() const;

 private:
  void finish(call_end end, std::size_t result_bytes, std::function<void()> answer) const;
  reply_once reply_;
  std::shared_ptr<call_recorder> recorder_;
  std::shared_ptr<finished_call> record_;  // null without a recorder
};

}  // namespace mcpbx::mcp
