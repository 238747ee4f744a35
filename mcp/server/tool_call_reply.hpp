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

namespace mcpbx::mcp {

/// A handle on the answer; copies stand for the same call. Without a recorder it is a reply_once and nothing more.
class tool_call_reply {
 public:
  tool_call_reply(reply_once reply, std::shared_ptr<call_recorder> recorder, std::string_view method = "tools/call");

  const reply_once& request() const noexcept { return reply_; }
  bool open() const noexcept { return reply_.open(); }
  /// Notes name and arguments of the call, for the record.
  void about(std::string_view name, const raw_json& arguments) const;
  /// Notes that the call has been passed on to this tool server.
  void called(std::string_view server) const;

  void result(const raw_json& value) const;
  void error(const raw_json& e) const;
  /// Answers that the call failed on the way, or that it was refused before it was passed on.
  void failed(const rpc_error& e) const;
  void refused(const rpc_error& e, call_decision why = call_decision::refused) const;
  /// Makes the record of a call whose caller has cancelled it or is gone, so that no answer is sent.
  void abandoned() const;

 private:
  void finish(call_end end, std::size_t result_bytes, std::function<void()> answer) const;
  reply_once reply_;
  std::shared_ptr<call_recorder> recorder_;
  std::shared_ptr<finished_call> record_;  // null without a recorder
};

}  // namespace mcpbx::mcp
