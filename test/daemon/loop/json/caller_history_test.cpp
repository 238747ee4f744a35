// The conversation that a caller sends: what no provider would take is told by its place, what a run says is taken.
#include "daemon/loop/json/caller_history.hpp"

#include "test/daemon/loop/core/core_script.hpp"
#include "test/daemon/loop/core/wire_history.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::event_json;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;

namespace {

std::vector<providers::message_ptr> said_in(std::string_view list) {
  std::vector<providers::message_ptr> said;
  for_each_element(raw_json::own(list), [&](const raw_json& element) {
    auto m = read_message(element);
    REQUIRE(m.has_value());
    said.push_back(std::move(*m));
    return true;
  });
  return said;
}

std::string made_from(std::string_view list) {
  const auto history = history_from(said_in(list));
  REQUIRE(history.has_value());
  CHECK(fault_of(*history) == "");
  std::string out;
  for (const auto& m : *history) {
    json_writer one(out);
    append_message(one, *m);
  }
  return out;
}

std::string wrong_with(std::string_view list) {
  const auto history = history_from(said_in(list));
  REQUIRE_FALSE(history.has_value());
  return history.error().place + ": expected " + history.error().expected + ", got " +
         std::string(history.error().found.text());
}

const std::string sent_user = R"({"role":"user","content":[{"type":"text","text":"hi"}]})";

std::string sent_calls(std::string_view first, std::string_view second = {}) {
  const auto call = [](std::string_view id) {
    return R"({"type":"tool_call","id":")" + std::string(id) + R"(","name":"tool","arguments":{}})";
  };
  return R"({"role":"assistant","content":[)" + call(first) + (second.empty() ? "" : "," + call(second)) + "]}";
}

std::string sent_result(std::string_view id) {
  return R"({"type":"tool_result","id":")" + std::string(id) +
         R"(","name":"tool","isError":false,"result":{"content":[]}})";
}

std::string sent_results(std::string_view first, std::string_view second = {}) {
  return R"({"role":"tool","content":[)" + sent_result(first) + (second.empty() ? "" : "," + sent_result(second)) +
         "]}";
}

}  // namespace

TEST_CASE("L16: a call without its one result, and a result without its call, are refused by their place") {
  CHECK(
      wrong_with("[" + sent_calls("x") + "," + sent_user + "]") ==
      R"([1].role: expected "tool", with the tool_result of the call "x" of messages[0], because each call needs its )"
      R"(result before anything else is said, got "user")");
  CHECK(wrong_with("[" + sent_calls("x", "y") + "," + sent_results("x") + "," + sent_user + "]")
            .starts_with(R"([2].role: expected "tool", with the tool_result of the call "y" of messages[0])"));
  CHECK(wrong_with("[" + sent_user + "," + sent_calls("x") + "," + sent_user + "," + sent_results("x") + "," +
                   sent_user + "]")
            .starts_with("[2].role: "));
  CHECK(wrong_with("[" + sent_user + "," + sent_calls("x") + "]") ==
        R"([1]: expected the result of its call "x" in a message of role "tool" behind it, got )");
  CHECK(
      wrong_with("[" + sent_results("y") + "," + sent_user + "]")
          .starts_with("[0].content[0].id: expected the id of a call in the assistant message before it that has no "));
  CHECK(wrong_with("[" + sent_calls("x") + "," + sent_results("x", "y") + "]").starts_with("[1].content[1].id: "));
  CHECK(wrong_with("[" + sent_calls("x") + "," + sent_results("x", "x") + "]").starts_with("[1].content[1].id: "));
  CHECK(wrong_with("[" + sent_calls("x") + "," + sent_results("x") + "," + sent_results("x") + "]")
            .starts_with("[2].content[0].id: "));
  CHECK(wrong_with("[" + sent_calls("x", "x") + "," + sent_results("x") + "]") ==
        R"([0].content[1].id: expected an id that no other call of the message has, got "x")");
  CHECK(wrong_with("[" + sent_calls("x") +
                   R"(,{"role":"tool","content":[{"type":"tool_result","id":"x","name":"o","result":{}}]}])") ==
        R"([1].content[0].name: expected "tool", the name of its call, got "o")");
}

TEST_CASE("L16: results become one message in the order of their calls, under the names of these") {
  const auto whole = sent_calls("x", "y") + sent_results("x", "y");
  CHECK(made_from("[" + sent_calls("x", "y") + "," + sent_results("y", "x") + "]") == whole);
  CHECK(made_from("[" + sent_calls("x", "y") + "," + sent_results("y") + "," + sent_results("x") + "]") == whole);
  CHECK(made_from("[" + sent_calls("x") +
                  R"(,{"role":"tool","content":[{"type":"tool_result","id":"x","result":{"content":[]}}]}])") ==
        sent_calls("x") + sent_results("x"));
  // Some models count the calls of each reply from 0.
  CHECK(made_from("[" + sent_calls("0") + "," + sent_results("0") + "," + sent_calls("0") + "," + sent_results("0") +
                  "]") == sent_calls("0") + sent_results("0") + sent_calls("0") + sent_results("0"));
}

TEST_CASE("L16: messages of the model and the system that say nothing are left out") {
  for (const auto* silent : {R"({"role":"assistant","content":[]})", R"({"role":"assistant","content":""})",
                             R"({"role":"system","content":""})"}) {
    CAPTURE(silent);
    CHECK(made_from("[" + sent_user + "," + silent + "," + sent_user + "]") == sent_user + sent_user);
  }
  CHECK(wire_fault_of(*history_from(said_in("[" + sent_user + R"(,{"role":"assistant","content":""}])"))) == "");
}
