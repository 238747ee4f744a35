// Computes the hashes that an approval is bound to.
#include "daemon/guard/approval_seal.hpp"

#include "mcp/crypto/sha256.hpp"
#include "mcp/json/json_writer.hpp"

#include <string_view>

namespace mcpbx::daemon::guard {
namespace {

std::string_view origin_of(const mcp::catalogs::catalog_entry& e) {
  return e.origin ? std::string_view(*e.origin) : std::string_view();
}

}  // namespace

approval_seal seal_of(const mcp::catalogs::catalog_entry& tool, const json::raw_json& arguments) {
  // Hash a JSON array, so that no part can be taken for the end of another.
  std::string text;
  json::json_writer w(text);
  w.begin_array().value(tool.server).value(origin_of(tool)).value(tool.tool).token(tool.definition.text()).end_array();
  return {crypto::sha256_hex(text), crypto::sha256_hex(arguments.text())};
}

bool same_tool(const mcp::catalogs::catalog_entry& a, const mcp::catalogs::catalog_entry& b) {
  return a.server == b.server && a.tool == b.tool && origin_of(a) == origin_of(b) &&
         a.definition.text() == b.definition.text();
}

}  // namespace mcpbx::daemon::guard
