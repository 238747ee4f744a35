// One finding of `mcpbx doctor`, and the list of all codes that findings have.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::doctor {

enum class severity : std::uint8_t { ok, notice, fault };
std::string_view to_string(severity s);

/// A kind of finding. Its word never changes its meaning; docs/troubleshooting.md has a row for each.
struct check_code {
  std::string_view word;
  severity level;
  bool operator==(const check_code& other) const { return word == other.word; }
};

namespace checks {
using enum severity;
// The configuration.
inline constexpr check_code config_ok{"config-ok", ok}, config_none{"config-none", notice},
    config_notice{"config-notice", notice}, config_wrong{"config-wrong", fault}, config_owner{"config-owner", fault},
    config_mode{"config-mode", fault}, config_slow{"config-slow", fault}, config_unreadable{"config-unreadable", fault};
// Programs and references of tool servers.
inline constexpr check_code program_ok{"program-ok", ok}, program_missing{"program-missing", fault},
    program_only_in_shell{"program-only-in-shell", fault}, program_not_for_service{"program-not-for-service", notice},
    program_not_executable{"program-not-executable", fault}, program_slow{"program-slow", fault},
    interpreter_missing{"interpreter-missing", fault}, directory_missing{"directory-missing", fault},
    reference_missing{"reference-missing", fault}, program_fetches{"program-fetches", notice};
// Tool servers at work.
inline constexpr check_code server_ok{"server-ok", ok}, server_lazy{"server-lazy", ok},
    server_disabled{"server-disabled", ok}, server_starting{"server-starting", notice},
    server_stopped{"server-stopped", fault}, server_crash_loop{"server-crash-loop", fault},
    server_exits{"server-exits", fault}, server_silent{"server-silent", fault}, server_junk{"server-junk", fault},
    server_failed{"server-failed", fault}, server_noise{"server-noise", notice},
    server_unauthorized{"server-unauthorized", fault}, server_refused{"server-refused", fault},
    server_unreachable{"server-unreachable", fault}, server_certificate{"server-certificate", fault},
    server_protocol{"server-protocol", fault}, server_slow{"server-slow", fault}, server_pins{"server-pins", notice},
    server_no_tools{"server-no-tools", notice}, server_not_tried{"server-not-tried", notice},
    server_recovered{"server-recovered", notice};
// Models.
inline constexpr check_code model_ok{"model-ok", ok}, model_none{"model-none", notice}, model_key{"model-key", fault},
    model_problem{"model-problem", fault}, model_unresolved{"model-unresolved", fault},
    model_unreachable{"model-unreachable", fault}, model_certificate{"model-certificate", fault},
    model_slow{"model-slow", fault}, model_unchecked{"model-unchecked", notice}, model_answers{"model-answers", ok},
    model_fails{"model-fails", fault}, model_not_asked{"model-not-asked", notice};
// Other programs that start tool servers.
inline constexpr check_code host_direct{"host-direct", notice}, host_more{"host-more", notice},
    host_sandboxed{"host-sandboxed", notice};
// The state folder, the journal and the token.
inline constexpr check_code state_ok{"state-ok", ok}, state_mode{"state-mode", fault},
    state_unwritable{"state-unwritable", fault}, state_slow{"state-slow", fault}, disk_low{"disk-low", notice},
    disk_full{"disk-full", fault}, journal_ok{"journal-ok", ok}, journal_mode{"journal-mode", fault},
    journal_unwritable{"journal-unwritable", fault}, journal_damaged{"journal-damaged", fault},
    journal_unchecked{"journal-unchecked", notice}, journal_trouble{"journal-trouble", fault},
    token_mode{"token-mode", fault}, token_missing{"token-missing", fault}, port_taken{"port-taken", fault};
// The socket and the daemon.
inline constexpr check_code daemon_ok{"daemon-ok", ok}, daemon_none{"daemon-none", notice},
    daemon_hangs{"daemon-hangs", fault}, daemon_denied{"daemon-denied", fault}, daemon_busy{"daemon-busy", notice},
    daemon_version{"daemon-version", notice}, daemon_outdated{"daemon-outdated", notice},
    daemon_second{"daemon-second", notice}, socket_mode{"socket-mode", fault}, socket_folder{"socket-folder", fault},
    socket_stale{"socket-stale", notice}, socket_blocked{"socket-blocked", fault}, socket_path{"socket-path", fault},
    unit_ok{"unit-ok", ok}, unit_failed{"unit-failed", fault};
}  // namespace checks

/// Returns all codes, in the order of the walk.
std::span<const check_code> all_checks();

/// A mend that `--fix` carries out by itself. None of them loses data.
struct repair {
  enum class kind : std::uint8_t {
    none,
    set_mode,       ///< chmod of a file or folder of this user
    remove_socket,  ///< a socket that nobody listens on, while nobody holds its lock
    reload,
    restart_server
  };
  kind does = kind::none;
  std::string on = {};  ///< a path, or the name of a server
  unsigned mode = 0;    ///< of set_mode
  explicit operator bool() const noexcept { return does != kind::none; }
};

struct finding {
  check_code code;
  std::string subject;    ///< such as "server github"
  std::string text;       ///< the state or the cause in one sentence
  std::string mend = {};  ///< a command, or an instruction where no command does it; "" if nothing is to be done
  repair fix = {};
};

using findings = std::vector<finding>;

bool any_fault(const findings& all);
/// Returns `[{"code", "level", "subject", "text", "mend"?, "fixable"?}, …]`.
std::string to_json(const findings& all);
/// Returns a closing line such as "14 checks: 1 fault, 2 notices".
std::string summary(const findings& all);

}  // namespace mcpbx::cli::doctor
