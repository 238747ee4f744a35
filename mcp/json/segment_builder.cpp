// Cuts the text of a segment_builder at the places of its pieces.
#include "mcp/json/segment_builder.hpp"

namespace mcpbx::json {

segments segment_builder::take() {
  const auto text = raw_json::whole(text_.take());
  segments out;
  std::size_t begin = 0;
  const auto append_text = [&](std::size_t end) {
    out.append(text.slice(text.text().substr(begin, end - begin)));
    begin = end;
  };
  for (auto& [at, json] : std::exchange(pieces_, {})) {
    append_text(at);
    out.append(std::move(json));
  }
  append_text(text.text().size());
  return out;
}

}  // namespace mcpbx::json
