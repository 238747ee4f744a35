// The choice of a server's items of one kind, as the configuration has it. URIs are judged by what they mean, so that a
// denial holds for every spelling of one.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::catalogs {

/// Choice and renaming of the items of one kind.
struct item_filter {
  std::vector<std::string> allow, deny;            ///< globs; empty allow: everything
  std::map<std::string, std::string> rename = {};  ///< own name -> the item's part of the exposed name
  bool operator==(const item_filter&) const = default;
};

/// Returns true if these patterns let the server's own item of this name through; `deny` wins.
bool passes(std::span<const std::string> allow, std::span<const std::string> deny, std::string_view own);

/// The `allow` and `deny` of an item_filter for URIs. A denied pattern holds for every spelling of a URI (README.md
/// lists them); an allowed one must match the URI as it is written and as it is meant.
class uri_filter {
 public:
  uri_filter() = default;
  explicit uri_filter(const item_filter& filter);

  /// Returns true if everything passes.
  bool empty() const noexcept { return allow_.empty() && deny_.empty(); }
  bool denies(std::string_view uri) const;
  bool allows(std::string_view uri) const;
  bool passes(std::string_view uri) const { return !denies(uri) && allows(uri); }
  bool operator==(const uri_filter&) const = default;

 private:
  std::vector<std::string> allow_, deny_;              // as written
  std::vector<std::string> meant_allow_, meant_deny_;  // the same patterns, as what they mean is compared
  bool foreign_ = false;                               // a denied pattern has characters beyond ASCII
};
using uri_filter_ptr = std::shared_ptr<const uri_filter>;

}  // namespace mcpbx::mcp::catalogs
