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
  static constexpr std::array all{checks::config_ok,
                                  checks::config_none,
                                  checks::config_notice,
                                  checks::config_wrong,
                                  checks::config_owner,
                                  checks::config_mode,
                                  checks::config_slow,
                                  checks::config_unreadable,
                                  checks::program_ok,
                                  checks::program_missing,
                                  checks::program_only_in_shell,
                                  checks::program_not_for_service,
                                  checks::program_fetches,
                                  checks::program_slow,
                                  checks::program_not_executable,
                                  checks::interpreter_missing,
                                  checks::directory_missing,
                                  checks::reference_missing,
                                  checks::server_ok,
                                  checks::server_lazy,
                                  checks::server_disabled,
                                  checks::server_starting,
                                  checks::server_stopped,
                                  checks::server_crash_loop,
                                  checks::server_exits,
                                  checks::server_silent,
                                  checks::server_junk,
                                  checks::server_failed,
                                  checks::server_noise,
                                  checks::server_recovered,
                                  checks::server_unauthorized,
                                  checks::server_refused,
                                  checks::server_unreachable,
                                  checks::server_certificate,
                                  checks::server_protocol,
                                  checks::server_slow,
                                  checks::server_pins,
                                  checks::server_no_tools,
                                  checks::server_not_tried,
                                  checks::model_ok,
                                  checks::model_none,
                                  checks::model_key,
                                  checks::model_problem,
                                  checks::model_unresolved,
                                  checks::model_unreachable,
                                  checks::model_certificate,
                                  checks::model_slow,
                                  checks::model_unchecked,
                                  checks::model_answers,
                                  checks::model_fails,
                                  checks::model_not_asked,
                                  checks::state_ok,
                                  checks::state_mode,
                                  checks::state_unwritable,
                                  checks::state_slow,
                                  checks::disk_low,
                                  checks::disk_full,
                                  checks::journal_ok,
                                  checks::journal_mode,
                                  checks::journal_unwritable,
                                  checks::journal_damaged,
                                  checks::journal_unchecked,
                                  checks::journal_trouble,
                                  checks::token_mode,
                                  checks::token_missing,
                                  checks::port_taken,
                                  checks::daemon_ok,
                                  checks::daemon_none,
                                  checks::daemon_hangs,
                                  checks::daemon_denied,
                                  checks::daemon_busy,
                                  checks::daemon_version,
                                  checks::daemon_outdated,
                                  checks::daemon_second,
                                  checks::socket_mode,
                                  checks::socket_folder,
                                  checks::socket_stale,
                                  checks::socket_blocked,
                                  checks::socket_path,
                                  checks::unit_ok,
                                  checks::unit_failed,
                                  checks::host_direct,
                                  checks::host_more,
                                  checks::host_sandboxed};
  return all;
}

bool any_fault(const findings& all) {
  return std::ranges::any_of(all, [](const finding& f) { return f.code.level == severity::fault; });
}

std::string to_json(const findings& all) {
  std::string json;
  json::json_writer w(json);
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
