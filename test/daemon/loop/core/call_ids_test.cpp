// Ids of calls: unique in the conversation, whatever a provider sends.
#include "daemon/loop/core/call_ids.hpp"

#include "mcp/support/keyed_hash.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::core;
using namespace mcpbx::json;

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

TEST_CASE("G29: a caller's history in which ids occur again has each once, with its results, and the same each time") {
  const auto round = [](const std::string& id) {
    auto calls = std::make_shared<providers::message>(*calling(id));
    calls->raw = {};
    calls->blocks.emplace_back(providers::tool_call_block{"own" + id, "", "t", raw_json::literal("{}"), "{}", ""});
    auto results = std::make_shared<providers::message>();
    results->role = providers::role::tool_results;
    for (const auto& answered : {"own" + id, id})
      results->blocks.emplace_back(providers::tool_result_block{answered, "t", raw_json::literal("{}"), false});
    return std::vector<providers::message_ptr>{calls, results};
  };
  const auto ids = [](const providers::message& m) {
    std::vector<std::string> all;
    for (const auto& b : m.blocks) {
      if (const auto* call = std::get_if<providers::tool_call_block>(&b)) all.push_back(call->id);
      if (const auto* result = std::get_if<providers::tool_result_block>(&b)) all.push_back(result->call_id);
    }
    return all;
  };
  std::vector<providers::message_ptr> said, before;
  for (int rounds = 1; rounds <= 4; ++rounds) {
    for (auto& m : round("call_0")) said.push_back(m);
    auto sent = said;
    mcpbx::text_set taken{"a"};
    separate_ids(sent, taken);
    CHECK(taken.size() == 1 + 2 * static_cast<std::size_t>(rounds));
    CHECK(sent[0] == said[0]);
    CHECK(sent[1] == said[1]);
    for (std::size_t i = 0; i < sent.size(); i += 2) {
      const auto calls = ids(*sent[i]), results = ids(*sent[i + 1]);
      CHECK(calls == std::vector<std::string>(results.rbegin(), results.rend()));
      CHECK((i == 0 || calls[0] != "call_0"));
      CHECK((i >= before.size() || calls == ids(*before[i])));
    }
    before = std::move(sent);
  }
  mcpbx::text_set inherited{"call_0"};
  auto sent = round("call_0");
  separate_ids(sent, inherited);
  CHECK(ids(*sent[0])[0] != "call_0");
  CHECK(ids(*sent[1]) == std::vector<std::string>{"owncall_0", ids(*sent[0])[0]});
}

TEST_CASE("L3: a call whose id is taken gets another, and the provider's own form, which has the old one, goes") {
  counting random;
  const auto m = with_unique_ids(calling("a"), {"a"}, {}, random);
  CHECK(m->calls().at(0)->id == "call_0000000000000001");
  CHECK(m->calls().at(0)->provider_id == "a");
  CHECK(m->raw.empty());
}
