// systemd.socket(5), systemd.service(5) and systemd.exec(5) describe the settings.
#include "daemon/cli/service/unit_files.hpp"

namespace mcpbx::cli::service {
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

std::string service(std::string_view about, std::string_view socket, std::string_view more, const std::string& program,
                    std::string_view options, std::string_view walls) {
  std::string out = "[Unit]\nDescription=";
  out.append(about).append("\nDocumentation=man:mcpbxd(8)\nRequires=").append(socket).append("\nAfter=").append(socket);
  // At the limit systemd closes the socket, too. A person who mends a configuration may try more than five times in ten
  // seconds, and each try is a start.
  out += "\nStartLimitIntervalSec=30\nStartLimitBurst=10\n\n[Service]\nType=notify\n";
  out.append(more).append("ExecStart=").append(unit_program(program)).append(options).append("\n");
  // The verb waits for the outcome, so that a wrong configuration fails the reload; and a bare Debian has no kill(1).
  out.append("ExecReload=").append(unit_program(program.substr(0, program.rfind('/') + 1).append("mcpbx")));
  out.append(options).append(" reload\n");
  out +=
      "WatchdogSec=60\nRestart=on-failure\nRestartSec=1\n"
      // 78: a wrong configuration, 203: no such program (systemd.exec(5)). Another start does not mend them.
      "RestartPreventExitStatus=2 78 203\n"
      // The daemon ends its tool servers in order; processes that are left then end with the group.
      "KillMode=mixed\nTimeoutStopSec=20\nDelegate=yes\nLimitNOFILE=65536\n";
  return out.append(walls);
}

}  // namespace

std::string unit_program(std::string_view path) {
  std::string out = "\"";
  for (const char c : path) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '%') out += c;  // the path of a program has specifiers, but no variables: a $ stands for itself
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
      {"mcpbx.service", service(about, "mcpbx.socket", "", std::string(mcpbxd), "", hardening)}};
}

std::vector<unit_file> system_units(std::string_view mcpbxd) {
  return {{"mcpbx@.socket",
           "[Unit]\nDescription=Socket of mcpbx for %i\nDocumentation=man:mcpbxd(8)\n\n[Socket]\n"
           "ListenStream=/run/mcpbx/%i/mcpbx.sock\nSocketUser=%i\nSocketMode=0600\nDirectoryMode=0755\n"
           "RemoveOnStop=yes\n\n[Install]\nWantedBy=sockets.target\n"},
          {"mcpbx@.service",
           service("mcpbx for %i", "mcpbx@%i.socket", "User=%i\nWorkingDirectory=~\n", std::string(mcpbxd),
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

}  // namespace mcpbx::cli::service
