// Caches compiled schemas in a short list, ordered by last use. A hit compares hashes and one definition's bytes.
#include "daemon/loop/tools/argument_checks.hpp"

#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mcpbx::daemon::tools {

argument_checks::compiled& argument_checks::find(const mcp::catalogs::catalog_entry& tool) {
  const auto hit = std::ranges::find_if(
      kept_, [&](const compiled& c) { return c.hash == tool.hash && c.definition.text() == tool.definition.text(); });
  if (hit != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, hit);
    return kept_.front();
  }
  compiled fresh{tool.hash, tool.definition, std::nullopt, false};
  if (const auto schema = json::find_member(tool.definition, "inputSchema"); schema && !schema.is_null()) {
    if (auto made = providers::schema::json_schema::compile(schema)) {
      for (const auto& note : made->notes())
        log::warn("tool \"" + tool.name + "\": its inputSchema is not checked completely: " +
                  redact::printable(providers::schema::describe(note, "inputSchema")));
      fresh.schema = std::move(*made);
    } else {
      log::warn("tool \"" + tool.name + "\": its arguments are not checked, because " + made.error().message);
    }
  }
  bytes_ += fresh.definition.text().size();
  kept_.push_front(std::move(fresh));
  while (kept_.size() > max_kept || (bytes_ > max_kept_bytes && kept_.size() > 1)) {
    bytes_ -= kept_.back().definition.text().size();
    kept_.pop_back();
  }
  return kept_.front();
}

std::string argument_checks::problem(const mcp::catalogs::catalog_entry& tool, std::string_view shown,
                                     const json::raw_json& arguments) {
  auto& found = find(tool);
  if (!found.schema) return {};
  const auto verdict = found.schema->check(arguments ? arguments : json::raw_json::literal("{}"));
  if (!verdict.complete && !std::exchange(found.told_incomplete, true))
    log::warn("tool \"" + tool.name + "\": the arguments were sent without a complete check, because " +
              (verdict.unread.empty() ? "they or the inputSchema are nested too deeply or take too many steps"
                                      : "they have " + std::string(verdict.unread)) +
              "; the server must check them");
  if (verdict.violations.empty()) return {};
  return "Not executed: the arguments do not fit the schema of \"" + std::string(shown) + "\":\n" +
         providers::schema::describe(verdict.violations, "arguments") +
         "\nCall the tool again with arguments that fit.";
}

}  // namespace mcpbx::daemon::tools
