// Answers that come back through the browser.
#include "mcp/auth/redirect_answer.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace mcpbx::auth;
using answer_kind = redirect_answer::kind;

const expected_answer plain{"st", "https://as", false};
const expected_answer telling{"st", "https://as", true};

TEST_CASE("redirect: the code of an answer with our state is taken, from a query or a pasted address") {
  CHECK(read_redirect("code=abc%2Bd&state=st", plain).text == "abc+d");
  const auto pasted = read_redirect("http://127.0.0.1:4/callback?state=st&code=x#frag", plain);
  CHECK(pasted.type == answer_kind::code);
  CHECK(pasted.text == "x");
}

TEST_CASE("redirect: an answer with another state, or none, is not ours and the wait goes on") {
  for (const auto* query : {"code=a&state=other", "code=a", "", "state=st&state=st&code=a", "code=a&state=ST", "%%%"})
    CHECK_MESSAGE(read_redirect(query, plain).type == answer_kind::not_ours, query);
  CHECK(read_redirect("code=" + std::string(20'000, 'a') + "&state=st", plain).type == answer_kind::not_ours);
  std::string many = "state=st&code=a";
  for (int i = 0; i < 100; ++i) many += "&p" + std::to_string(i) + "=";
  CHECK(read_redirect(many, plain).type == answer_kind::not_ours);
}

TEST_CASE("redirect: iss is compared as it stands, and must be there where the server says that it sends it") {
  CHECK(read_redirect("code=a&state=st&iss=https%3A%2F%2Fas", plain).type == answer_kind::code);
  CHECK(read_redirect("code=a&state=st&iss=https%3A%2F%2Fas", telling).type == answer_kind::code);
  CHECK(read_redirect("code=a&state=st", plain).type == answer_kind::code);
  CHECK(read_redirect("code=a&state=st", telling).type == answer_kind::forged);
  for (const auto* iss : {"https%3A%2F%2Fas%2F", "https%3A%2F%2FAS", "https%3A%2F%2Fas%3A443", "evil", ""})
    CHECK_MESSAGE(read_redirect("code=a&state=st&iss=" + std::string(iss), plain).type == answer_kind::forged, iss);
}

TEST_CASE("redirect: words of an error are shown only if the answer is from the server that was asked") {
  const auto no = read_redirect("error=access_denied&error_description=You%20said%20no&state=st", plain);
  CHECK(no.type == answer_kind::refused);
  CHECK(no.text.find("access_denied: You said no") != std::string::npos);
  const auto forged = read_redirect("error=x&error_description=Pay%20here&state=st&iss=evil", plain);
  CHECK(forged.type == answer_kind::forged);
  CHECK(forged.text.find("Pay") == std::string::npos);
  CHECK(read_redirect("state=st", plain).type == answer_kind::refused);
  CHECK(read_redirect("error=a%1B%5B31m&state=st", plain).text.find('\x1B') == std::string::npos);
}

}  // namespace
