// One id for every call of a conversation, whether a reply makes few or many.
#include "providers/wire/finished_calls.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace mcpbx::providers;
using namespace mcpbx::providers::wire;

namespace {

model_request after(const std::vector<std::string>& ids) {
  model_request r;
  for (const auto& id : ids) {
    auto m = std::make_shared<message>();
    m->role = role::assistant;
    tool_call_block call;
    call.id = id;
    m->blocks.emplace_back(std::move(call));
    r.messages.push_back(std::move(m));
  }
  return r;
}

}  // namespace

TEST_CASE("call ids: an id of the conversation is not given again, by a reply of few calls or of many") {
  const auto before = after({"a", "call00001", "call00003", "b"});
  for (const int more : {0, 3, 40}) {
    CAPTURE(more);
    std::vector<std::string> sent{"a", "c", "", "b", "c"};
    for (int i = 0; i < more; ++i) sent.push_back(i % 2 ? "" : "x" + std::to_string(i));
    call_ids ids(&before);
    const auto given = ids.settle(sent);
    REQUIRE(given.size() == sent.size());
    CHECK(given[1] == "c");
    std::set<std::string> all{"a", "call00001", "call00003", "b"};
    for (const auto& id : given) CHECK(all.insert(id).second);
    for (const auto& id : ids.settle({"a", "c", "", "y"})) CHECK(all.insert(id).second);
  }
}

TEST_CASE("call ids: without a conversation the ids that came are kept") {
  call_ids ids(nullptr);
  CHECK(ids.settle({"a", "b"}) == std::vector<std::string>{"a", "b"});
  CHECK(ids.settle({"a"}) != std::vector<std::string>{"a"});
}
