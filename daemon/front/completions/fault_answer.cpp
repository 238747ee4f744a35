// Status and headers of an error answer.
#include "daemon/front/completions/fault_answer.hpp"

#include "daemon/front/completions/completion_json.hpp"

#include <utility>

namespace mcpbx::daemon {

http::server_answer error_answer(const completion_fault& f, std::vector<http::header> headers) {
  headers.push_back({"Content-Type", "application/json"});
  return {f.status, std::move(headers), completion_json::error_body(f)};
}

}  // namespace mcpbx::daemon
