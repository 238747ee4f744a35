// Writes and reads the file of pins as JSON. The reader is strict, because an unclear file must not be trusted.
#include "daemon/guard/pins/pins.hpp"
#include "mcp/json/json_writer.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace mcpbx::daemon::pins {
namespace {

constexpr std::int64_t version = 2, oldest = 1;
constexpr int deepest = 300;  // stored definitions have at most 256 levels

bool is_sha256(std::string_view text) {
  return text.size() == 64 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::unexpected<error> wrong(const std::string& what) {
  return fail(errc::parse, what);
}

result<pin> read_pin(const json::raw_json& value, const std::string& where) {
  const auto object =
      json::raw_object::open(value, {"sha256", "pinnedAt", "definition", "whole"}, json::any_number_of_members);
  if (!object) return wrong(where + ": " + object.error().message);
  pin p;
  const auto hash = object->find("sha256").as_string(), at = object->find("pinnedAt").as_string();
  p.definition = object->find("definition");
  if (!hash || !is_sha256(*hash)) return wrong(where + ": sha256 must be 64 hexadecimal digits");
  if (!at) return wrong(where + ": pinnedAt must be a string");
  if (p.definition && !p.definition.is_object()) return wrong(where + ": definition must be an object");
  const json::raw_json whole = object->find("whole");
  if (whole && !whole.is_true()) return wrong(where + ": whole must be true");
  p.whole = whole.is_true();
  p.sha256 = *hash;
  p.pinned_at = *at;
  return p;
}

result<server_pins> read_server(const json::raw_json& value, const std::string& where) {
  const auto object = value.is_object() ? json::raw_object::open(value, {}, json::any_number_of_members)
                                        : wrong(where + " must be an object");
  if (!object) return std::unexpected(object.error());
  server_pins pins;
  std::optional<error> problem;
  object->for_each([&](std::string_view tool, const json::raw_json& one) {
    if (problem) return;
    const std::string place = where + ", tool " + json::json_quoted(tool);
    auto p = read_pin(one, place);
    if (!p)
      problem = std::move(p.error());
    else if (!pins.emplace(tool, std::move(*p)).second)
      problem = error{errc::parse, place + " is there twice"};
  });
  if (problem) return std::unexpected(std::move(*problem));
  return pins;
}

result<name_holder> read_holder(const json::raw_json& value, const std::string& where) {
  const auto object = json::raw_object::open(value, {"server", "tool"});
  if (!object) return wrong(where + ": " + object.error().message);
  auto server = object->find("server").as_string(), tool = object->find("tool").as_string();
  if (!server || !tool || server->empty() || tool->empty()) return wrong(where + ": server and tool must be names");
  return name_holder{std::move(*server), std::move(*tool)};
}

result<name_book> read_names(const json::raw_json& value) {
  name_book names;
  if (!value) return names;
  const auto object = value.is_object() ? json::raw_object::open(value) : wrong("names must be an object");
  if (!object) return std::unexpected(object.error());
  std::optional<error> problem;
  object->for_each([&](std::string_view name, const json::raw_json& list) {
    if (problem) return;
    const std::string place = "name " + json::json_quoted(name);
    std::vector<name_holder> holders;
    json::for_each_element(list, [&](const json::raw_json& one) {
      auto holder = read_holder(one, place);
      if (!holder)
        problem = std::move(holder.error());
      else
        holders.push_back(std::move(*holder));
      return !problem;
    });
    if (problem) return;
    if (holders.empty())
      problem = error{errc::parse, place + " must have a list of tools"};
    else if (!names.emplace(name, std::move(holders)).second)
      problem = error{errc::parse, place + " is there twice"};
  });
  if (problem) return std::unexpected(std::move(*problem));
  return names;
}

void append_names(std::string& out, const name_book& names) {
  bool first = true;
  for (const auto& [name, holders] : names) {
    out += std::exchange(first, false) ? "\n" : ",\n";
    json::json_writer w(out);
    w.key(name).begin_array();
    for (const auto& [server, tool] : holders) w.token(json::json_object("server", server, "tool", tool));
    w.end_array();
  }
}

}  // namespace

std::string to_text(const pin_file& file) {
  std::string out = "{\"version\":" + std::to_string(version) + ",\"servers\":{";
  bool first_server = true;
  for (const auto& [server, pins] : file.pins) {
    out += std::exchange(first_server, false) ? "\n" : ",\n";
    json::append_quoted(out, server);
    out += ":{";
    bool first = true;
    for (const auto& [tool, p] : pins) {
      out += std::exchange(first, false) ? "\n" : ",\n";
      json::json_writer w(out);
      w.key(tool).begin_object().member("sha256", p.sha256).member("pinnedAt", p.pinned_at);
      w.set("whole", p.whole).given("definition", p.definition).end_object();
    }
    out += '}';
  }
  out += "\n}";
  if (!file.names.empty()) {
    out += ",\"names\":{";
    append_names(out, file.names);
    out += "\n}";
  }
  return out + "}\n";
}

result<pin_file> read_pins(std::string_view text) {
  const auto whole = json::raw_json::parse(text, deepest);
  if (!whole) return std::unexpected(whole.error());
  const auto top = whole->is_object()
                       ? json::raw_object::open(*whole, {"version", "servers"}, json::any_number_of_members)
                       : wrong("it is no object");
  if (!top) return std::unexpected(top.error());
  const auto number = top->find("version").as_integer();
  if (!number || *number < oldest) return wrong("version must be " + std::to_string(version));
  if (*number > version)
    return fail(errc::config, "it was written by a newer version of mcpbx (its version is " + std::to_string(*number) +
                                  ", this mcpbx knows " + std::to_string(version) + ")");
  const json::raw_json servers = top->find("servers");
  const auto object = servers.is_object() ? json::raw_object::open(servers, {}, json::any_number_of_members)
                                          : wrong("servers must be an object");
  if (!object) return std::unexpected(object.error());
  auto names = read_names(top->find("names"));
  if (!names) return std::unexpected(std::move(names.error()));
  pin_file file{{}, std::move(*names)};
  std::optional<error> problem;
  object->for_each([&](std::string_view server, const json::raw_json& one) {
    if (problem) return;
    const std::string place = "server " + json::json_quoted(server);
    auto pins = read_server(one, place);
    if (!pins)
      problem = std::move(pins.error());
    else if (!file.pins.emplace(server, std::move(*pins)).second)
      problem = error{errc::parse, place + " is there twice"};
  });
  if (problem) return std::unexpected(std::move(*problem));
  return file;
}

}  // namespace mcpbx::daemon::pins
