// Order of results: a caller may hand them back in another order than that of the calls.
#include "daemon/loop/results/result_order.hpp"

#include "test/daemon/loop/loop_fixture.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::results;
using namespace mcpbx::daemon::test;

namespace {

providers::message_ptr message_of(providers::role r, std::vector<providers::block> blocks) {
  auto m = std::make_shared<providers::message>();
  m->role = r;
  m->blocks = std::move(blocks);
  return m;
}

providers::message_ptr with_calls(const std::vector<std::string>& ids) {
  std::vector<providers::block> blocks;
  for (const auto& id : ids) blocks.emplace_back(lookup(id));
  return message_of(providers::role::assistant, std::move(blocks));
}

providers::message_ptr with_results(const std::vector<std::string>& ids) {
  std::vector<providers::block> blocks;
  for (const auto& id : ids)
    blocks.emplace_back(providers::tool_result_block{id, "srv__lookup", text_result("of " + id), false});
  return message_of(providers::role::tool_results, std::move(blocks));
}

// Returns the call ids of all results in order, with "|" at the end of each message.
std::string results_in(const std::vector<providers::message_ptr>& messages) {
  std::string all;
  for (const auto& m : messages) {
    if (m->role != providers::role::tool_results) continue;
    for (const auto& b : m->blocks) {
      const auto& r = std::get<providers::tool_result_block>(b);
      CHECK(r.result.text() == text_result("of " + r.call_id).text());
      all += r.call_id;
    }
    all += '|';
  }
  return all;
}

std::string ordered(std::vector<providers::message_ptr> messages) {
  order_results(messages);
  return results_in(messages);
}

}  // namespace

TEST_CASE("L12: the results of one reply stand in the order of its calls, in however many messages they come") {
  CHECK(ordered({with_calls({"a", "b", "c"}), with_results({"c", "a", "b"})}) == "abc|");
  CHECK(ordered({with_calls({"a", "b", "c"}), with_results({"c"}), with_results({"b", "a"})}) == "a|bc|");
  CHECK(ordered({with_calls({"a", "b"}), with_results({"b", "a"}), with_calls({"b", "a"}), with_results({"a", "b"})}) ==
        "ab|ba|");
  CHECK(ordered({with_calls({"a", "b"}), with_results({"x", "b", "a"})}) == "abx|");
  CHECK(ordered({with_results({"b", "a"})}) == "ba|");
}

TEST_CASE("L12: results that stand right stay the messages that they were, and a caller's own are not changed") {
  const auto right = with_results({"a", "b"});
  std::vector messages{with_calls({"a", "b"}), right};
  order_results(messages);
  CHECK(messages[1] == right);
  const auto wrong = with_results({"b", "a"});
  messages = {with_calls({"a", "b"}), wrong};
  order_results(messages);
  CHECK(results_in({wrong}) == "ba|");
}

TEST_CASE("L12: a run begins with the results of its conversation in the order of their calls") {
  fixture f;
  f.model->script = {says("done")};
  auto r = fixture::ask();
  r.messages = {providers::user_message("before"), with_calls({"o", "r"}), with_results({"r", "o"}),
                providers::user_message("go")};
  f.run(std::move(r));
  REQUIRE(f.model->requests.size() == 1);
  CHECK(results_in(f.model->requests[0].messages) == "or|");
  CHECK(results_in(std::get<daemon::stored::record::run_started>(f.written().front()).messages) == "or|");
}
