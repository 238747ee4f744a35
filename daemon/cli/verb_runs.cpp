// `mcpbx attach` and `mcpbx cancel`: runs that go on elsewhere.
#include "daemon/cli/follow_run.hpp"
#include "daemon/cli/verbs.hpp"

#include <algorithm>
#include <string>

namespace mcpbx::cli {

int attach(context& c, const std::string& run, std::int64_t after) {
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  std::string params = "{\"run\":" + json_quoted(run);
  if (after > 0) params += ",\"after\":" + std::to_string(after);
  const auto end = follow_run(c, made->link, "mcpbx/attach", params + "}", {});
  if (end.left) {
    const auto word = run_operand(run);
    const auto seen = std::max(after, static_cast<std::int64_t>(end.seq));
    c.screen->err_line("mcpbx: a detached run goes on; `mcpbx attach " +
                       (seen > 0 ? "--after " + std::to_string(seen) + " " : std::string()) + word +
                       "` follows it again, `mcpbx cancel " + word + "` ends it");
  }
  return end.status;
}

int cancel(context& c, const std::string& run) {
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  const auto got = call_or_explain(c, made->link, "mcpbx/cancel", "{\"run\":" + json_quoted(run) + "}", status);
  if (!got) return status;
  if (c.json) c.screen->out_json(got->text());
  return done;
}

}  // namespace mcpbx::cli
