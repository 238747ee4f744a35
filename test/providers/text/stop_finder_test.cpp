// Tests of stop sequences.
#include "providers/text/stop_finder.hpp"

#include "test/support/in_pieces.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

// Returns the text passed on of `answer`, which comes in steps, with `|` behind it if it stopped.
std::string up_to_stop(const std::vector<std::string>& stops, std::string_view answer, std::size_t step) {
  mcpbx::providers::text::stop_finder finder(stops);
  std::string told;
  for (std::size_t at = 0; at < answer.size(); at += step) told += finder.feed(answer.substr(at, step));
  return finder.found() ? told + "|" : told + finder.rest();
}

}  // namespace

TEST_CASE("F7: an answer ends before the stop that is complete first, however it is cut") {
  struct one {
    std::vector<std::string> stops;
    std::string_view answer, told;
  };
  for (const auto& c : std::vector<one>{{{"END"}, "a ENEND b", "a EN|"},
                                        {{"END"}, "a EN", "a EN"},
                                        {{"END"}, "END", "|"},
                                        {{"abc", "b"}, "xabc", "xa|"},
                                        {{"b", "ab"}, "xabc", "x|"},
                                        {{"aab"}, "aaab", "a|"},
                                        {{"\n\n", "Stop:"}, "one\ntwo\nStop: three", "one\ntwo\n|"},
                                        {{""}, "all", "all"},
                                        {{}, "all", "all"}})
    for (std::size_t step = 1; step <= c.answer.size(); ++step) {
      CAPTURE(c.answer);
      CAPTURE(step);
      CHECK(up_to_stop(c.stops, c.answer, step) == c.told);
    }
}

TEST_CASE("F7: what cannot be the beginning of a stop is told at once") {
  mcpbx::providers::text::stop_finder finder({"END"});
  CHECK(finder.feed("a") == "a");
  CHECK(finder.feed("b E") == "b ");
  CHECK(finder.feed("N").empty());
  CHECK(finder.feed("x") == "ENx");
}

TEST_CASE("G18: a stop that nearly comes again and again costs each byte a few looks only") {
  const std::string nearly(400'000, 'a'), stop = nearly + "b";
  for (const std::size_t step : {1U, 7U, 65'536U}) {
    mcpbx::providers::text::stop_finder finder({stop, nearly.substr(1) + "c"});
    std::string told;
    const std::string answer = nearly + nearly + nearly + "b and more";
    for (std::size_t at = 0; at < answer.size(); at += step)
      told += finder.feed(std::string_view(answer).substr(at, step));
    CHECK(finder.found());
    CHECK(told == nearly + nearly);
  }
}

TEST_CASE("F7: a long answer ends at the same place in pieces of any size") {
  std::string answer;
  for (const std::size_t size : mcpbx::test::awkward_sizes)
    if (size < 9'000) answer += mcpbx::test::filler_words(size) + "\n\nSto" + std::string(size % 5, 'p');
  for (const std::vector<std::string>& stops : {std::vector<std::string>{"Stop:", "\n\nnowhere"},
                                                {"Stopppp\0", mcpbx::test::filler_words(4096) + "\n\nStopw"},
                                                {}})
    mcpbx::test::check_in_any_pieces(answer + "Stop: more", [&](std::string_view bytes, std::size_t size) {
      mcpbx::providers::text::stop_finder finder(stops);
      std::string told;
      mcpbx::test::in_pieces(bytes, size, [&](std::string_view piece) { told += finder.feed(piece); });
      return finder.found() ? told + "|" : told + finder.rest();
    });
}
