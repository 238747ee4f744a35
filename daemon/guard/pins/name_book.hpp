// The owners of plain names: a name belongs to the tool that had it first, whatever other servers list and whichever
// are up. Pure.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon {

/// A tool by its server's configured name and the server's own name of it.
struct name_holder {
  std::string server, tool;
  bool operator==(const name_holder&) const = default;
};

/// Who has had each name, the first one first: of these it belongs to the first that may have it as things are
/// configured now.
using name_book = std::map<std::string, std::vector<name_holder>, std::less<>>;

/// The plain name that a tool would have by the configuration of its server, "" when it would have none.
using plain_name_of = std::function<std::string(std::string_view tool)>;

/// A server with plain names and the tools that it lists; empty: not known.
struct naming_server {
  std::string_view name;
  const plain_name_of* wish = nullptr;
  std::vector<std::string_view> tools;
};

class name_claims {
 public:
  /// All configured servers with plain names, in file order. Both must outlive it.
  name_claims(name_book& book, const std::vector<naming_server>& servers);

  /// Gives every name that nobody has to the first server that lists a tool with it. Whether the book has changed.
  bool settle();
  /// The server's tools whose plain name is another one's.
  std::set<std::string, std::less<>> without_name(std::string_view server) const;

 private:
  const naming_server* find(std::string_view server) const;
  const name_holder* owner(std::string_view name) const;
  void keep_bounded(const naming_server& s);

  name_book& book_;
  const std::vector<naming_server>& servers_;
};

/// Takes a server, or one tool of it, out of the book.
void forget_names(name_book& book, std::string_view server, std::string_view tool = {});

}  // namespace mcpbx::daemon
