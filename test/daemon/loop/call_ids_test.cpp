// The ids of calls: unique in the conversation, whatever a provider sends.
#include "daemon/loop/call_ids.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon;

namespace {

struct counting final : random_source {
  std::uint64_t value = 0;
  std::uint64_t next() override { return ++value; }
};

providers::message_ptr calling(const std::string& id) {
  auto m = std::make_shared<providers::message>();
  m->role = providers::role::assistant;
  m->raw = raw_json::own(R"({"calls":[")" + id + "\"]}");
  m->blocks.emplace_back(providers::tool_call_block{id, id, "t", raw_json::literal("{}"), "{}", ""});
  return m;
}

}  // namespace

TEST_CASE("L3: a message with new call ids is the one that came, with the provider's own form") {
  counting random;
  const auto m = calling("a");
  CHECK(with_unique_ids(m, {"b"}, {}, random) == m);
}

TEST_CASE("L3: a call whose id is taken gets another, and the provider's own form, which has the old one, goes") {
  counting random;
  const auto m = with_unique_ids(calling("a"), {"a"}, {}, random);
  CHECK(m->calls().at(0)->id == "call_0000000000000001");
  CHECK(m->calls().at(0)->provider_id == "a");
  CHECK(m->raw.empty());
}
