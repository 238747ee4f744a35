// Joins the capabilities of servers; values of members stay the bytes that they are.
#include "mcp/client/catalog/catalog_offers.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/extensions.hpp"

#include <set>
#include <string>
#include <string_view>

namespace mcpbx::mcp::catalogs {
namespace {

constexpr std::size_t most_bytes_of_all = std::size_t{64} << 10;
constexpr std::size_t longest_name = 256;

/// An object with the extensions of several servers; the first one of a name counts.
class joined_extensions {
 public:
  void add(const json::raw_json& object) {
    if (object.text().size() > protocol::most_bytes_of_an_offer) return;
    const auto opened = json::raw_object::open(object);
    if (!opened) return;
    opened->for_each([&](std::string_view key, const json::raw_json& value) {
      if (value.is_object()) add(key, value.text());
    });
  }
  void add(std::string_view key, std::string_view value) {
    if (key.size() > longest_name || text_.size() + key.size() + value.size() > most_bytes_of_all) return;
    if (!keys_.emplace(key).second) return;
    text_ += text_.empty() ? "{" : ",";
    text_ += json::json_quoted(key);
    text_ += ':';
    text_ += value;
  }
  json::raw_json take() const { return text_.empty() ? json::raw_json() : json::raw_json::own(text_ + "}"); }

 private:
  std::set<std::string, std::less<>> keys_;
  std::string text_;
};

}  // namespace

bool catalog_offers::operator==(const catalog_offers& other) const {
  return tools == other.tools && prompts == other.prompts && resources == other.resources &&
         subscribe == other.subscribe && completions == other.completions && logging == other.logging &&
         tasks.text() == other.tasks.text() && extensions.text() == other.extensions.text() &&
         experimental.text() == other.experimental.text();
}

catalog_offers joined_offers(std::span<const told_offers> servers) {
  catalog_offers all;
  joined_extensions extensions, experimental;
  bool more_may_come = false;
  for (const auto& [told, silent] : servers) {
    const bool may_come = !told.known && !silent;
    more_may_come = more_may_come || may_come;
    all.prompts = all.prompts || told.prompts || may_come;
    all.resources = all.resources || told.resources || may_come;
    all.subscribe = all.subscribe || told.subscribe || may_come;
    all.completions = all.completions || told.completions || may_come;
    all.logging = all.logging || told.logging || may_come;
    if (all.tasks.empty() && told.tasks.text().size() <= protocol::most_bytes_of_an_offer) all.tasks = told.tasks;
    extensions.add(told.extensions);
    experimental.add(told.experimental);
  }
  if (more_may_come) {
    if (all.tasks.empty())
      all.tasks = json::raw_json::literal(R"({"list":{},"cancel":{},"requests":{"tools":{"call":{}}}})");
    for (const std::string_view one : protocol::carried_extensions) extensions.add(one, "{}");
  }
  all.extensions = extensions.take();
  all.experimental = experimental.take();
  return all;
}

json::raw_json without_extensions(const json::raw_json& extensions, const std::set<std::string, std::less<>>& names) {
  const auto opened = json::raw_object::open(extensions);
  if (names.empty() || !opened) return extensions;
  joined_extensions kept;
  opened->for_each([&](std::string_view key, const json::raw_json& value) {
    if (!names.contains(key)) kept.add(key, value.text());
  });
  return kept.take();
}

}  // namespace mcpbx::mcp::catalogs
