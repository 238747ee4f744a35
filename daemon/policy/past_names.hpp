// The names that the tools of today's catalog had under an earlier configuration: the rules of that time are about
// those.
#pragma once
#include "daemon/store/records/tool_choice.hpp"
#include "mcp/client/catalog/catalog.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::policy {

using terms_ptr = std::shared_ptr<const std::vector<stored::server_terms>>;

/// The terms of this server; null: there are none.
const stored::server_terms* terms_of(const terms_ptr& all, std::string_view server);

/// `terms` with what the catalog `now` adds to them: tool_naming::named.
terms_ptr with_names(const std::vector<stored::server_terms>& terms, const mcp::catalogs::catalog& now);

/// The terms that runs which begin now are noted with.
class present_terms {
 public:
  /// `configured`: the terms of the configuration; null: none.
  explicit present_terms(terms_ptr configured) : configured_(std::move(configured)) {}
  const terms_ptr& configured() const noexcept { return configured_; }
  /// With the names of `now`, which are looked at once per catalog. Null: nothing is configured.
  terms_ptr under(const mcp::catalogs::catalog_ptr& now) {
    if (configured_ && std::exchange(catalog_, now) != now) noted_ = with_names(*configured_, *now);
    return noted_;
  }

 private:
  terms_ptr configured_, noted_;
  mcp::catalogs::catalog_ptr catalog_;
};

class past_names {
 public:
  struct names {
    /// For what allows: the name that the tool had for certain, and the prefixed one where names were plain; "": none.
    std::string name, prefixed;
    std::vector<std::string> possible;  ///< for what restricts: every name that it may have had
    bool unchanged = false;             ///< its server is configured as it was, so that names come out as they did
    /// True if the tool may have had a name that the glob matches.
    bool may_be(const std::string& glob) const;
  };

  /// No names are known.
  past_names() = default;
  /// Names the tools of `now` as the run's `servers` say. For what allows they count as having had the names of now
  /// where nobody noted how their server's tools were named (a journal of an older mcpbx), or where it is configured
  /// as it was and no other name was noted.
  past_names(const mcp::catalogs::catalog& now, const stored::kept_terms& kept);

  /// The names of the tool that `server` knows as `own`. Null: none are known.
  const names* find(const std::string& server, const std::string& own) const;

 private:
  std::map<std::pair<std::string, std::string>, names> names_;
};

}  // namespace mcpbx::daemon::policy
