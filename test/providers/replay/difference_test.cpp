// The sentences for conversations that are not in a recording.
#include "providers/replay/difference.hpp"

#include "test/providers/replay/replayed_conversation.hpp"

#include <doctest/doctest.h>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::test;

namespace {

std::string differs(const message_ptr& recorded, const message_ptr& came) {
  return replay::difference(3, recorded ? replay::canonical(*recorded) : raw_json(),
                            came ? replay::canonical(*came) : raw_json());
}

}  // namespace

TEST_CASE("replay: a difference names the message, what is recorded and what came") {
  CHECK(differs(user_message("What is 6 * 7?"), user_message("What is 6 * 8?")) ==
        "message 3 (user) differs in its text: recorded there is \"What is 6 * 7?\", and \"What is 6 * 8?\" came");
  CHECK(differs(says("hello"), user_message("hi")) ==
        "message 3 differs: recorded there is one of role (assistant) with \"hello\", and one of role (user) came "
        "with \"hi\"");
  CHECK(differs(calls({call_of("1", "s__a", "{}"), call_of("2", "s__b", R"({"x":1})")}),
                calls({call_of("1", "s__a", "{}"), call_of("2", "s__b", R"({"x":2})")})) ==
        "message 3 (assistant) differs in its call 2: recorded there is \"s__b {\"x\":1}\", and \"s__b {\"x\":2}\" "
        "came");
  CHECK(differs(calls({call_of("1", "s__a", "{}")}), says("done")) ==
        "message 3 (assistant) differs: recorded there is call 1 \"s__a {}\", and text \"done\" came");
  CHECK(differs(results({result_of("1", "x")}), results({result_of("1", "x"), result_of("2", "y")})) ==
        "message 3 (tool_results) differs in its result 2: recorded there is none, and \"s__echo "
        "{\"content\":[{\"text\":\"y\",\"type\":\"text\"}]}\" came");
}

TEST_CASE("replay: a conversation that is too long or too short is told as such") {
  CHECK(differs(nullptr, user_message("and then?")) ==
        "nothing is recorded after message 2, and message 3 (user) came: \"and then?\"");
  CHECK(differs(user_message("and then?"), nullptr) ==
        "the conversation ends with message 2, where the recording goes on with message 3 (user): \"and then?\"");
  CHECK(differs(nullptr, nullptr) == "nothing is recorded for a conversation that ends with message 2");
}

TEST_CASE("replay: what differs late in a long text is shown, without control characters") {
  const std::string same(4'000, 'x');
  const auto text = differs(user_message(same + "\x1b[31mone"), user_message(same + "\x1b[31mtwo"));
  CHECK(text.size() < 400);
  CHECK(text.find("one\"") != std::string::npos);
  CHECK(text.find("two\"") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("\"…x") != std::string::npos);
}
