// Makes the tools of a round: the catalog's entries that the run may use, in the dialect of its model's API. Rounds and
// runs with the same entries share one object, which is encoded once. Tools are sorted by name, so that a provider gets
// the same bytes each time and can use its prompt cache.
#pragma once
#include "daemon/store/records/record.hpp"
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/support/keyed_hash.hpp"
#include "providers/model/message.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::tools {

inline constexpr std::size_t any_number = static_cast<std::size_t>(-1);
/// Returns how many tools of the catalog fit beside `own` tools of a caller into a request with `max_tools` (0: no
/// limit). Keeps one place for mcpbx__read_result, so that its later appearance displaces no tool.
std::size_t catalog_room(std::size_t max_tools, std::size_t own = 0);

/// The tools offered in a round. Immutable.
struct offered_tools {
  mcp::catalogs::catalog_ptr catalog;              ///< the snapshot that it was made from
  std::vector<mcp::catalogs::entry_ptr> entries;   ///< allowed entries of the catalog by name, then the run's own
  std::shared_ptr<const providers::tool_set> set;  ///< never null
  std::vector<std::string> names;                  ///< as the model sees them
  std::size_t room = any_number;                   ///< largest number of tools of the catalog
  std::vector<std::string> left_out;               ///< names in `entries` for which there was no room
  std::string guidance;                            ///< text for the system prompt (L7); "" without tools
  text_view_map<const mcp::catalogs::catalog_entry*> by_name;  ///< by the model's name; views into names
  /// Returns the tool with this name for the model, or null.
  const mcp::catalogs::catalog_entry* find(std::string_view name) const;
  /// Returns the model's name of the tool that the catalog or the caller calls `name`; "" if it is not offered.
  std::string_view shown_as(std::string_view name) const;
  /// Returns up to `most` of the offered names that resemble `name`.
  std::vector<std::string> similar(std::string_view name, std::size_t most) const;
};
using offered_ptr = std::shared_ptr<const offered_tools>;

/// The words of a run's question that may be names of tools.
class question_words {
 public:
  question_words() = default;
  /// Reads the first 64 KiB of the question.
  explicit question_words(std::string_view question);
  /// Returns true if the question has the tool's name in the catalog, or the server's own name of it.
  bool name(const mcp::catalogs::catalog_entry& tool) const;
  bool empty() const noexcept { return words_.empty(); }

 private:
  text_set words_;
};

/// A tool in the dialect of an API. `entry` is the index of its catalog entry in the span given to the adapter.
struct adapted_tool {
  std::size_t entry = 0;
  providers::tool_definition definition;
};
/// Converts entries for an API, with unique names. Leaves out, and logs, a tool that the API cannot take.
using tool_adapter =
    std::function<std::vector<adapted_tool>(std::span<const mcp::catalogs::entry_ptr> entries, std::string_view api)>;
/// Returns the adapter that uses providers/schema/adapt. Its copies share one cache.
tool_adapter schema_adapter();

/// Returns the allowed tools of `catalog`, sorted by name. If there is no `room` for all, prefers those that `question`
/// names, then takes one of each server in turn. Reuses `before` (or null), the result for an earlier catalog.
offered_ptr make_offer(const mcp::catalogs::catalog_ptr& catalog, const stored::tool_choice& choice,
                       const std::string& api, std::size_t room, const tool_adapter& adapt,
                       const question_words& question = {}, const offered_ptr& before = nullptr);
/// Returns a message for people about the tools that found no room, or "".
std::string left_out_text(const offered_tools& tools);

/// Returns the instructions of the servers whose tools are offered, joined (mcp::views::joined_instructions) and
/// without known secrets; "" if there are none.
std::string server_instructions(const offered_tools& tools, std::size_t most);

/// Cache of offers, shared by the runs of the daemon.
class round_tools {
 public:
  explicit round_tools(tool_adapter adapt = schema_adapter()) : adapt_(std::move(adapt)) {}
  /// Returns make_offer() of these parameters, from the cache if possible. Logs tools that find no room, once.
  offered_ptr offer(const mcp::catalogs::catalog_ptr& catalog, const stored::tool_choice& choice,
                    const std::string& api, std::size_t room = any_number, const question_words& question = {});
  /// Returns the tools of `base` followed by the run's `own` ones, for which there is always room. A tool of `own`
  /// hides one of the catalog with the same name.
  offered_ptr with_own(const offered_tools& base, const std::vector<mcp::catalogs::entry_ptr>& own,
                       const std::string& api, const question_words& question = {});

 private:
  struct cached {
    std::string key;  // API, room, choice, and the tools that the question names
    offered_ptr tools;
  };
  static constexpr std::size_t max_cached = 16;  // number of offers kept, last used first
  static constexpr std::size_t max_told = 64;    // number of log lines remembered
  void tell_left_out(const offered_tools& tools);

  tool_adapter adapt_;
  std::vector<cached> cache_;
  std::set<std::uint64_t> told_;  // hashes of the log lines about tools that were left out
};

}  // namespace mcpbx::daemon::tools
