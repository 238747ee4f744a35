// What the tests of the single APIs share: bodies, results and tools, and that rounds begin with the same bytes.
#pragma once
#include "test/providers/wire/conversation.hpp"
#include "test/providers/wire/decode.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::test {

inline std::string body_as(std::string_view api, const providers::model_request& r,
                           const providers::wire_options& o = options()) {
  auto text = providers::find_codec(api)->encode(r, o).body.str();
  CHECK(raw_json::parse(text).has_value());
  return text;
}

inline providers::tool_result_block result_of(std::string id, std::string name, std::string_view result,
                                              bool is_error = false) {
  return {std::move(id), std::move(name), raw_json::own(result), is_error};
}

inline std::shared_ptr<providers::tool_set> tools_of(std::vector<providers::tool_definition> list) {
  auto set = std::make_shared<providers::tool_set>();
  set->tools = std::move(list);
  return set;
}

/// That a conversation of two rounds is sent with the first round's bytes in front of the second's, which are the very
/// same where a message is, and that a note is at the end of one request only.
inline void check_prefix(std::string_view api, const providers::wire_options& o, std::string_view tail) {
  using namespace providers;
  model_request r;
  r.tools = tools_of({{"add", "d", {}}});
  r.messages = {system_message("s"), user_message("q")};
  const auto first = find_codec(api)->encode(r, o).body;
  r.messages.push_back(assistant("", {call("a", "add", "{}")}));
  r.messages.push_back(results({result_of("a", "add", R"({"content":[{"type":"text","text":"1"}]})")}));
  const auto second = find_codec(api)->encode(r, o).body;
  auto before = first.str();
  REQUIRE(before.ends_with(tail));
  before.resize(before.size() - tail.size());
  CHECK(second.str().starts_with(before));
  r.note = "round 2";
  const auto noted = find_codec(api)->encode(r, o).body.str();
  r.note = "";
  CHECK(noted.find("round 2") != std::string::npos);
  CHECK(find_codec(api)->encode(r, o).body.str() == second.str());
  std::size_t shared = 0;
  for (const auto& piece : second.pieces())
    for (const auto& other : first.pieces())
      if (piece.text().size() > 20 && piece.text().data() == other.text().data()) ++shared;
  CHECK(shared >= 2);
}

}  // namespace mcpbx::test
