// Joins the capabilities of servers; values of members stay the bytes that they are.
#include "mcp/client/catalog/catalog_offers.hpp"

#include "mcp/json/json_writer.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace mcpbx::mcp::catalogs {
namespace {

constexpr std::size_t most_bytes_of_all = std::size_t{64} << 10;

/// An object with the extensions of several servers; the first one of a name counts.
class joined_extensions {
 public:
  void add(std::string_view key, std::string_view value) {
    if (key.size() > protocol::longest_extension_name || text_.size() + key.size() + value.size() > most_bytes_of_all)
      return;
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

/// The same member of all servers: whole, and with those alone that need no methods.
struct joined_member {
  joined_extensions all, bare;

  /// Adds what this server lists. Returns true if some of it is told to nobody.
  bool add(const json::raw_json& object, const told_offers& server) {
    bool unnamed = false;
    if (object.text().size() > protocol::most_bytes_of_an_offer) return unnamed;
    const auto opened = json::raw_object::open(object);
    if (!opened) return unnamed;
    opened->for_each([&](std::string_view key, const json::raw_json& value) {
      if (!value.is_object()) return;
      const auto& rules = server.extensions;
      const auto named = rules.named.find(key);
      const bool needs_none = named != rules.named.end() && named->second.empty() && !rules.elsewhere.contains(key);
      if (protocol::is_carried(key) || needs_none) bare.add(key, value.text());
      if (protocol::is_carried(key) || named != rules.named.end() || std::ranges::binary_search(server.open, key))
        all.add(key, value.text());
      else
        unnamed = true;
    });
    return unnamed;
  }
  void add_carried() {
    for (const std::string_view one : protocol::carried_extensions) {
      all.add(one, "{}");
      bare.add(one, "{}");
    }
  }
};

}  // namespace

bool catalog_offers::operator==(const catalog_offers& other) const {
  return tools == other.tools && prompts == other.prompts && resources == other.resources &&
         subscribe == other.subscribe && completions == other.completions && logging == other.logging &&
         tasks.text() == other.tasks.text() && extensions.text() == other.extensions.text() &&
         experimental.text() == other.experimental.text() && bare_extensions.text() == other.bare_extensions.text() &&
         bare_experimental.text() == other.bare_experimental.text() && unnamed == other.unnamed;
}

catalog_offers joined_offers(std::span<const told_offers> servers) {
  catalog_offers all;
  joined_member extensions, experimental;
  bool more_may_come = false;
  for (const told_offers& server : servers) {
    const protocol::server_offers& told = server.offers;
    const bool may_come = !told.known && !server.silent;
    more_may_come = more_may_come || may_come;
    all.prompts = all.prompts || told.prompts || may_come;
    all.resources = all.resources || told.resources || may_come;
    all.subscribe = all.subscribe || told.subscribe || may_come;
    all.completions = all.completions || told.completions || may_come;
    all.logging = all.logging || told.logging || may_come;
    if (all.tasks.empty() && told.tasks.text().size() <= protocol::most_bytes_of_an_offer) all.tasks = told.tasks;
    all.unnamed = extensions.add(told.extensions, server) || all.unnamed;
    all.unnamed = experimental.add(told.experimental, server) || all.unnamed;
  }
  if (more_may_come) {
    if (all.tasks.empty())
      all.tasks = json::raw_json::literal(R"({"list":{},"cancel":{},"requests":{"tools":{"call":{}}}})");
    extensions.add_carried();
  }
  all.extensions = extensions.all.take();
  all.experimental = experimental.all.take();
  all.bare_extensions = extensions.bare.take();
  all.bare_experimental = experimental.bare.take();
  return all;
}

}  // namespace mcpbx::mcp::catalogs
