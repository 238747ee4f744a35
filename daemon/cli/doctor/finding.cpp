// The list of codes, and findings as JSON.
#include "daemon/cli/doctor/finding.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::cli::doctor {

std::string_view to_string(severity s) {
  return s == severity::ok ? "ok" : s == severity::notice ? "notice" : "fault";
}

std::span<const check_code> all_checks() {
  using namespace checks;
  static constexpr std::array all{config_ok,
                                  config_none,
                                  config_notice,
                                  config_wrong,
                                  config_owner,
                                  config_mode,
                                  config_slow,
                                  config_unreadable,
                                  program_ok,
                                  program_missing,
                                  program_only_in_shell,
                                  program_not_for_service,
                                  program_fetches,
                                  program_slow,
                                  program_not_executable,
                                  interpreter_missing,
                                  directory_missing,
                                  reference_missing,
                                  server_ok,
                                  server_lazy,
                                  server_disabled,
                                  server_starting,
                                  server_stopped,
                                  server_crash_loop,
                                  server_exits,
                                  server_silent,
                                  server_junk,
                                  server_failed,
                                  server_noise,
                                  server_recovered,
                                  server_unauthorized,
                                  server_refused,
                                  server_unreachable,
                                  server_certificate,
                                  server_protocol,
                                  server_slow,
                                  server_pins,
                                  server_no_tools,
                                  server_not_tried,
                                  model_ok,
                                  model_none,
                                  model_key,
                                  model_problem,
                                  model_unresolved,
                                  model_unreachable,
                                  model_certificate,
                                  model_slow,
                                  model_unchecked,
                                  model_answers,
                                  model_fails,
                                  model_not_asked,
                                  state_ok,
                                  state_mode,
                                  state_unwritable,
                                  state_slow,
                                  disk_low,
                                  disk_full,
                                  journal_ok,
                                  journal_mode,
                                  journal_unwritable,
                                  journal_damaged,
                                  journal_unchecked,
                                  journal_trouble,
                                  token_mode,
                                  token_missing,
                                  port_taken,
                                  daemon_ok,
                                  daemon_none,
                                  daemon_hangs,
                                  daemon_denied,
                                  daemon_busy,
                                  daemon_version,
                                  daemon_outdated,
                                  daemon_second,
                                  socket_mode,
                                  socket_folder,
                                  socket_stale,
                                  socket_blocked,
                                  socket_path,
                                  unit_ok,
                                  unit_failed,
                                  host_direct,
                                  host_more,
                                  host_sandboxed};
  return all;
}

bool any_fault(const findings& all) {
  return std::ranges::any_of(all, [](const finding& f) { return f.code.level == severity::fault; });
}

std::string to_json(const findings& all) {
  std::string json;
  json_writer w(json);
  w.begin_array();
  for (const auto& f : all) {
    w.begin_object().members("code", f.code.word, "level", to_string(f.code.level), "subject", f.subject);
    w.member("text", f.text).filled("mend", f.mend).set("fixable", static_cast<bool>(f.fix)).end_object();
  }
  w.end_array();
  return json;
}

std::string summary(const findings& all) {
  const auto of = [&](severity level) {
    return std::ranges::count_if(all, [&](const finding& f) { return f.code.level == level; });
  };
  std::string text = counted(all.size(), "check") + ": " + counted(of(severity::fault), "fault");
  return text + ", " + counted(of(severity::notice), "notice");
}

}  // namespace mcpbx::cli::doctor
