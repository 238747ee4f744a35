// A tool server as the catalog needs to know it.
#pragma once
#include "mcp/client/catalog/call_rules.hpp"
#include "mcp/client/catalog/item_filter.hpp"
#include "mcp/client/client.hpp"
#include "mcp/protocol/extensions.hpp"

#include <memory>
#include <string>

namespace mcpbx::mcp::catalogs {

/// A server as the configuration has it.
struct catalog_server {
  std::string name;
  item_filter tools;
  bool plain_names = false;  ///< of its tools and prompts
  std::weak_ptr<clients::client> owner;
  call_rules calls = {};
  /// Identity of the program or address behind the server, in the configuration's words; compared and hashed, never
  /// parsed. Null: unknown.
  std::shared_ptr<const std::string> origin = {};
  item_filter prompts = {};
  item_filter resources = {};  ///< by URI; nothing is renamed
  protocol::extension_rules extensions = {};
};

}  // namespace mcpbx::mcp::catalogs
