// Any bytes as a configuration: the loader never crashes, and every finding can be printed.
#include "conf/load.hpp"
#include "conf/model/spec.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const mcpbx::conf::loaded& made) {
  for (const auto* list : {&made.errors, &made.config.notices})
    for (const auto& d : *list) {
      const auto text = d.text();
      require(!text.empty() && text.find('\n') == text.npos);
      require(!d.what.empty() && d.line > 0 && d.column > 0);
    }
  if (!made.ok()) return;
  for (const auto& s : made.config.servers) {
    require(!s.name.empty() && !s.prefix.empty() && s.command.has_value() != s.url.has_value());
    require(s.prefix.find("__") == s.prefix.npos);
  }
  for (const auto& m : made.config.models) require(m.api.has_value());
  require(made.config.loop.max_rounds && *made.config.loop.max_rounds >= 0);
  require(made.config.limits.callers >= 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mcpbx::conf;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const mcpbx::conf::environment env;
  const std::array one{mcpbx::conf::source_text{"a.json", text}};
  check(mcpbx::conf::load(one, env));
  // The same bytes cut in two are a file and its drop-in.
  const std::array two{mcpbx::conf::source_text{"a.json", text.substr(0, size / 2)},
                       mcpbx::conf::source_text{"b.json", text.substr(size / 2)}};
  check(mcpbx::conf::load(two, env));
  return 0;
}
