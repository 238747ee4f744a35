// The state machine of `mcpbx chat`.
#include "daemon/cli/chat/conversation.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace mcpbx;
using namespace mcpbx::cli::chat;
using namespace mcpbx::json;

namespace {

constexpr const char* message = R"({"role":"user","content":[{"type":"text","text":"q"}]})";

template <class A>
A only(const cli::chat::actions& all) {
  REQUIRE(all.size() == 1);
  const auto* one = std::get_if<A>(&all.front());
  REQUIRE(one != nullptr);
  return *one;
}

cli::chat::say told(const cli::chat::actions& all) {
  return only<cli::chat::say>(all);
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

turn_end answered(const char* session) {
  return {.run = "r", .begun = true, .result = raw_json::own(R"({"session":")" + std::string(session) + R"("})")};
}

}  // namespace

TEST_CASE("chat: what is no command is a question as it was typed") {
  conversation c({}, "");
  CHECK(c.input("").empty());
  CHECK(c.input(" \n ").empty());
  for (const std::string question :
       {"What is 6 * 7?", " with a blank", "/etc/passwd is what?", "/ alone", "two\n/help"})
    CHECK(only<cli::chat::ask>(c.input(question)).text == question);
  CHECK(only<cli::chat::ask>(c.input("//help me")).text == "/help me");
}

TEST_CASE("E3: chat: each question goes with the trace of the environment, if there is one") {
  const conversation c({}, "");
  const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const auto meta = find_member(raw_json::own(c.params("r", message, true, {parent, "a=1"})), "_meta");
  CHECK(member_text(meta, "traceparent") == parent);
  CHECK(member_text(meta, "tracestate") == "a=1");
  CHECK_FALSE(find_member(raw_json::own(c.params("r", message, true)), "_meta"));
}

TEST_CASE("chat: commands become actions, and an unknown one is told the nearest") {
  conversation c({}, "");
  CHECK(has(told(c.input("/help")).text, "/undo"));
  CHECK(only<cli::chat::list_tools>(c.input("/tools")).words.empty());
  CHECK(only<cli::chat::list_tools>(c.input(" /tools  read file ")).words == std::vector<std::string>{"read", "file"});
  only<cli::chat::list_models>(c.input("/model"));
  CHECK(only<cli::chat::find_model>(c.input("/model gpt/4 ")).name == "gpt/4");
  CHECK(only<cli::chat::find_session>(c.input("/session ses_1")).id == "ses_1");
  only<cli::chat::clear_screen>(c.input("/clear"));
  only<cli::chat::leave>(c.input("/exit"));
  only<cli::chat::leave>(c.input("/quit"));
  const auto wrong = told(c.input("/tolls read"));
  CHECK(wrong.wrong);
  CHECK(has(wrong.text, "there is no /tolls (did you mean \"/tools\"?)"));
  CHECK(told(c.input("/file")).wrong);
}

TEST_CASE("chat: the terms of the next run are those that were chosen last") {
  conversation c({.model = "m", .profile = "p", .system = {}, .tools = {"a*", "b"}}, "");
  CHECK(c.params("r1", message, true) == R"({"run":"r1","answers":true,"approve":"ask","messages":[)" +
                                             std::string(message) +
                                             R"(],"model":"m","profile":"p","tools":["a*","b"]})");
  CHECK_FALSE(c.use_model("other").wrong);
  CHECK(has(told(c.input("/system Be brief.")).text, "from") == false);
  const auto params = c.params("r2", message, false);
  CHECK(has(params, R"("approve":"none")"));
  CHECK(has(params, R"("model":"other")"));
  CHECK(has(params, R"("system":"Be brief.")"));
  CHECK(has(told(c.input("/system")).text, "Be brief."));
  CHECK_FALSE(told(c.input("/system -")).wrong);
  CHECK_FALSE(has(c.params("r3", message, false), "system"));
}

TEST_CASE("chat: questions go on with the session of the last one until another is chosen") {
  conversation c({}, "");
  CHECK_FALSE(has(c.params("r", message, false), "session"));
  c.turn_ended(answered("ses_1"));
  CHECK(has(c.params("r", message, false), R"("session":"ses_1")"));
  CHECK(has(told(c.input("/session")).text, "ses_1"));
  CHECK(has(c.use_session("ses_2", "m").text, "ses_2"));
  CHECK(has(c.params("r", message, false), R"("session":"ses_2","model":"m")"));
  CHECK_FALSE(told(c.input("/session new")).wrong);
  CHECK_FALSE(has(c.params("r", message, false), "session"));
}

TEST_CASE("chat: undo keeps the messages before the last turn, again and again, and the next run goes on from there") {
  conversation c({}, "");
  CHECK(told(c.input("/undo")).wrong);
  c.turn_ended(answered("ses_1"));
  auto look = only<cli::chat::find_last_turn>(c.input("/undo"));
  CHECK(look.session == "ses_1");
  CHECK_FALSE(look.keep);
  CHECK(has(c.taken_back(4, "the last\nquestion").text, "taken back: the last question"));
  CHECK(has(c.params("r", message, false), R"("session":"ses_1","keep":4)"));
  look = only<cli::chat::find_last_turn>(c.input("/undo"));
  CHECK(look.keep == 4);
  (void)c.taken_back(0, "first");
  CHECK(told(c.input("/undo")).wrong);
  CHECK(has(c.params("r", message, false), R"("session":"ses_1","keep":0)"));
  c.turn_ended(answered("ses_2"));
  CHECK_FALSE(has(c.params("r", message, false), "keep"));
}

TEST_CASE("chat: files go with the next question that begins a run") {
  conversation c({}, "");
  CHECK(only<cli::chat::check_file>(c.input("/file a b.txt")).path == "a b.txt");
  CHECK_FALSE(c.add_file("a b.txt").wrong);
  CHECK(has(told(c.input("/file")).text, "a b.txt"));
  CHECK(only<cli::chat::ask>(c.input("q")).files == std::vector<std::string>{"a b.txt"});
  c.turn_ended({.run = "r", .begun = false, .result = {}});
  CHECK(only<cli::chat::ask>(c.input("q")).files.size() == 1);
  c.turn_ended(answered("s"));
  CHECK(only<cli::chat::ask>(c.input("q")).files.empty());
  for (int i = 0; i < 64; ++i) (void)c.add_file("f");
  CHECK(told(c.input("/file g")).wrong);
}

TEST_CASE("chat: a run whose connection was lost is settled before the next question, with its session") {
  conversation c({}, "");
  c.turn_ended({.run = "chat_1", .begun = true, .result = {}});
  CHECK(c.unresolved() == "chat_1");
  c.resolved(raw_json::own(R"({"session":"ses_9","stopReason":"interrupted"})"));
  CHECK(c.unresolved().empty());
  CHECK(has(c.params("r", message, false), R"("session":"ses_9")"));
  c.turn_ended({.run = "chat_2", .begun = true, .result = {}});
  c.resolved({});
  CHECK(c.unresolved().empty());
  CHECK(c.session() == "ses_9");
}

TEST_CASE("chat: where no sessions are kept the messages are carried along, and undo cuts them") {
  conversation c({}, "");
  c.turn_ended({.run = "r",
                .begun = true,
                .result = raw_json::own(
                    R"({"messages":[{"role":"user","content":"one"},{"role":"assistant","content":"1"}]})")});
  CHECK(has(c.params("r", message, false),
            R"("messages":[{"role":"user","content":"one"},{"role":"assistant","content":"1"},{"role":"user")"));
  CHECK(has(told(c.input("/undo")).text, "taken back: one"));
  CHECK(has(c.params("r", message, false), R"("messages":[{"role":"user","content":[)"));
  CHECK(told(c.input("/undo")).wrong);
}

TEST_CASE("chat: the last turn begins at the messages of the user that stand together within one run") {
  using words = std::vector<std::string>;
  using places = std::vector<std::size_t>;
  CHECK_FALSE(last_turn_of(words{}, {}));
  CHECK_FALSE(last_turn_of(words{"assistant", "tool"}, {}));
  CHECK(last_turn_of(words{"user", "assistant", "user", "assistant", "tool", "assistant"}, places{0, 2}) == 2);
  CHECK(last_turn_of(words{"user", "assistant", "user", "user", "assistant"}, places{0, 2}) == 2);
  CHECK(last_turn_of(words{"user", "user", "assistant"}, places{0, 1}) == 1);
  CHECK(last_turn_of(words{"user"}, places{0}) == 0);
}
