// Finds the two fields of a trace among the headers of a request.
#include "daemon/front/exchange/request_trace.hpp"

#include <string_view>

namespace mcpbx::daemon::routes {

trace::trace_context trace_of(const std::vector<http::header>& headers) {
  std::string_view parent;
  std::vector<std::string_view> states;
  std::size_t parents = 0;
  for (const auto& h : headers) {
    if (http::is_word(h.name, "traceparent")) {
      ++parents;
      parent = h.value;
    } else if (http::is_word(h.name, "tracestate")) {
      states.push_back(h.value);
    }
  }
  if (parents != 1) return {};
  return trace::read_trace(parent, states);
}

}  // namespace mcpbx::daemon::routes
