// Owners of plain tool names: a name belongs to the tool that had it first, whatever other servers list or run.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::pins {

/// A tool, by the configured name of its server and the server's own name of the tool.
struct name_holder {
  std::string server, tool;
  bool operator==(const name_holder&) const = default;
};

/// Holders of each name, oldest first. The name belongs to the first of them that may have it by the present
/// configuration.
using name_book = std::map<std::string, std::vector<name_holder>, std::less<>>;

/// Returns the plain name that a tool would have by the configuration of its server; "" for none.
using plain_name_of = std::function<std::string(std::string_view tool)>;

/// A server with plain names and the tools that it lists; empty: not known.
struct naming_server {
  std::string_view name;
  const plain_name_of* wish = nullptr;
  std::vector<std::string_view> tools;
};

class name_claims {
 public:
  /// `servers` are all configured servers with plain names, in file order. Both arguments must outlive this object.
  name_claims(name_book& book, const std::vector<naming_server>& servers);

  /// Gives every free name to the first server that lists a tool with it. Returns true if the book has changed.
  bool settle();
  /// Returns the server's tools whose plain name belongs to another tool.
  std::set<std::string, std::less<>> without_name(std::string_view server) const;

 private:
  const naming_server* find(std::string_view server) const;
  const name_holder* owner(std::string_view name) const;
  void keep_bounded(const naming_server& s);

  name_book& book_;
  const std::vector<naming_server>& servers_;
};

/// Removes a server, or one tool of it, from the book.
void forget_names(name_book& book, std::string_view server, std::string_view tool = {});

}  // namespace mcpbx::daemon::pins
