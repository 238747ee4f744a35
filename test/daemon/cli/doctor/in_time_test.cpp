// Checks with a bound on their time.
#include "daemon/cli/doctor/in_time.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace mcpbx::cli::doctor;
using std::chrono::milliseconds;

namespace {

using answers = std::vector<std::optional<std::string>>;

// The answers of checks that know their numbers.
answers in_time(std::size_t count, const std::function<std::string(std::size_t)>& check,
                const time_bounds& bounds = {milliseconds(20'000), milliseconds(20'000)}) {
  answers got(count);
  check_list list;
  for (std::size_t i = 0; i < count; ++i)
    list.add([&check, i] { return check(i); },
             [&got, i](std::optional<std::string> text) { got[i] = std::move(text); });
  list.run(bounds);
  return got;
}

}  // namespace

TEST_CASE("doctor: a check that hangs is left behind, and those before and after it have their answers") {
  const auto answers = in_time(4,
                               [](std::size_t i) {
                                 if (i == 1)
                                   for (;;) ::pause();
                                 return "answer " + std::to_string(i);
                               },
                               {milliseconds(100), milliseconds(20'000)});
  REQUIRE(answers.size() == 4);
  CHECK(answers[0] == "answer 0");
  CHECK_FALSE(answers[1]);
  CHECK(answers[2] == "answer 2");
  CHECK(answers[3] == "answer 3");
}

TEST_CASE("doctor: a check that crashes or throws costs its own answer only") {
  const auto answers = in_time(3, [](std::size_t i) -> std::string {
    if (i == 0) ::_exit(3);
    if (i == 1) throw std::runtime_error("no");
    return std::string(100'000, 'x') + '\0' + "y";
  });
  CHECK_FALSE(answers[0]);
  CHECK_FALSE(answers[1]);
  REQUIRE(answers[2]);
  CHECK(answers[2]->size() == 100'002);
}

TEST_CASE("doctor: all checks together have a limit") {
  const auto answers = in_time(1'000,
                               [](std::size_t) -> std::string {
                                 for (;;) ::pause();
                               },
                               {milliseconds(20), milliseconds(60)});
  for (const auto& a : answers) CHECK_FALSE(a);
}

TEST_CASE("doctor: one child answers all questions until one of them hangs or ends it") {
  checking_child child(
      [](std::string_view question) -> std::string {
        if (question == "hang")
          for (;;) ::pause();
        if (question == "end") ::_exit(0);
        return std::string(question) + " by " + std::to_string(::getpid());
      },
      {milliseconds(1'000), milliseconds(60'000)});
  CHECK(child.ask({}).empty());
  const auto first = child.ask({"a"});
  REQUIRE(first[0]);
  const auto by = first[0]->substr(1);
  CHECK(by != " by " + std::to_string(::getpid()));
  CHECK(child.ask({"b", "c"}) == answers{"b" + by, "c" + by});
  const auto third = child.ask({"d", "hang", "e", "end", "f"});
  CHECK(third[0] == "d" + by);
  CHECK_FALSE(third[1]);
  CHECK(third[2].value_or("").starts_with("e by "));
  CHECK(third[2] != "e" + by);
  CHECK_FALSE(third[3]);
  CHECK(third[4].value_or("").starts_with("f by "));
}

TEST_CASE("doctor: questions and answers that are larger than the buffers between the processes do not block them") {
  checking_child child([](std::string_view question) { return std::string(question) + "!"; },
                       {milliseconds(20'000), milliseconds(20'000)});
  const std::string large(700'000, 'q');
  const answers got = child.ask({large, large, large});
  for (const auto& one : got) CHECK(one == large + "!");
}

TEST_CASE("doctor: the output of a program comes whole, and not from one that fails, is missing or hangs") {
  CHECK(output_of({"printf", "%s", "two words"}, milliseconds(20'000)) == "two words");
  CHECK_FALSE(output_of({"false"}, milliseconds(20'000)));
  CHECK_FALSE(output_of({"/no/such/program"}, milliseconds(20'000)));
  CHECK_FALSE(output_of({"sleep", "1000"}, milliseconds(50)));
  CHECK_FALSE(output_of({}, milliseconds(50)));
}
