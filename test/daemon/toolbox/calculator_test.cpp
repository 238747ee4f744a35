// The calculator by tables: results, and errors for expressions without one.
#include "daemon/toolbox/calculator.hpp"

#include "mcp/json/json_scanner.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::json;
using mcpbx::test::contains;
using mcpbx::toolbox::calculate;

namespace {

std::string value_of(std::string_view expression) {
  const auto value = calculate(expression);
  return value ? value->text() : "error: " + value.error().message;
}

}  // namespace

TEST_CASE("calculator: integers are exact") {
  const std::pair<std::string, std::string> table[] = {
      {"1+2*3", "7"},
      {"(1+2)*3", "9"},
      {" 7 - -2 ", "9"},
      {"--5", "5"},
      {"+5", "5"},
      {"2^10", "1024"},
      {"2**10", "1024"},
      {"2^3^2", "512"},
      {"-2^2", "-4"},
      {"(-2)^2", "4"},
      {"(-1)^1000000001", "-1"},
      {"0^0", "1"},
      {"2^100", "1267650600228229401496703205376"},
      {"-3^40", "-12157665459056928801"},
      {"9007199254740993*3", "27021597764222979"},
      {"170141183460469231731687303715884105727", "170141183460469231731687303715884105727"},
      {"6/3", "2"},
      {"-7%3", "-1"},
      {"7%-3", "1"},
      {"sqrt(144)", "12"},
      {"sqrt(152415787532388367501905199875019052100)", "12345678901234567890"},
      {"abs(-3)", "3"},
      {"min(3, 1, 2)", "1"},
      {"max(3, 1, 2.5)", "3"},
      {"round(2.5)", "3"},
      {"round(-2.5)", "-3"},
      {"floor(-2.1)", "-3"},
      {"ceil(2.1)", "3"},
      {"123456789123456789 * 987654321987654321 / 987654321987654321", "123456789123456789"},
  };
  for (const auto& [expression, expected] : table) {
    CAPTURE(expression);
    const auto value = calculate(expression);
    REQUIRE(value.has_value());
    CHECK(value->is_exact());
    CHECK(value->text() == expected);
  }
}

TEST_CASE("calculator: fractions are doubles of fifteen digits") {
  const std::pair<std::string, std::string> table[] = {{"0.1+0.2", "0.3"},
                                                       {"1/3", "0.333333333333333"},
                                                       {"7/2", "3.5"},
                                                       {".5", "0.5"},
                                                       {"5.", "5"},
                                                       {"1e3", "1000"},
                                                       {"2E-3", "0.002"},
                                                       {"2^-1", "0.5"},
                                                       {"sqrt(2)", "1.4142135623731"},
                                                       {"pi", "3.14159265358979"},
                                                       {"ln(e)", "1"},
                                                       {"log10(1000)", "3"},
                                                       {"sin(0)+cos(0)", "1"},
                                                       {"5.5 % 2", "1.5"},
                                                       {"tan(pi/4)", "1"},
                                                       {"2^0.5^2", "1.18920711500272"},
                                                       {"10^30*10^30", "1e+60"}};
  for (const auto& [expression, expected] : table) {
    CAPTURE(expression);
    const auto value = calculate(expression);
    REQUIRE(value.has_value());
    CHECK_FALSE(value->is_exact());
    CHECK(value->text() == expected);
  }
}

TEST_CASE("calculator: mistakes are named with their place") {
  const std::pair<std::string, std::string> table[] = {
      {"", "The expression ends where a number was expected."},
      {"1+", "The expression ends where a number was expected."},
      {"1 2", "There is \"2\" at character 3 where an operator was expected."},
      {"(1+2", "The expression ends where \")\" was expected."},
      {"1)", "There is \")\" at character 2 where an operator was expected."},
      {"2 $ 3", "There is \"$\" at character 3"},
      {"1,000", "write 1000, not 1,000"},
      {"x = 3", "There is no function or constant \"x\" at character 1"},
      {"3 = 3", "one side of an equation"},
      {"2 \xC3\x97 3", "There is \"\xC3\x97\" at character 3"},
      {"1/0", "There is a division by zero at character 2."},
      {"1/(2-2)", "There is a division by zero at character 2."},
      {"5 % 0.0", "There is a division by zero at character 3."},
      {"0^-1", "0 to a negative power"},
      {"sqrt(-1)", "sqrt at character 1: a negative number has no real square root."},
      {"1+ln(0)", "ln at character 3: a logarithm needs a number above 0."},
      {"sqr(4)", "did you mean \"sqrt\"?"},
      {"log(4)", "write ln or log10"},
      {"sqrt 4", "\"(\" after sqrt"},
      {"sqrt(1,2)", "sqrt at character 1 takes one argument, not 2."},
      {"max()", "where a number was expected"},
      {"1e999", "too large or too small"},
      {"10^400", "too large or is not a real number"},
      {"(-8)^0.5", "too large or is not a real number"},
      {".", "There is \".\" at character 1"},
  };
  for (const auto& [expression, part] : table) {
    CAPTURE(expression);
    const auto said = value_of(expression);
    CAPTURE(said);
    CHECK(said.starts_with("error: "));
    CHECK(contains(said, part));
  }
}

TEST_CASE("calculator: depth and length are bounded") {
  CHECK(value_of(std::string(90, '(') + "1" + std::string(90, ')')) == "1");
  CHECK(contains(value_of(std::string(101, '(') + "1" + std::string(101, ')')), "nested deeper than 100"));
  CHECK(contains(value_of(std::string(1999, '-') + "1"), "nested deeper than 100"));
  std::string tower = "2";
  for (int i = 0; i < 500; ++i) tower += "^1";
  CHECK(contains(value_of(tower), "nested deeper than 100"));
  CHECK(contains(value_of(std::string(2001, '1')), "longer than 2000 characters"));
  std::string chain = "1";
  for (int i = 0; i < 900; ++i) chain += "+1";
  CHECK(value_of(chain) == "901");
}

TEST_CASE("calculator: every result is a JSON number") {
  for (const std::string expression :
       {"2^126", "-2^126-2^126", "1/3", "1e300", "-1e-300", "5.", "10^30*10^30", "round(1e17)", "-0.0", "1e16/3"}) {
    CAPTURE(expression);
    const auto text = value_of(expression);
    CAPTURE(text);
    CHECK(check_json(text, 1) == json_scanner::fault::none);
  }
}
