// Chooses the edits of a program's format. A file that is ours alone is written as a whole.
#include "conf/hosts/install/own_entry.hpp"

#include "conf/hosts/install/json_file.hpp"
#include "conf/hosts/install/toml_file.hpp"
#include "conf/hosts/install/yaml_file.hpp"
#include "mcp/json/json_writer.hpp"

#include <memory>
#include <utility>

namespace mcpbx::conf::install {
namespace {

std::string list_of(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& w : words) out += (out.empty() ? "" : ", ") + json::json_quoted(w);
  return "[" + out + "]";
}

/// Returns our entry as JSON, with the keys of the program.
std::string entry_of(const programs::program& to, const own_command& command) {
  std::string out;
  if (to.name == "opencode") {
    auto words = command.args;
    words.insert(words.begin(), command.program);
    out = "{\"type\": \"local\", \"command\": " + list_of(words);
  } else if (to.name == "goose") {
    out = "{\"type\": \"stdio\", \"name\": \"mcpbx\", \"description\": \"\", \"cmd\": " +
          json::json_quoted(command.program) + ", \"args\": " + list_of(command.args);
  } else {
    out = "{\"command\": " + json::json_quoted(command.program) + ", \"args\": " + list_of(command.args);
  }
  if (!to.extra.empty()) out += ", " + std::string(to.extra);
  return out + "}";
}

/// Returns the whole text of a file that holds our entry alone, in Continue's form of a block.
std::string own_block(const own_command& command) {
  return "name: mcpbx\nversion: 0.0.1\nschema: v1\nmcpServers:\n  - name: mcpbx\n    command: " +
         json::json_quoted(command.program) + "\n    args: " + list_of(command.args) + "\n";
}

std::unique_ptr<file_edits> edits_of(const programs::program& to, std::string_view file) {
  if (to.format == read::foreign_format::toml) return std::make_unique<toml_file>(to, file);
  if (to.format == read::foreign_format::yaml) return std::make_unique<yaml_file>(to, file);
  return std::make_unique<json_file>(to, file);
}

}  // namespace

switch_words words_of_switch(programs::off_switch s) {
  switch (s) {
    case programs::off_switch::disabled:
      return {"disabled", true};
    case programs::off_switch::is_active:
      return {"isActive", false};
    case programs::off_switch::active:
      return {"active", false};
    default:
      return {"enabled", false};
  }
}

bool can_install(const programs::program& to) {
  if (!to.own_file.empty()) return true;
  return !to.files[0].empty() && to.shape == programs::server_shape::by_name;
}

std::string pasted_entry(const programs::program& to, const own_command& command) {
  if (!to.own_file.empty()) return own_block(command);
  const auto entry = entry_of(to, command);
  if (to.format == read::foreign_format::toml) {
    toml_file file(to, "");
    return file.add("", entry).value_or("");
  }
  if (to.format == read::foreign_format::yaml) {
    yaml_file file(to, "");
    return file.add("", entry).value_or("");
  }
  if (to.shape == programs::server_shape::list)
    return "{" + json::json_quoted(to.section) + ": [{\"name\": \"mcpbx\", " + entry.substr(1) + "]}\n";
  return edit::set_member("", {std::string(to.section), std::string(own_name)}, entry, "").value_or("");
}

result<bool> has_own_entry(const programs::program& to, std::string_view text, std::string_view file) {
  if (!to.own_file.empty()) return !text.empty();
  return edits_of(to, file)->has_own(text);
}

result<edited_file> with_own_entry(const programs::program& to, std::string_view text, const own_command& command,
                                   std::span<const std::string> off, std::string_view file) {
  edited_file out;
  if (!to.own_file.empty()) {
    out.text = own_block(command);
    out.left_on.assign(off.begin(), off.end());
    return out;
  }
  const auto edits = edits_of(to, file);
  auto made = edits->add(text, entry_of(to, command));
  if (!made) return std::unexpected(made.error());
  out.text = std::move(*made);
  for (const auto& name : off) {
    if (name == own_name) continue;
    auto next = edits->off(out.text, name);
    if (!next) {
      out.left_on.push_back(name);
    } else if (*next != out.text) {
      out.switched_off.push_back(name);
      out.text = std::move(*next);
    }
  }
  return out;
}

result<std::string> without_own_entry(const programs::program& to, std::string_view text, std::string_view before,
                                      std::span<const std::string> off, std::string_view file) {
  if (!to.own_file.empty()) return std::string(before);
  const auto edits = edits_of(to, file);
  auto out = edits->remove(text, before);
  for (const auto& name : off) {
    if (!out) return out;
    out = edits->on(*out, before, name);
  }
  return out;
}

}  // namespace mcpbx::conf::install
