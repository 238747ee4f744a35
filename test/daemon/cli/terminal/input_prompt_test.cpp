// Prompts for what a tool server asks a person: at a pseudo-terminal where somebody types, and by rule without one.
#include "daemon/cli/terminal/input_prompt.hpp"

#include "daemon/cli/link/daemon_connection.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::cli::link;
using namespace mcpbx::cli::terminals;
using namespace mcpbx::json;
using mcpbx::test::contains;

namespace {

constexpr std::string_view order =
    R"({"message":"Your order?\u001b[2J","requestedSchema":{"type":"object","properties":{)"
    R"("name":{"type":"string","title":"Your name","description":"as on the bill","minLength":2},)"
    R"("count":{"type":"integer","minimum":1,"maximum":9,"default":2},)"
    R"("size":{"type":"number"},"gift":{"type":"boolean"},)"
    R"("colour":{"type":"string","enum":["r","g"],"enumNames":["Red","Green"]},)"
    R"("extras":{"type":"array","items":{"type":"string","enum":["milk","sugar"]}},)"
    R"("mail":{"type":"string","format":"email"}},"required":["name","count","colour"]}})";

struct exchange {
  std::string shown;   // with what was typed, as a terminal echoes it
  std::string answer;  // "nothing" if there is none
};

// Types each of `lines` behind the prompt that comes with it.
exchange at_prompt(std::string_view question, const std::vector<std::pair<std::string, std::string>>& lines,
                   const question_watch& watch = {}) {
  int master = -1;
  std::array<int, 2> result{};
  REQUIRE(::pipe(result.data()) == 0);
  const pid_t child = ::forkpty(&master, nullptr, nullptr, nullptr);
  REQUIRE(child >= 0);
  if (child == 0) {
    ::setenv("NO_COLOR", "1", 1);
    catch_interrupts();
    terminal screen;
    const auto said = answer_input(screen, "shop", raw_json::own(question), input_mode::ask, watch);
    const std::string text = (interrupted() ? "interrupted " : "") + (said ? std::string(said->text()) : "nothing");
    (void)!::write(result[1], text.data(), text.size());
    ::_exit(0);
  }
  ::close(result[1]);
  exchange e;
  std::array<char, 4096> buffer{};
  std::size_t next = 0, looked_at = 0;
  for (ssize_t n; (n = ::read(master, buffer.data(), buffer.size())) > 0;) {
    e.shown.append(buffer.data(), static_cast<std::size_t>(n));
    while (next < lines.size()) {
      const auto asked = e.shown.find(lines[next].first, looked_at);
      if (asked == std::string::npos) break;
      looked_at = asked + lines[next].first.size();
      const auto& keys = lines[next++].second;
      REQUIRE(::write(master, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
    }
  }
  ::close(master);
  for (ssize_t n; (n = ::read(result[0], buffer.data(), buffer.size())) > 0;)
    e.answer.append(buffer.data(), static_cast<std::size_t>(n));
  ::close(result[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return e;
}

std::string by_rule(std::string_view question, input_mode mode) {
  terminal screen;
  const auto said = answer_input(screen, "shop", raw_json::own(question), mode);
  return said ? std::string(said->text()) : "nothing";
}

}  // namespace

TEST_CASE("L19: a form is asked field by field and words become values of the schema") {
  const auto e = at_prompt(order, {{"[y/N] ", "y\n"},
                                   {"> ", "\n"},  // required, without a default
                                   {"> ", "x\n"},
                                   {"> ", "Ada\n"},
                                   {"> ", "12\n"},
                                   {"> ", "\n"},  // takes the default
                                   {"> ", "\n"},  // leaves an optional field out
                                   {"> ", "maybe\n"},
                                   {"> ", "no\n"},
                                   {"> ", "2\n"},  // the option's number
                                   {"> ", "sugar, milk\n"},
                                   {"> ", "nowhere\n"},
                                   {"> ", "a@b.example\n"}});
  CHECK(
      e.answer ==
      R"({"action":"accept","content":{"name":"Ada","count":2,"gift":false,"colour":"g","extras":["sugar","milk"],"mail":"a@b.example"}})");
  CHECK(contains(e.shown, "the tool server \"shop\" asks for input"));
  CHECK(contains(e.shown, "a value is needed"));
  CHECK(contains(e.shown, "expected at least 2 characters, got 1"));
  CHECK(contains(e.shown, "expected at most 9, got 12"));
  CHECK(contains(e.shown, "expected yes or no"));
  CHECK(contains(e.shown, "an address of e-mail"));
  CHECK(contains(e.shown, "default:   2"));
  CHECK(contains(e.shown, "\"Green\""));
  CHECK(contains(e.shown, "as on the bill"));
}

TEST_CASE("F8: a server's question brings no control character to the terminal and no line that looks like ours") {
  const auto e = at_prompt(order, {{"[y/N] ", "n\n"}});
  CHECK(e.answer == R"({"action":"decline"})");
  CHECK(contains(e.shown, "Your order?\\u{1b}[2J"));
  CHECK_FALSE(contains(e.shown, "\x1b[2J"));
}

TEST_CASE("L19: Ctrl-C cancels the question and nothing else and the end of input declines") {
  CHECK(at_prompt(order, {{"[y/N] ", "\x03"}}).answer == R"({"action":"cancel"})");
  CHECK(at_prompt(order, {{"[y/N] ", "y\n"}, {"> ", "\x03"}}).answer == R"({"action":"cancel"})");
  CHECK(at_prompt(order, {{"[y/N] ", "\x04"}}).answer == R"({"action":"decline"})");
}

TEST_CASE("L19: a question that is withdrawn while the person thinks gets no answer") {
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  REQUIRE(::write(pipe[1], "1", 1) == 1);
  CHECK(at_prompt(order, {}, {pipe[0], [] { return false; }}).answer == "nothing");
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_CASE("L19: an address is shown with its host and nothing is opened") {
  const std::string_view address =
      R"({"mode":"url","message":"Log in","url":"https://bank.example@xn--evil.example/login","elicitationId":"1"})";
  const auto yes = at_prompt(address, {{"[y/N] ", "y\n"}});
  CHECK(yes.answer == R"({"action":"accept"})");
  CHECK(contains(yes.shown, "host:      \"xn--evil.example\""));
  CHECK(contains(yes.shown, "may look like others"));
  CHECK(contains(yes.shown, "mcpbx opens nothing"));
  CHECK(at_prompt(address, {{"[y/N] ", "\n"}}).answer == R"({"action":"decline"})");
  for (const std::string_view host : {"XN--Evil.example", "b\xC3\xA4nk.example", "%62ank.example"}) {
    const auto shown =
        at_prompt(R"({"mode":"url","message":"m","url":"https://)" + std::string(host) + R"(/"})", {{"[y/N] ", "y\n"}})
            .shown;
    CHECK(contains(shown, "may look like others"));
  }
  const auto plain = at_prompt(R"({"mode":"url","message":"m","url":"https://bank.example/"})", {{"[y/N] ", "y\n"}});
  CHECK_FALSE(contains(plain.shown, "may look like others"));
}

TEST_CASE("L19: a form without fields asks for a yes") {
  const std::string_view sure = R"({"message":"Sure?","requestedSchema":{"type":"object","properties":{}}})";
  CHECK(at_prompt(sure, {{"agree? [y/N] ", "yes\n"}}).answer == R"({"action":"accept","content":{}})");
}

TEST_CASE("L19: by rule a form gets its defaults or is declined and an address is never agreed to") {
  const std::string_view filled =
      R"({"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","default":"x"},"b":{"type":"integer"}},"required":["a"]}})";
  CHECK(by_rule(filled, input_mode::accept) == R"({"action":"accept","content":{"a":"x"}})");
  CHECK(by_rule(filled, input_mode::decline) == R"({"action":"decline"})");
  CHECK(by_rule(order, input_mode::accept) == R"({"action":"decline"})");
  CHECK(by_rule(R"({"mode":"url","message":"m","url":"https://a.example/"})", input_mode::accept) ==
        R"({"action":"decline"})");
  CHECK(by_rule("{}", input_mode::accept) == R"({"action":"decline"})");
  CHECK(input_mode_of("accept") == input_mode::accept);
  CHECK_FALSE(input_mode_of("perhaps"));
}
