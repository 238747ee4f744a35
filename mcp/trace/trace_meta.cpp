// Reads and writes the two members.
#include "mcp/trace/trace_meta.hpp"

#include <string_view>

namespace mcpbx::trace {

trace_context trace_in_meta(const json::raw_json& meta) {
  if (!meta.is_object()) return {};
  const auto state = json::member_text(meta, "tracestate");
  const std::string_view fields[] = {state};
  return read_trace(json::member_text(meta, "traceparent"), fields);
}

void append_trace_meta(json::json_writer& params, const trace_context& trace) {
  if (trace.empty()) return;
  params.key("_meta").begin_object().member("traceparent", trace.parent).filled("tracestate", trace.state).end_object();
}

}  // namespace mcpbx::trace
