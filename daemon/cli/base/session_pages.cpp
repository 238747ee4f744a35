// Asks for the pages of a session until there is no next one.
#include "daemon/cli/base/session_pages.hpp"

#include "daemon/cli/base/daemon_calls.hpp"
#include "mcp/json/json_writer.hpp"

namespace mcpbx::cli {

std::optional<text::session_export> read_session(context& c, link::daemon_connection& link, const std::string& id,
                                                 bool redact, int& status) {
  text::session_export all;
  for (auto from = json::raw_json::literal("0"); from;) {
    std::string params;
    json::json_writer(params).begin_object().members("session", id, "from", from).set("redact", redact).end_object();
    const auto page = call_or_explain(c, link, "mcpbx/sessions/get", params, status);
    if (!page) return std::nullopt;
    if (!all.head) {
      all.head = *page;
      json::for_each_element(json::find_member(*page, "runs"), [&](const json::raw_json& run) {
        all.runs.push_back(run);
        return true;
      });
    }
    json::for_each_element(json::find_member(*page, "messages"), [&](const json::raw_json& m) {
      all.messages.push_back(m);
      return true;
    });
    from = json::find_member(*page, "next");
  }
  return all;
}

}  // namespace mcpbx::cli
