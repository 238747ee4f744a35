// Checks with a bound on their time.
#include "daemon/cli/doctor/in_time.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>

using namespace mcpbx::cli::doctor;
using std::chrono::milliseconds;

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

TEST_CASE("doctor: the output of a program comes whole, and not from one that fails, is missing or hangs") {
  CHECK(output_of({"printf", "%s", "two words"}, milliseconds(20'000)) == "two words");
  CHECK_FALSE(output_of({"false"}, milliseconds(20'000)));
  CHECK_FALSE(output_of({"/no/such/program"}, milliseconds(20'000)));
  CHECK_FALSE(output_of({"sleep", "1000"}, milliseconds(50)));
  CHECK_FALSE(output_of({}, milliseconds(50)));
}
