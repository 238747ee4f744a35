// The tools of a round: the catalog's entries that the run may use, in the dialect of its model's API. Rounds and runs
// that see the same entries share one object, so a provider gets the same bytes each time, encoded once. They are in
// the order of their names, whatever the order of their servers' lists: a provider's prompt cache holds on to it.
#pragma once
#include "daemon/store/records/record.hpp"
#include "mcp/client/catalog/catalog.hpp"
#include "providers/model/message.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace mcpbx::daemon {

inline constexpr std::size_t any_number = static_cast<std::size_t>(-1);
/// How many tools of the catalog fit beside `own` tools of a caller where a request may have `max_tools` (0: any
/// number). One place is kept for the tool that reads on: nothing that a model was offered goes when that comes.
std::size_t catalog_room(std::size_t max_tools, std::size_t own = 0);

/// What a round offers. Immutable.
struct offered_tools {
  mcp::catalog_ptr catalog;                        ///< the snapshot it was made from
  std::vector<mcp::entry_ptr> entries;             ///< those the choice lets through, by name, then those of the run
  std::shared_ptr<const providers::tool_set> set;  ///< never null
  std::vector<std::string> names;                  ///< as the model sees them
  std::size_t room = any_number;                   ///< how many of the catalog's may be offered
  std::vector<std::string> left_out;               ///< of `entries`, those that did not find room, by name
  std::string guidance;                            ///< L7; "" when there is no tool
  std::unordered_map<std::string_view, const mcp::catalog_entry*> by_name;  ///< by the model's name; views into names
  /// Null when the model was not offered such a tool.
  const mcp::catalog_entry* find(std::string_view name) const;
  /// The name under which the model sees the catalog's, or the caller's, tool `name`; "" when it is not offered.
  std::string_view shown_as(std::string_view name) const;
  /// Up to `most` of the offered names that resemble `name`.
  std::vector<std::string> similar(std::string_view name, std::size_t most) const;
};
using offered_ptr = std::shared_ptr<const offered_tools>;

/// The words of a run's first question that may be names of tools.
class question_words {
 public:
  question_words() = default;
  /// Reads the first 64 KiB.
  explicit question_words(std::string_view question);
  /// Whether the question names the tool, by the name that it is shown under or by the server's own.
  bool name(const mcp::catalog_entry& tool) const;
  bool empty() const noexcept { return words_.empty(); }

 private:
  std::unordered_set<std::string> words_;
};

/// A tool in the dialect of an API; `entry` is the index of what it was made from.
struct adapted_tool {
  std::size_t entry = 0;
  providers::tool_definition definition;
};
/// Converts entries for an API. A tool that the API cannot take is left out (and logged); names are unique.
using tool_adapter =
    std::function<std::vector<adapted_tool>(std::span<const mcp::entry_ptr> entries, std::string_view api)>;
/// The adapter that providers/schema makes.
tool_adapter schema_adapter();

/// The tools of `catalog` that `choice` lets through, for `api`, by name. Where there is no `room` for all: first those
/// that `question` names, then one of each server in turn. `before`, which may be null: what the same gave for an
/// earlier catalog; what has not changed is taken from it.
offered_ptr make_offer(const mcp::catalog_ptr& catalog, const tool_choice& choice, const std::string& api,
                       std::size_t room, const tool_adapter& adapt, const question_words& question = {},
                       const offered_ptr& before = nullptr);
/// What people are told of tools that find no room, "" when all do.
std::string left_out_text(const offered_tools& tools);

class round_tools {
 public:
  explicit round_tools(tool_adapter adapt = schema_adapter()) : adapt_(std::move(adapt)) {}
  /// make_offer(), of which the latest are kept. Tools that find no room are logged, once.
  offered_ptr offer(const mcp::catalog_ptr& catalog, const tool_choice& choice, const std::string& api,
                    std::size_t room = any_number, const question_words& question = {});
  /// `base` and the run's own tools behind its, for which there is always room; one of them hides one of the catalog
  /// with its name.
  offered_ptr with_own(const offered_tools& base, const std::vector<mcp::entry_ptr>& own, const std::string& api,
                       const question_words& question = {});

 private:
  struct cached {
    std::string key;  // API, room and choice
    offered_ptr tools;
  };
  static constexpr std::size_t max_cached = 16;  // combinations of API and filter kept, the latest first
  static constexpr std::size_t max_told = 64;    // log lines remembered
  void tell_left_out(const offered_tools& tools);

  tool_adapter adapt_;
  std::vector<cached> cache_;
  std::set<std::uint64_t> told_;  // hashes of the lines about tools that were left out
};

}  // namespace mcpbx::daemon
