// Reads the two variables.
#include "daemon/cli/base/caller_trace.hpp"

#include <cstdlib>
#include <string_view>

namespace mcpbx::cli {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

trace::trace_context caller_trace() {
  const std::string_view states[] = {variable("TRACESTATE")};
  return trace::read_trace(variable("TRACEPARENT"), states);
}

}  // namespace mcpbx::cli
