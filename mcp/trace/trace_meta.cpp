// Reads and writes the two members.
#include "mcp/trace/trace_meta.hpp"

#include <string_view>

namespace mcpbx {

trace_context trace_in_meta(const raw_json& meta) {
  if (!meta.is_object()) return {};
  const auto state = member_text(meta, "tracestate");
  const std::string_view fields[] = {state};
  return read_trace(member_text(meta, "traceparent"), fields);
}

void append_trace_meta(json_writer& params, const trace_context& trace) {
  if (trace.empty()) return;
  params.key("_meta").begin_object().member("traceparent", trace.parent).filled("tracestate", trace.state).end_object();
}

}  // namespace mcpbx
