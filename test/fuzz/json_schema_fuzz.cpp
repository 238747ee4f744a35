// Any bytes as a schema and a value (parted by the first NUL): compiling and checking end within their bounds, and what
// is found can be told. The value is a known schema as well, under "urn:known".
#include "providers/schema/validator/json_schema.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using mcpbx::providers::schema::json_schema;
  using mcpbx::providers::schema::known_schema;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto cut = text.find('\0');
  const auto schema = mcpbx::json::raw_json::parse(text.substr(0, cut));
  if (!schema) return 0;
  std::vector<known_schema> known;
  if (cut != text.npos)
    if (auto one = mcpbx::json::raw_json::parse(text.substr(cut + 1))) known.push_back({"urn:known", std::move(*one)});
  const auto compiled = json_schema::compile(*schema, known);
  if (!compiled) {
    if (compiled.error().message.empty()) std::abort();
    return 0;
  }
  // A schema judges itself too, which reaches more than two unrelated documents do.
  for (const auto value : {cut == text.npos ? std::string_view("{}") : text.substr(cut + 1), text.substr(0, cut)}) {
    const auto parsed = mcpbx::json::raw_json::parse(value);
    if (!parsed) continue;
    const auto verdict = compiled->check(*parsed);
    if (verdict.violations.size() > json_schema::max_violations) std::abort();
    if (verdict.violations.empty() != mcpbx::providers::schema::describe(verdict.violations, "value").empty())
      std::abort();
  }
  return 0;
}
