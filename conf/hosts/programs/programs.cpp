// The table. A row says what the program's own documents and sources say; docs/hosts.md is the same for people.
#include "conf/hosts/programs/programs.hpp"

#include <algorithm>

namespace mcpbx::conf::programs {
namespace {

namespace v = variable_form;
using enum time_unit;

constexpr unsigned editor_forms = variable_form::env_named | variable_form::editor;

// clang-format off: one program, one paragraph

constexpr program programs[] = {
  {.name = "claude-desktop", .title = "Claude Desktop",
   .files = {"~/.config/Claude/claude_desktop_config.json", "~/Library/Application Support/Claude/claude_desktop_config.json"},
   .note = "Quit Claude Desktop fully and start it again."},
  {.name = "claude-code", .title = "Claude Code",
   .files = {"~/.claude.json"}, .beside = {"~/.claude/settings.json", "~/.claude/settings.local.json", "/etc/claude-code/managed-settings.json"}, .project_files = {"/.mcp.json"},
   .project_rules = {"/.claude/settings.json", "/.claude/settings.local.json"}, .rules_in_files = true,
   .variables = variable_form::braced, .timeout = milliseconds,
   .extra = R"("type": "stdio")", .note = "Its next session has the tools; `/mcp` there lists them."},
  {.name = "cursor", .title = "Cursor",
   .files = {"~/.cursor/mcp.json"}, .beside = {"~/.cursor/cli-config.json", "~/.config/cursor/cli-config.json"}, .project_files = {"/.cursor/mcp.json"},
   .project_rules = {"/.cursor/cli.json"},
   .variables = editor_forms},
  {.name = "vscode", .title = "VS Code",
   .files = {"~/.config/Code/User/mcp.json", "~/Library/Application Support/Code/User/mcp.json", "~/.config/Code - Insiders/User/mcp.json", "~/.config/VSCodium/User/mcp.json"},
   .beside = {"~/.config/Code/User/settings.json", "~/Library/Application Support/Code/User/settings.json", "~/.config/Code - Insiders/User/settings.json", "~/.config/VSCodium/User/settings.json"},
   .project_files = {"/.vscode/mcp.json"}, .project_rules = {"/.vscode/settings.json"},
   .section = "servers", .variables = editor_forms | variable_form::input,
   .extra = R"("type": "stdio")"},
  {.name = "windsurf", .title = "Windsurf",
   .files = {"~/.codeium/windsurf/mcp_config.json", "~/.codeium/mcp_config.json", "~/.config/devin/mcp_config.json"},
   .variables = variable_form::env_named | variable_form::file, .off = off_switch::disabled,
   .note = "Windsurf takes 100 tools at most: `mcpbx install windsurf --profile NAME` offers fewer."},
  {.name = "cline", .title = "Cline",
   .files = {"~/.cline/data/settings/cline_mcp_settings.json", "~/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json", "~/.cline/mcp.json"},
   .variables = variable_form::env_named, .timeout = seconds, .sse_without_word = true, .off = off_switch::disabled,
   .extra = R"("timeout": 600)"},
  {.name = "zed", .title = "Zed",
   .files = {"~/.config/zed/settings.json"}, .project_files = {"/.zed/settings.json"}, .rules_in_files = true,
   .section = "context_servers", .timeout = seconds, .off = off_switch::enabled_false,
   .extra = R"("timeout": 600)"},
  {.name = "gemini-cli", .title = "Gemini CLI",
   .files = {"/etc/gemini-cli/settings.json", "~/.gemini/settings.json", "/etc/gemini-cli/system-defaults.json"},
   .beside = {"~/.gemini/mcp-server-enablement.json"}, .project_files = {"/.gemini/settings.json"}, .rules_in_files = true,
   .variables = variable_form::braced | variable_form::dollar, .timeout = milliseconds, .off = off_switch::excluded},
  {.name = "codex", .title = "Codex",
   .files = {"$CODEX_HOME/config.toml", "~/.codex/config.toml"}, .project_files = {"/.codex/config.toml"},
   .format = read::foreign_format::toml, .section = "mcp_servers", .off = off_switch::enabled_false,
   .extra = R"("tool_timeout_sec": 600)"},
  {.name = "opencode", .title = "opencode",
   .files = {"~/.config/opencode/opencode.jsonc", "~/.config/opencode/opencode.json"}, .project_files = {"/opencode.json", "/opencode.jsonc"}, .rules_in_files = true,
   .section = "mcp", .variables = variable_form::curly, .timeout = milliseconds, .times = time_subject::listing, .asks = false, .off = off_switch::enabled_false,
   .extra = R"("enabled": true, "timeout": 30000)"},
  {.name = "goose", .title = "Goose",
   .files = {"~/.config/goose/config.yaml"}, .beside = {"~/.config/goose/permission.yaml"},
   .format = read::foreign_format::yaml, .section = "extensions", .variables = variable_form::braced, .timeout = seconds, .empty_allows_all = true, .asks = false,
   .off = off_switch::enabled_false,
   .extra = R"("timeout": 600, "enabled": true)"},
  {.name = "lm-studio", .title = "LM Studio",
   .files = {"~/.lmstudio/mcp.json"}, .variables = editor_forms},
  {.name = "continue", .title = "Continue",
   .files = {"~/.continue/config.yaml"},
   .format = read::foreign_format::yaml, .shape = server_shape::list, .variables = variable_form::secrets,
   .own_file = "~/.continue/mcpServers/mcpbx.yaml"},
  {.name = "copilot-cli", .title = "GitHub Copilot CLI",
   .files = {"~/.copilot/mcp-config.json"}, .project_files = {"/.github/mcp.json"},
   .variables = variable_form::braced | variable_form::dollar, .timeout = milliseconds,
   .extra = R"("type": "local", "tools": ["*"], "timeout": 600000)"},
  {.name = "roo-code", .title = "Roo Code",
   .files = {"~/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"}, .project_files = {"/.roo/mcp.json"},
   .variables = editor_forms, .timeout = seconds, .sse_without_word = true, .off = off_switch::disabled,
   .extra = R"("timeout": 600)"},
  {.name = "amazon-q", .title = "Amazon Q CLI",
   .files = {"~/.aws/amazonq/mcp.json"}, .project_files = {"/.amazonq/mcp.json"},
   .variables = variable_form::env_named, .timeout = milliseconds, .off = off_switch::disabled,
   .extra = R"("timeout": 600000)"},
  {.name = "kiro", .title = "Kiro",
   .files = {"~/.kiro/settings/mcp.json"}, .project_files = {"/.kiro/settings/mcp.json"},
   .variables = variable_form::braced, .off = off_switch::disabled},
  {.name = "crush", .title = "Crush",
   .files = {"~/.config/crush/crush.json", "/etc/crush/crush.json"}, .beside = {"~/.config/crush/crushrc"}, .project_files = {"/crush.json", "/.crush.json"},
   .section = "mcp", .variables = variable_form::braced | variable_form::dollar | variable_form::shell, .timeout = seconds, .times = time_subject::start, .empty_allows_all = true,
   .off = off_switch::disabled, .extra = R"("type": "stdio", "timeout": 60)"},
  {.name = "amp", .title = "Amp",
   .files = {"~/.config/amp/settings.json", "~/.config/amp/settings.jsonc"}, .project_files = {"/.amp/settings.json", "/.amp/settings.jsonc"}, .rules_in_files = true,
   .section = "amp.mcpServers", .variables = variable_form::braced, .globs = true, .asks = false, .off = off_switch::disabled},
  {.name = "warp", .title = "Warp",
   .files = {"~/.warp/.mcp.json"}, .project_files = {"/.warp/.mcp.json"}},
  {.name = "junie", .title = "Junie",
   .files = {"~/.junie/mcp/mcp.json"}, .project_files = {"/.junie/mcp/mcp.json"}},
  {.name = "mcphub", .title = "MCPHub.nvim",
   .files = {"~/.config/mcphub/servers.json"}, .project_files = {"/.mcphub/servers.json"},
   .variables = variable_form::env_named | variable_form::braced | variable_form::dollar | variable_form::command | variable_form::input | variable_form::editor | variable_form::shell, .off = off_switch::disabled},
  {.name = "mcpproxy", .title = "MCPProxy",
   .files = {"~/.mcpproxy/mcp_config.json"}, .shape = server_shape::list, .asks = false, .off = off_switch::enabled_false,
   .extra = R"("protocol": "stdio", "enabled": true)"},
  {.name = "1mcp", .title = "1MCP",
   .files = {"~/.config/1mcp/mcp.json"},
   .variables = variable_form::braced | variable_form::dollar, .timeout = milliseconds, .asks = false, .off = off_switch::disabled},
  {.name = "5ire", .title = "5ire",
   .files = {"~/.config/5ire/mcp.json"}, .off = off_switch::is_active, .extra = R"("isActive": true)"},
  {.name = "jan", .title = "Jan",
   .files = {"~/.config/Jan/data/mcp_config.json", "~/.local/share/Jan/data/mcp_config.json"},
   .timeout = seconds, .off = off_switch::active, .extra = R"("env": {}, "active": true)"},
  {.name = "cherry-studio", .title = "Cherry Studio",
   .timeout = seconds, .off = off_switch::is_active,
   .note = "Cherry Studio keeps its servers in the app: paste what is shown there."},
  {.name = "librechat", .title = "LibreChat",
   .project_files = {"/librechat.yaml"}, .format = read::foreign_format::yaml,
   .variables = variable_form::braced | variable_form::double_curly, .timeout = milliseconds, .sse_without_word = true, .asks = false},
  {.name = "mcpo", .title = "mcpo",
   .sse_without_word = true, .asks = false},
  {.name = "fastmcp", .title = "FastMCP", .timeout = milliseconds, .asks = false},
};

// clang-format on

}  // namespace

std::span<const program> all_programs() {
  return programs;
}

const program* find_program(std::string_view name) {
  const auto found = std::ranges::find(programs, name, &program::name);
  return found == std::end(programs) ? nullptr : &*found;
}

}  // namespace mcpbx::conf::programs
