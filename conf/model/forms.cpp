// The forms and their checks, written by hand: std::regex would cost more time than the rest of the loader.
#include "conf/model/forms.hpp"

#include <algorithm>
#include <cstdint>

namespace mcpbx::conf::model::forms {
namespace {

bool digit(unsigned char c) {
  return c >= '0' && c <= '9';
}
bool alnum(unsigned char c) {
  return digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Returns the character of valid UTF-8 at `i` and moves `i` past it.
std::uint32_t next(std::string_view s, std::size_t& i) {
  const auto lead = static_cast<unsigned char>(s[i++]);
  std::uint32_t c = lead < 0x80 ? lead : lead < 0xE0 ? lead & 0x1F : lead < 0xF0 ? lead & 0x0F : lead & 0x07;
  while (i < s.size() && (static_cast<unsigned char>(s[i]) & 0xC0) == 0x80)
    c = (c << 6) | (static_cast<unsigned char>(s[i++]) & 0x3F);
  return c;
}

bool visible(std::uint32_t c) {
  return !(c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
           (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF);
}
#define MCPBX_VISIBLE "\\u0000-\\u001f\\u007f-\\u009f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff"

bool is_entry_name(std::string_view s) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < s.size(); ++count)
    if (!visible(next(s, i))) return false;
  return count >= 1 && count <= 64;
}

bool is_model_name(std::string_view s) {
  return is_entry_name(s) && s.find('/') == s.npos && !s.starts_with("profile:");
}

bool is_env_name(std::string_view s) {
  return !s.empty() && !digit(static_cast<unsigned char>(s[0])) &&
         std::ranges::all_of(s, [](unsigned char c) { return alnum(c) || c == '_'; });
}

bool is_header_name(std::string_view s) {
  constexpr std::string_view marks = "!#$%&'*+.^_`|~-";
  return !s.empty() && std::ranges::all_of(s, [&](char c) {
    return alnum(static_cast<unsigned char>(c)) || marks.find(c) != marks.npos;
  });
}

bool is_one_line(std::string_view s) {
  return s.find_first_of("\r\n") == s.npos;
}

bool is_http_url(std::string_view s) {
  const auto rest = s.starts_with("https://") ? s.substr(8) : s.starts_with("http://") ? s.substr(7) : "";
  return !rest.empty() && rest[0] != '/' && rest[0] != '?' && rest[0] != '#' && rest[0] != ':' &&
         std::ranges::all_of(rest, [](unsigned char c) { return c > 0x20 && c < 0x7F; });
}

bool is_endpoint_url(std::string_view s) {
  const auto is_plain = [](unsigned char c) { return c > 0x20 && c < 0x7F; };
  return is_http_url(s) || (s.starts_with("unix:/") && s.size() > 6 && std::ranges::all_of(s, is_plain));
}

bool is_tool_name(std::string_view s) {
  return !s.empty() && s.size() <= 64 &&
         std::ranges::all_of(s, [](unsigned char c) { return alnum(c) || c == '_' || c == '-'; });
}

bool is_tool_glob(std::string_view s) {
  return !s.empty() && std::ranges::count_if(s, [](unsigned char c) { return (c & 0xC0) != 0x80; }) <= 256;
}

bool is_uri_glob(std::string_view s) {
  return !s.empty() && s.size() <= 1024;
}

bool all_digits(std::string_view s, std::size_t most) {
  return !s.empty() && s.size() <= most && std::ranges::all_of(s, [](unsigned char c) { return digit(c); });
}

bool is_loopback_address(std::string_view s) {
  const auto colon = s.rfind(':');
  if (colon == s.npos || !all_digits(s.substr(colon + 1), 5)) return false;
  int port = 0;
  for (const char c : s.substr(colon + 1)) port = port * 10 + (c - '0');
  if (port > 65535) return false;
  auto host = s.substr(0, colon);
  if (host == "localhost" || host == "[::1]") return true;
  if (!host.starts_with("127.")) return false;
  int parts = 1;
  host.remove_prefix(4);
  while (true) {
    const auto dot = host.find('.');
    const auto part = host.substr(0, dot);
    if (!all_digits(part, 3) || (part.size() == 3 && part > "255")) return false;
    ++parts;
    if (dot == host.npos) return parts == 4;
    host.remove_prefix(dot + 1);
  }
}

bool is_root_place(std::string_view s) {
  if (s.starts_with("file://")) return s.size() > 7;
  return !s.empty() && !s.contains("://");
}

bool is_store_url(std::string_view s) {
  return s == "none" || s.starts_with("sqlite:") || is_postgres_url(s);
}

}  // namespace

const form entry_name{"a name of 1 to 64 printable characters", "^[^" MCPBX_VISIBLE "]{1,64}$", is_entry_name,
                      "choose a shorter, plain name"};
const form model_name{"a name of 1 to 64 printable characters without / that does not start with profile:",
                      "^(?!profile:)[^/" MCPBX_VISIBLE "]{1,64}$", is_model_name,
                      "choose a plain name; NAME/ID and profile:NAME mean something else"};
const form filled{"a text that is not empty", "[\\s\\S]", [](std::string_view s) { return !s.empty(); },
                  "write the text, or take the key out"};
const form env_name{"the name of an environment variable (letters, digits and _)", "^[A-Za-z_][A-Za-z0-9_]*$",
                    is_env_name, "write the name alone, like API_KEY"};
const form header_name{"the name of an HTTP header", "^[!#$%&'*+.^_`|~0-9A-Za-z\\-]+$", is_header_name,
                       "write it like X-Api-Key, without blanks and colon"};
const form header_value{"one line of text", "^[^\\r\\n]*$", is_one_line, "take the line break out"};
const form http_url{"a URL that starts with http:// or https://", "^https?://(?![/?#:])[!-~]+$", is_http_url,
                    "write it like https://tools.example/mcp"};
const form server_url{"a URL that starts with http://, https:// or unix:/", "^(https?://(?![/?#:])|unix:/)[!-~]+$",
                      is_endpoint_url, "write it like https://tools.example/mcp or unix:/run/tools.sock:/mcp"};
const form endpoint_url{"a URL that starts with http://, https:// or unix:/", "^(https?://(?![/?#:])|unix:/)[!-~]+$",
                        is_endpoint_url, "write it like https://models.example/v1 or unix:/run/model.sock:/v1"};
const form tool_glob{"a pattern of tool names with 1 to 256 characters", "^[\\s\\S]{1,256}$", is_tool_glob,
                     "write a name, with * for any characters"};
const form prompt_glob{"a pattern of prompt names with 1 to 256 characters", "^[\\s\\S]{1,256}$", is_tool_glob,
                       "write a name, with * for any characters"};
const form uri_glob{"a pattern of URIs with 1 to 1024 bytes", "^[\\s\\S]{1,1024}$", is_uri_glob,
                    "write a URI, with * for any characters"};
const form method_glob{"a pattern of method names with 1 to 256 characters", "^[\\s\\S]{1,256}$", is_tool_glob,
                       "write a name, with * for any characters"};
const form extension_name{"a name of 1 to 256 characters", "^[\\s\\S]{1,256}$", is_tool_glob,
                          "write it like com.example/feature"};
const form tool_name{"a tool name of 1 to 64 letters, digits, _ and -", "^[A-Za-z0-9_\\-]{1,64}$", is_tool_name,
                     "write it like read_file"};
const form root_place{"a path or an address that starts with file://", "^(file://|(?![\\s\\S]*://))[\\s\\S]",
                      is_root_place, "write it like ~/Documents or file:///home/me/Documents"};
const form loopback_address{"HOST:PORT on this machine (127.0.0.1, [::1] or localhost)",
                            "^(127(\\.(25[0-5]|2[0-4][0-9]|1[0-9]{2}|0?[0-9]{1,2})){3}|localhost|\\[::1\\]):0*(6553[0-"
                            "5]|655[0-2][0-9]|65[0-4][0-9]{2}|"
                            "6[0-4][0-9]{3}|[1-5][0-9]{4}|[0-9]{1,4})$",
                            is_loopback_address, "write 127.0.0.1:PORT; put a TLS proxy in front for other machines"};
const form store_url{"none, sqlite:PATH or postgresql://…", "^(none$|sqlite:|postgres(ql)?://)", is_store_url,
                     "write none, sqlite: or postgresql://host/database"};

bool is_glob(const form* f) {
  return f == &tool_glob || f == &prompt_glob || f == &uri_glob || f == &method_glob;
}

std::string_view thing_of(const form* f) {
  if (f == &prompt_glob) return "prompt";
  if (f == &method_glob) return "method";
  return f == &uri_glob ? "resource" : "tool";
}

}  // namespace mcpbx::conf::model::forms
