// The seal of a requestState: no text of a stranger opens, whatever it holds, and a changed text of ours does not
// either.
#include "mcp/seal/state_seal.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The input is any bytes, line breaks included. It stands alone, behind our mark, and as a change of a genuine text.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static mcpbx::mcp::seal::state_seal seal;
  static const std::string genuine = seal.close("held call").value();
  static const std::size_t mark = genuine.rfind('.') + 1;
  require(!seal.open(text));
  require(!seal.open(genuine.substr(0, mark) + std::string(text)) || text == genuine.substr(mark));
  if (size < 2) return 0;
  std::string changed = genuine;
  char& at = changed[data[0] % changed.size()];
  const bool same = at == static_cast<char>(data[1]);
  at = static_cast<char>(data[1]);
  require(seal.open(changed).has_value() == same);
  require(mcpbx::mcp::seal::state_seal::has_form(genuine));
  const auto closed = seal.close(text.substr(0, mcpbx::mcp::seal::state_seal::most_bytes));
  require(closed && seal.open(*closed) == text.substr(0, mcpbx::mcp::seal::state_seal::most_bytes));
  return 0;
}
