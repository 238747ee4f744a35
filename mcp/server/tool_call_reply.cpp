// Answers tools/calls, through the recorder if there is one.
#include "mcp/server/tool_call_reply.hpp"

#include <utility>

namespace mcpbx::mcp::callers {

tool_call_reply::tool_call_reply(server::reply_once reply, std::shared_ptr<server::call_recorder> recorder,
                                 std::string_view method)
    : reply_(std::move(reply)),
      recorder_(std::move(recorder)),
      record_(recorder_ ? std::make_shared<server::finished_call>() : nullptr) {
  if (record_) record_->method = method;
}

void tool_call_reply::about(std::string_view name, const json::raw_json& arguments) const {
  if (!record_) return;
  record_->name = name;
  record_->arguments = arguments;
}

void tool_call_reply::called(std::string_view server) const {
  if (!record_) return;
  record_->server = server;
  record_->decision = server::call_decision::called;
}

void tool_call_reply::finish(server::call_end end, std::size_t result_bytes, std::function<void()> answer) const {
  server::finished_call c = *record_;
  c.end = end;
  c.result_bytes = result_bytes;
  recorder_->record(std::move(c), std::move(answer));
}

void tool_call_reply::result(const json::raw_json& value) const {
  if (!record_) return reply_.result(value);
  const bool tool_error = json::find_member(value, "isError").is_true();
  finish(tool_error ? server::call_end::tool_error : server::call_end::result, value.text().size(),
         [reply = reply_, value] { reply.result(value); });
}

void tool_call_reply::error(const json::raw_json& e) const {
  if (!record_) return reply_.error(e);
  finish(server::call_end::error, 0, [reply = reply_, e] { reply.error(e); });
}

void tool_call_reply::failed(const rpc::rpc_error& e) const {
  if (!record_) return reply_.error(e);
  finish(server::call_end::failed, 0, [reply = reply_, e] { reply.error(e); });
}

void tool_call_reply::refused(const rpc::rpc_error& e, server::call_decision why) const {
  if (!record_) return reply_.error(e);
  record_->decision = why;
  finish(server::call_end::error, 0, [reply = reply_, e] { reply.error(e); });
}

void tool_call_reply::abandoned() const {
  if (record_) finish(server::call_end::cancelled, 0, [] {});
}

}  // namespace mcpbx::mcp::callers
