// systemd.socket(5), systemd.service(5) and systemd.exec(5) describe the settings.
#include "daemon/cli/service/unit_files.hpp"

namespace mcpbx::cli {
namespace {

// Settings that protect the machine without keeping tool servers from their work: they start programs, open what the
// person may open, and make code at run time. NoNewPrivileges= is what the daemon asks for each server anyway.
constexpr std::string_view hardening = R"(NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
)";

// Further walls, which only the manager of the system can build.
constexpr std::string_view system_hardening = R"(ProtectSystem=full
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectClock=yes
ProtectHostname=yes
RestrictSUIDSGID=yes
CapabilityBoundingSet=
)";

std::string service(std::string_view about, std::string_view socket, std::string_view more, std::string_view program,
                    std::string_view options, std::string_view walls) {
  std::string out = "[Unit]\nDescription=";
  out.append(about).append("\nDocumentation=man:mcpbxd(8)\nRequires=").append(socket).append("\nAfter=").append(socket);
  out += "\n\n[Service]\nType=notify\n";
  out.append(more).append("ExecStart=").append(unit_word(program)).append(options).append("\n");
  // 78: a wrong configuration, which another start does not mend.
  out +=
      "ExecReload=/bin/kill -HUP $MAINPID\nWatchdogSec=60\nRestart=on-failure\nRestartSec=1\n"
      "RestartPreventExitStatus=2 78\n"
      // The daemon ends its tool servers in order; processes that are left then end with the group.
      "KillMode=mixed\nTimeoutStopSec=20\nDelegate=yes\nLimitNOFILE=65536\n";
  return out.append(walls);
}

}  // namespace

std::string unit_word(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '%' || c == '$') out += c;
    out += c;
  }
  return out + "\"";
}

std::vector<unit_file> user_units(std::string_view mcpbxd) {
  constexpr std::string_view about = "mcpbx, between programs, models and tool servers";
  return {
      {"mcpbx.socket",
       "[Unit]\nDescription=Socket of mcpbx\nDocumentation=man:mcpbxd(8)\n\n[Socket]\n"
       "ListenStream=%t/mcpbx/mcpbx.sock\nSocketMode=0600\nDirectoryMode=0700\n\n[Install]\nWantedBy=sockets.target\n"},
      {"mcpbx.service", service(about, "mcpbx.socket", "", mcpbxd, "", hardening)}};
}

std::vector<unit_file> system_units(std::string_view mcpbxd) {
  return {{"mcpbx@.socket",
           "[Unit]\nDescription=Socket of mcpbx for %i\nDocumentation=man:mcpbxd(8)\n\n[Socket]\n"
           "ListenStream=/run/mcpbx/%i/mcpbx.sock\nSocketUser=%i\nSocketMode=0600\nDirectoryMode=0755\n"
           "RemoveOnStop=yes\n\n[Install]\nWantedBy=sockets.target\n"},
          {"mcpbx@.service",
           service("mcpbx for %i", "mcpbx@%i.socket", "User=%i\nWorkingDirectory=~\n", mcpbxd,
                   " --socket /run/mcpbx/%i/mcpbx.sock", std::string(hardening) + std::string(system_hardening))}};
}

unit_file path_drop_in(std::string_view path) {
  // A specifier begins with % here, too; a $ does not stand for a variable.
  std::string value;
  for (const char c : path) {
    if (c == '"' || c == '\\') value += '\\';
    if (c == '%') value += c;
    value += c;
  }
  return {"mcpbx.service.d/path.conf", std::string(written_mark) + "[Service]\nEnvironment=\"PATH=" + value + "\"\n"};
}

}  // namespace mcpbx::cli
