// The wording of notices about pins.
#include "daemon/guard/pins/pin_words.hpp"

#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::daemon::pins::pin_words {
namespace {

constexpr std::size_t names_told = 5;

std::string counted(std::size_t n, std::string_view one, std::string_view many) {
  return std::to_string(n) + " " + std::string(n == 1 ? one : many);
}

std::string names_of(const std::vector<compared_tool>& tools, pin_state state) {
  std::string out;
  std::size_t told = 0, all = 0;
  for (const auto& t : tools) {
    if (t.state != state || ++all > names_told) continue;
    out += (told++ == 0 ? "" : ", ") + std::string(cut_utf8(redact::visible(t.tool), 64));
  }
  return all > told ? out + ", …" : out;
}

std::string server_words(std::string_view server) {
  return "tool server \"" + std::string(server) + "\": ";
}

}  // namespace

std::string_view changed() {
  return "its definition, or the command, arguments, environment or address of its server, is not the one that was "
         "pinned; `mcpbx "
         "pins show` tells what differs, and `mcpbx pins accept` approves it";
}

std::string_view added() {
  return "it is new since the tools of its server were pinned; `mcpbx pins show` shows it, and `mcpbx pins accept` "
         "approves it";
}

std::string unreadable(std::string_view why) {
  return "its definition cannot be compared with the pinned one: " + std::string(why);
}

std::string unwritable(std::string_view why) {
  return "its definition could not be pinned: " + std::string(why) +
         "; mend that, then approve it with `mcpbx pins accept`";
}

std::string names_unknown(std::string_view server, std::string_view why) {
  return server_words(server) + "plain names are given to whom had them first, and that is not known; its tools have " +
         "its name in front of theirs: " + std::string(why);
}

std::string broken_file(const std::string& path, const error& why) {
  if (why.code == errc::io) return why.message + "; mend that, then `mcpbx pins accept SERVER` looks again";
  return "the file of pins, " + path + ", cannot be understood (" + why.message +
         "); put a good copy in its place, or delete it and approve what is offered then with `mcpbx pins accept "
         "SERVER`";
}

std::string notice(std::string_view server, pin_mode mode, const std::vector<compared_tool>& tools) {
  const auto count = [&](pin_state s) {
    return static_cast<std::size_t>(std::ranges::count(tools, s, &compared_tool::state));
  };
  const std::size_t differ = count(pin_state::changed), fresh = count(pin_state::added);
  if (differ + fresh == 0) return {};
  std::string out = server_words(server);
  const bool moved = differ > 0 && std::ranges::all_of(tools, [](const compared_tool& t) {
                       return t.state != pin_state::changed || t.origin_only;
                     });
  if (moved)
    out += "its command, arguments, environment or address is not the one its tools were pinned with";
  else if (differ > 0)
    out += counted(differ, "definition is", "definitions are") + " not as pinned (" +
           names_of(tools, pin_state::changed) + ")";
  if (fresh > 0)
    out += (differ > 0 ? ", and " : "") + counted(fresh, "tool is", "tools are") + " new (" +
           names_of(tools, pin_state::added) + ")";
  out += mode == pin_mode::block ? "; they are not offered until `mcpbx pins accept " : "; look with `mcpbx pins show ";
  out += shell_word(server);
  return out + (mode == pin_mode::block ? "` approves them (`mcpbx pins show` tells what differs)"
                                        : "`, approve with `mcpbx pins accept " + shell_word(server) + "`");
}

std::string notice(std::string_view server, pin_mode mode, std::string_view problem) {
  return server_words(server) +
         (mode == pin_mode::block ? "its tools are not offered: " : "its definitions are not watched: ") +
         std::string(problem);
}

}  // namespace mcpbx::daemon::pins::pin_words
