// Hashes, comparison and approval of definitions. pins_text.cpp has the file's text.
#include "daemon/guard/pins/pins.hpp"

#include "mcp/crypto/sha256.hpp"
#include "mcp/json/canonical_json.hpp"
#include "mcp/json/json_writer.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace mcpbx::daemon::pins {
namespace {

/// Largest stored definition, and largest total for one server, in bytes. Beyond these only the hash is stored.
constexpr std::size_t longest_kept = std::size_t{256} << 10, most_kept = std::size_t{4} << 20;

pin make_pin(std::string part, std::string_view origin, const std::string& now) {
  pin p{pin_hash(part, origin), now, {}};
  if (part.size() > longest_kept) return p;
  // A definition that is nested too deep was not made canonical, and the reader of the file has a bound too.
  if (auto kept = json::raw_json::parse(part)) p.definition = std::move(*kept);
  return p;
}

// Drops the stored definitions beyond the bound for one server; their hashes stay.
void drop_long(server_pins& pins) {
  std::size_t kept = 0;
  for (auto& [name, p] : pins) {
    kept += p.definition.text().size();
    if (kept > most_kept) p.definition = {};
  }
}

}  // namespace

std::string_view to_string(pin_mode m) {
  constexpr std::array<std::string_view, 3> words{"off", "warn", "block"};
  return words[static_cast<std::size_t>(m)];
}

std::string_view to_string(pin_state s) {
  constexpr std::array<std::string_view, 5> words{"ok", "changed", "new", "gone", "unseen"};
  return words[static_cast<std::size_t>(s)];
}

std::string pinned_part(const json::raw_json& definition) {
  return json::canonical_json(definition);
}

std::string first_pinned_part(const json::raw_json& definition) {
  // In the order of canonical JSON.
  constexpr std::array<std::string_view, 5> members{"annotations", "description", "inputSchema", "name",
                                                    "outputSchema"};
  std::string out;
  json::json_writer w(out);
  w.begin_object();
  const auto object = json::raw_object::open(definition);
  for (const auto key : members)
    if (const json::raw_json value = object ? object->find(key) : json::raw_json())
      w.key(key).token(json::canonical_json(value));
  w.end_object();
  return out;
}

std::string pin_hash(std::string_view part, std::string_view origin) {
  // Neither part contains a line break, so the separator is unambiguous.
  std::string both;
  both.reserve(part.size() + origin.size() + 1);
  both.append(part).append("\n").append(origin);
  return crypto::sha256_hex(both);
}

std::string origin_text(server_origin from) {
  std::ranges::sort(from.env_names);
  const auto doubled = std::ranges::unique(from.env_names);
  from.env_names.erase(doubled.begin(), doubled.end());
  // Members in the order of canonical JSON. Members of later versions are left out if empty, so that earlier pins stay
  // valid.
  std::string out;
  json::json_writer w(out);
  w.begin_object();
  w.list("args", from.args);
  w.member("command", from.command);
  w.filled("cwd", from.cwd);
  w.member("endpoint", from.endpoint);
  if (!from.env_names.empty()) w.list("env", from.env_names);
  w.filled("envFile", from.env_file);
  w.end_object();
  return out;
}

std::vector<compared_tool> compare(const server_pins& pins, const std::vector<mcp::protocol::feature_item>& listed,
                                   std::string_view origin) {
  std::vector<compared_tool> out;
  out.reserve(listed.size());
  std::set<std::string_view> seen;
  for (const mcp::protocol::feature_item& tool : listed) {
    const std::string part = pinned_part(tool.definition);
    compared_tool c{tool.key, pin_state::ok, pin_hash(part, origin), false};
    const auto known = pins.find(tool.key);
    if (known == pins.end()) {
      c.state = pin_state::added;
    } else {
      seen.insert(known->first);
      const auto& [hash, at, kept, whole] = known->second;
      const std::string then = whole ? part : first_pinned_part(tool.definition);
      if (hash != (whole ? c.sha256 : pin_hash(then, origin))) c.state = pin_state::changed;
      c.origin_only = c.state == pin_state::changed && kept.text() == then;
    }
    out.push_back(std::move(c));
  }
  for (const auto& [tool, known] : pins)
    if (!seen.contains(tool)) out.push_back({tool, pin_state::gone, "", false});
  return out;
}

std::size_t take_over(server_pins& pins, const std::vector<mcp::protocol::feature_item>& listed,
                      std::string_view origin) {
  std::size_t taken = 0;
  for (const mcp::protocol::feature_item& tool : listed) {
    const auto known = pins.find(tool.key);
    if (known == pins.end() || known->second.whole ||
        known->second.sha256 != pin_hash(first_pinned_part(tool.definition), origin))
      continue;
    known->second = make_pin(pinned_part(tool.definition), origin, known->second.pinned_at);
    ++taken;
  }
  if (taken > 0) drop_long(pins);
  return taken;
}

std::size_t approve(server_pins& pins, const std::vector<mcp::protocol::feature_item>& listed, std::string_view origin,
                    const std::string& now, std::string_view tool) {
  const auto compared = compare(pins, listed, origin);
  std::size_t changes = 0;
  for (std::size_t i = 0; i < compared.size(); ++i) {
    const compared_tool& c = compared[i];
    if (c.state == pin_state::ok || (!tool.empty() && c.tool != tool)) continue;
    ++changes;
    if (c.state == pin_state::gone)
      pins.erase(c.tool);
    else  // listed tools come first, in their order
      pins.insert_or_assign(c.tool, make_pin(pinned_part(listed[i].definition), origin, now));
  }
  drop_long(pins);
  return changes;
}

}  // namespace mcpbx::daemon::pins
