// Parts of answers that are alike in all dialects.
#include "daemon/front/dialects/answer_writer.hpp"

#include <utility>

namespace mcpbx::daemon::dialects {

std::string joined_rounds(std::vector<std::string> texts) {
  std::string all;
  for (auto& one : texts) {
    if (all.empty()) {
      all = std::move(one);
    } else if (!one.empty()) {
      all += "\n\n";
      all += one;
    }
  }
  return all;
}

// The official clients repeat a request by themselves on some statuses, unless a header forbids it.
http::servers::server_answer fault_answer(const answer_writer& w, const request_fault& f, std::string_view request_id) {
  std::vector<http::header> headers{{"Content-Type", "application/json"}};
  if (!request_id.empty()) headers.push_back({std::string(w.request_id_header()), std::string(request_id)});
  if (f.final) headers.push_back({"x-should-retry", "false"});
  if (f.retry_after_ms > 0) headers.push_back({"retry-after", std::to_string((f.retry_after_ms + 999) / 1000)});
  return {f.status, std::move(headers), w.error_body(f)};
}

}  // namespace mcpbx::daemon::dialects
