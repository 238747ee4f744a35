// Entries are written as desktop hosts write them, so that they can be moved from one program to another.
#include "conf/edit/entry_text.hpp"

#include "conf/edit/json_edit.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/json/raw_json.hpp"

#include <array>

namespace mcpbx::conf::edit {

std::string entry_json(const entry_words& words) {
  std::string json;
  json::json_writer w(json);
  w.begin_object();
  if (!words.command.empty()) {
    w.member("command", words.command.front());
    w.key("args").begin_array();
    for (std::size_t i = 1; i < words.command.size(); ++i) w.value(words.command[i]);
    w.end_array();
  }
  w.filled("url", words.url);
  const auto map = [&](std::string_view key, const std::vector<std::pair<std::string, std::string>>& pairs) {
    if (pairs.empty()) return;
    w.key(key).begin_object();
    for (const auto& [name, value] : pairs) w.member(name, value);
    w.end_object();
  };
  map("env", words.env);
  map("headers", words.headers);
  w.filled("envFile", words.env_file).filled("cwd", words.cwd);
  if (words.lazy) w.member("start", "lazy");
  w.end_object();
  return json;
}

std::string entry_file_name(std::string_view name) {
  static constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && c != '/' && c != '%' && c != '\\' && byte != 0x7F && !(c == '.' && out.empty())) {
      out += c;
      continue;
    }
    out += '%';
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out + ".json";
}

result<std::string> with_entry(std::string_view text, const std::string& name, std::string_view entry,
                               std::string_view file) {
  return set_member(text, {"mcpServers", name}, entry, file);
}

}  // namespace mcpbx::conf::edit
