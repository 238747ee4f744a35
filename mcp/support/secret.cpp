// The one table of values that must never be printed. The log lane and the speaking thread both use it, hence the
// mutex.
#include "mcp/support/secret.hpp"

#include "mcp/support/raw_json.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace mcpbx {
namespace {

constexpr std::size_t shortest = 6;

std::mutex guard;

/// Longest first, so that a secret which contains another one is covered whole.
std::vector<std::string>& values() {
  static std::vector<std::string> v;
  return v;
}

void insert(std::string value) {
  auto& v = values();
  if (value.size() < shortest || std::ranges::find(v, value) != v.end()) return;
  const auto at = std::ranges::find_if(v, [&](const std::string& other) { return other.size() < value.size(); });
  v.insert(at, std::move(value));
}

}  // namespace

void redactor::add(const secret& value) {
  const std::lock_guard lock(guard);
  insert(value.reveal());
  // The same value as it looks inside JSON, where a quote or a backslash is escaped.
  const std::string json = json_quoted(value.reveal());
  if (value.reveal().size() >= shortest) insert(json.substr(1, json.size() - 2));
}

std::string redactor::redact(std::string_view text) {
  std::string out(text);
  const std::lock_guard lock(guard);
  for (const std::string& v : values())
    for (std::size_t at = 0; (at = out.find(v, at)) != std::string::npos; at += 3) out.replace(at, v.size(), "***");
  return out;
}

void redactor::clear() {
  const std::lock_guard lock(guard);
  values().clear();
}

}  // namespace mcpbx
