// Replies of models as they came, well-formed and not, with what must come of them (test/data/text-tool-calls).
#include "test/providers/text/parse.hpp"
#include "test/support/in_pieces.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

namespace {

namespace json = boost::json;
using namespace mcpbx;
using namespace mcpbx::test;

std::vector<json::object> vectors(const std::string& name) {
  std::ifstream in(std::string(MCPBX_SOURCE_DIR) + "/test/data/text-tool-calls/" + name);
  std::vector<json::object> all;
  for (std::string line; std::getline(in, line);) all.push_back(json::parse(line).as_object());
  return all;
}

json::array executed(const parsed_text& got) {
  json::array calls;
  for (const auto& c : got.reply.calls)
    if (c.problem.empty())
      calls.push_back({{"name", c.name}, {"arguments", json::parse(std::string(c.arguments.text()))}});
  return calls;
}

void check(const json::object& vector, std::size_t step) {
  const std::string format(vector.at("format").as_string());
  const std::string_view raw(vector.at("raw").as_string());
  const auto& expected = vector.at("expected").as_object();
  const auto got = parse_text(format, raw, step);
  const bool incomplete = expected.contains("incomplete") && expected.at("incomplete").as_bool();
  const auto calls = executed(got);
  const std::string wanted(trimmed(expected.at("visible_text").as_string()));
  CAPTURE(step);
  CAPTURE(raw);
  CHECK_MESSAGE(calls == expected.at("calls").as_array(), json::serialize(calls));
  CHECK(std::string(trimmed(got.answer)) == wanted);
  CHECK(got.reply.incomplete == incomplete);
}

parsed_text parse_in_pieces(const std::string& format, std::string_view raw, std::size_t size) {
  namespace text = mcpbx::providers::text;
  parsed_text got;
  const auto parser =
      providers::text::find_format(format)->make_parser(providers::text::marks::offered_tools(vector_tools()), {});
  in_pieces(raw, size, [&](std::string_view piece) { parser->feed(piece, got); });
  got.reply = parser->finish(got);
  got.stopped = parser->stopped();
  got.counted = parser->counted();
  return got;
}

void check_all(const std::string& file, std::size_t least) {
  const auto all = vectors(file);
  REQUIRE(all.size() >= least);
  for (const auto& vector : all) {
    CAPTURE(std::string(vector.at("id").as_string()));
    const std::string_view raw(vector.at("raw").as_string());
    const std::string format(vector.at("format").as_string());
    for (const std::size_t step :
         {std::string_view::npos, std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, std::size_t{64}})
      check(vector, step);
    // Every split into two, and what was told must be the same to the byte.
    const auto whole = parse_text(format, raw).str();
    for (std::size_t step = 1; step < raw.size(); ++step) CHECK(parse_text(format, raw, step).str() == whole);
  }
}

// Checks that each vector names a public issue.
void check_sources(const std::string& file) {
  for (const auto& vector : vectors(file)) {
    CAPTURE(std::string(vector.at("id").as_string()));
    const std::string source(vector.at("src").as_string());
    const auto number = source.find('#');
    CHECK(source.find('/') < number);
    REQUIRE(number != std::string::npos);
    CHECK(source.find_first_not_of("0123456789", number + 1) == std::string::npos);
  }
}

TEST_CASE("F10: the given malformed replies are executed, repaired or refused as expected, at every split") {
  check_all("given.jsonl", 67);
}

TEST_CASE("F10: malformed replies as public issues show them are executed, repaired or refused, at every split") {
  check_all("issues.jsonl", 60);
  check_sources("issues.jsonl");
}

TEST_CASE("F10: our own malformed replies are executed, repaired or refused as expected, at every split") {
  check_all("own.jsonl", 60);
}

TEST_CASE("F10: calls as families of open models write them are executed, repaired or refused, at every split") {
  check_all("families.jsonl", 80);
  check_sources("families.jsonl");
}

TEST_CASE("F10: malformed replies behind a long text are read the same in pieces of any size") {
  for (const auto* file : {"given.jsonl", "issues.jsonl", "own.jsonl", "families.jsonl"})
    for (const auto& vector : vectors(file)) {
      CAPTURE(std::string(vector.at("id").as_string()));
      const std::string format(vector.at("format").as_string());
      const auto raw = filler_words(9'000) + "\n" + std::string(vector.at("raw").as_string());
      check_in_any_pieces(
          raw, [&](std::string_view bytes, std::size_t size) { return parse_in_pieces(format, bytes, size).str(); });
    }
}

}  // namespace
