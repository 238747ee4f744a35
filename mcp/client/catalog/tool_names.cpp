// Makes names of tools: conversion to [A-Za-z0-9_-], and stable hashes for names that are too long or clash.
#include "mcp/client/catalog/tool_names.hpp"

#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::mcp::catalogs {
namespace {

constexpr std::size_t longest_prefix = 32;
constexpr int hash_digits = 6;

bool fits(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

bool inside_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Returns `text` with one underscore for every character that is not allowed.
std::string converted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (fits(c))
      out += c;
    else if (!inside_character(c))
      out += '_';
  }
  return out;
}

/// Returns the server's part of a name, without double underscores, which would make its end ambiguous.
std::string converted_server(std::string_view name) {
  std::string out;
  for (const char c : converted(name))
    if (c != '_' || (!out.empty() && out.back() != '_')) out += c;
  while (out.ends_with('_')) out.pop_back();
  return out;
}

std::string with_hash(std::string_view text, std::string_view hashed, std::size_t most, int digits) {
  const auto hash = hex(stable_hash(hashed), digits);
  std::string out(text.substr(0, most - hash.size() - 1));
  return out + "_" + hash;
}

/// Returns `text_hash` with as many digits as it takes to be free, or "" if even 16 do not suffice.
std::string free_name(std::string_view text, std::string_view hashed, std::size_t most,
                      const std::set<std::string, std::less<>>& taken) {
  for (int digits = hash_digits; digits <= 16; digits += 2)
    if (auto name = with_hash(text, hashed, most, digits); !taken.contains(name)) return name;
  return {};
}

/// Returns a free prefix from `stem` and a hash of the server's name. Strips underscores at the cut, since the hash
/// brings its own; a name that is configured twice is hashed with a count.
std::string hashed_prefix(std::string_view stem, const std::string& server,
                          const std::set<std::string, std::less<>>& taken) {
  stem = stem.substr(0, longest_prefix - hash_digits - 1);
  while (stem.ends_with('_')) stem.remove_suffix(1);
  for (int n = 1;; ++n) {
    auto prefix =
        std::string(stem) + "_" + hex(stable_hash(n == 1 ? server : server + "#" + std::to_string(n)), hash_digits);
    if (!taken.contains(prefix)) return prefix;
  }
}

std::string_view renamed(std::string_view own, const std::map<std::string, std::string>& rename) {
  const auto found = rename.find(std::string(own));
  return found == rename.end() ? own : std::string_view(found->second);
}

std::string clash(std::string_view own, const std::string& wanted, const std::string& got) {
  const std::string what =
      "tool \"" + redact::printable(own) + "\" cannot be called \"" + redact::printable(wanted) + "\"";
  return got.empty() ? what + ": another tool has that name; it is left out" : what + "; its name is \"" + got + "\"";
}

}  // namespace

std::vector<std::string> settle_prefixes(std::span<const std::string> servers) {
  std::vector<std::string> out(servers.size());
  std::set<std::string, std::less<>> taken;
  const auto settle = [&](std::size_t i) {
    const auto& server = servers[i];
    std::string prefix = converted_server(server);
    const bool reserved = prefix + "__" == reserved_prefix;
    if (prefix.empty()) prefix = "server";
    if (prefix.size() > longest_prefix || reserved || taken.contains(prefix) || converted_server(server).empty())
      prefix = hashed_prefix(prefix, server, taken);
    taken.insert(prefix);
    out[i] = std::move(prefix);
  };
  const auto is_exact = [&](std::size_t i) { return converted_server(servers[i]) == servers[i]; };
  for (const bool exact : {true, false})
    for (std::size_t i = 0; i < servers.size(); ++i)
      if (is_exact(i) == exact) settle(i);
  return out;
}

named_tools prefixed_names(std::string_view prefix, std::span<const std::string_view> tools,
                           const std::map<std::string, std::string>& rename) {
  const std::string head = std::string(prefix) + "__";
  const std::size_t room = longest_exposed_name - head.size();
  named_tools out;
  out.names.resize(tools.size());

  // Three rounds, the strongest claim first: names given by the configuration, names that need no change, the rest.
  enum class claim { renamed, exact, changed };
  struct wish {
    std::string part;
    claim strength;
  };
  std::vector<wish> wishes;
  std::map<std::string, int, std::less<>> changed_to;  // number of tools that want the same converted name
  for (const std::string_view own : tools) {
    const std::string_view wanted = renamed(own, rename);
    wish w{converted(wanted), claim::exact};
    if (w.part != wanted || w.part.size() > room)
      w.strength = claim::changed;
    else if (wanted != own)
      w.strength = claim::renamed;
    if (w.strength == claim::changed) ++changed_to[w.part];
    wishes.push_back(std::move(w));
  }

  std::set<std::string, std::less<>> taken;
  const auto give = [&](std::size_t i, std::string name) {
    if (!name.empty()) taken.insert(name);
    out.names[i] = std::move(name);
  };
  const auto give_hashed = [&](std::size_t i) {
    std::string name = free_name(head + wishes[i].part, tools[i], longest_exposed_name, taken);
    out.notices.push_back(clash(tools[i], head + wishes[i].part, name));
    give(i, std::move(name));
  };
  // Names are given in alphabetical order, since a server may shuffle its list.
  std::vector<std::size_t> order(tools.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return tools[i]; });
  std::vector<std::size_t> losers;
  for (const claim round : {claim::renamed, claim::exact, claim::changed})
    for (const std::size_t i : order) {
      if (wishes[i].strength != round) continue;
      const std::string& part = wishes[i].part;
      const bool alone = round != claim::changed || (changed_to[part] == 1 && part.size() <= room);
      if (alone && !taken.contains(head + part))
        give(i, head + part);
      else
        losers.push_back(i);
    }
  for (const std::size_t i : losers) give_hashed(i);

  std::set<std::string_view> given;  // names given by a rename to a tool with another own name
  for (const auto& [own, name] : rename)
    if (own != name) given.insert(name);
  out.others.resize(tools.size());
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const std::string as_wished = head + wishes[i].part;
    if (out.names[i] != as_wished)
      out.others[i] = as_wished;
    else if (wishes[i].strength == claim::changed || given.contains(tools[i]))
      out.others[i] = with_hash(as_wished, tools[i], longest_exposed_name, hash_digits);
  }
  return out;
}

std::string plain_name(std::string_view tool, const std::map<std::string, std::string>& rename) {
  return std::string(renamed(tool, rename));
}

named_tools plain_names(std::span<const std::string_view> tools, const std::map<std::string, std::string>& rename,
                        std::span<const std::string> prefixes, const named_tools& prefixed,
                        std::set<std::string, std::less<>>& taken, const std::set<std::string, std::less<>>* foreign) {
  const auto looks_prefixed = [&](std::string_view name) {
    return name.starts_with(reserved_prefix) || std::ranges::any_of(prefixes, [&](const std::string& p) {
             return name.size() > p.size() + 2 && name.starts_with(p) && name.substr(p.size()).starts_with("__");
           });
  };
  named_tools out;
  for (std::size_t i = 0; i < tools.size(); ++i) {
    std::string name(renamed(tools[i], rename));
    if (looks_prefixed(name) || taken.contains(name) || (foreign != nullptr && foreign->contains(tools[i]))) {
      out.notices.push_back(clash(tools[i], name, prefixed.names[i]));
      name = prefixed.names[i];
    }
    if (!name.empty()) taken.insert(name);
    out.names.push_back(std::move(name));
  }
  return out;
}

}  // namespace mcpbx::mcp::catalogs
