// Random calls in every format, cut off or damaged: each is run exactly as it was meant, or not at all.
#include "mcp/json/json_walk.hpp"
#include "providers/schema/validator/json_schema.hpp"
#include "test/providers/text/parse.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;
using mcpbx::providers::text::formats;
using mcpbx::providers::text::marks::npos;

// For values that are words: equal without blanks is equal.
std::string without_blanks(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (!providers::text::marks::is_blank(c)) out += c;
  return out;
}

// As the loop checks each call before it is run.
bool fits(const providers::tool_call_block& call) {
  const auto* tool = providers::text::marks::offered_tools(vector_tools()).find(call.name);
  return tool != nullptr &&
         providers::schema::json_schema::compile(tool->schema)->check(call.arguments).violations.empty();
}

// A small generator, so that a failing case can be made again from its number.
struct random_calls {
  std::uint64_t state;
  std::uint64_t next(std::uint64_t below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state >> 33) % below;
  }
  std::string text() {
    static constexpr std::string_view parts[] = {"a",
                                                 " ",
                                                 "\n",
                                                 "\"",
                                                 "'",
                                                 "\\",
                                                 "{",
                                                 "}",
                                                 "[",
                                                 "]",
                                                 "</tool_call>",
                                                 "<tool_call>",
                                                 "<b>",
                                                 "&amp;",
                                                 "&",
                                                 "//",
                                                 "1.",
                                                 "null",
                                                 "\xC3\xA4",
                                                 "Action: x\n",
                                                 "```\n",
                                                 "</parameter>",
                                                 ",",
                                                 ":",
                                                 "</arg_value>",
                                                 "<arg_key>"};
    std::string made;
    for (auto n = next(8); n > 0; --n) made += parts[next(std::size(parts))];
    return made;
  }
  providers::tool_call_block call() {
    providers::tool_call_block made;
    if (next(2) == 0) {
      made.name = "write_file";
      made.arguments = raw_json::own("{\"path\":" + json_quoted(text()) + ",\"content\":" + json_quoted(text()) + "}");
    } else {
      made.name = "add";
      made.arguments =
          raw_json::own("{\"a\":" + std::to_string(next(1000)) + ",\"b\":-" + std::to_string(next(1000)) + ".5}");
    }
    return made;
  }
};

// A call as a model writes it.
struct written_call {
  std::string_view format;
  std::string text;
};

// In each format as we print it, and in GLM's as its newer models do, without line breaks.
std::vector<written_call> writings_of(const providers::tool_call_block& call) {
  std::vector<written_call> all;
  for (const auto* format : formats()) all.push_back({format->name(), format->call(call)});
  std::string one_line = "<tool_call>" + call.name;
  walk::members(call.arguments.text(), [&](std::string_view key, std::string_view value) {
    one_line += "<arg_key>" + std::string(key) + "</arg_key><arg_value>" +
                (walk::is_string(value) ? unescaped(value) : std::string(value)) + "</arg_value>";
  });
  all.push_back({"glm", one_line + "</tool_call>"});
  return all;
}

TEST_CASE("G29: random calls, cut anywhere, are run exactly or not at all, in every format and at every split") {
  random_calls random{42};
  for (int round = 0; round < 300; ++round) {
    const auto call = random.call();
    // Values of markup may hold anything but what ends them; that is what the format cannot say.
    const auto arguments = std::string(call.arguments.text());
    const auto expected = call.name + arguments;
    for (const auto& [format, whole] : writings_of(call)) {
      const bool glm = format == "glm";
      const bool markup = (format == "qwen3-coder" && contains(arguments, "</parameter>")) ||
                          (glm && contains(arguments, "</arg_value>"));
      // A value that contains marks of the form has no certain end.
      const bool refused = glm && contains(arguments, "<arg_key>");
      for (int cut = 0; cut < 8; ++cut) {
        const auto raw = cut == 0 ? whole : whole.substr(0, random.next(whole.size()));
        const auto got = parse_text(format, raw);
        CAPTURE(round);
        CAPTURE(std::string(format));
        CAPTURE(raw);
        for (const auto& c : got.reply.calls)
          if (c.problem.empty() && !markup) {
            // ReAct may have no input yet, which means none.
            const bool bare = format == "react" && c.arguments.text() == "{}";
            if (!bare) CHECK(c.name + std::string(c.arguments.text()) == expected);
          }
        if (cut == 0 && !markup) CHECK(got.calls() == (refused ? "" : expected));
        CHECK(parse_text(format, raw, 1 + random.next(9)).str() == got.str());
      }
    }
  }
}

// The same calls with values that hold nothing but words, so that each other byte of them belongs to the form.
providers::tool_call_block plain_call(random_calls& random) {
  const auto words = [&] {
    static constexpr std::string_view some[] = {"a", "tide", "north harbour", "x y z", "seven", "quay"};
    return std::string(some[random.next(std::size(some))]);
  };
  providers::tool_call_block made;
  switch (random.next(3)) {
    case 0:
      made.name = "write_file";
      made.arguments =
          raw_json::own("{\"path\":" + json_quoted(words()) + ",\"content\":" + json_quoted(words()) + "}");
      break;
    case 1:
      made.name = "search";
      made.arguments =
          raw_json::own("{\"query\":" + json_quoted(words()) + ",\"limit\":" + std::to_string(random.next(90)) + "}");
      break;
    default:
      made.name = "batch";
      made.arguments =
          raw_json::own("{\"items\":[" + json_quoted(words()) + ",{\"k\":" + json_quoted(words()) + "},true]}");
      break;
  }
  return made;
}

// Returns true for forms whose values stand between marks, without quotes.
bool has_bare_values(std::string_view format) {
  static constexpr std::string_view all[] = {"qwen3-coder", "xml", "glm", "deepseek", "gemma", "minimax"};
  return std::ranges::find(all, format) != std::end(all);
}

// `f` for each writing of that many random calls, with what reading it is to give.
template <class F>
void for_each_writing(random_calls& random, int rounds, F&& f) {
  for (int round = 0; round < rounds; ++round) {
    const auto call = plain_call(random);
    const auto expected = call.name + std::string(call.arguments.text());
    for (const auto& [format, whole] : writings_of(call)) f(format, whole, expected);
  }
}

TEST_CASE(
    "G29: random calls with one byte of their form lost or doubled are run exactly or not at all, in every format") {
  random_calls random{7};
  for_each_writing(random, 20, [&](std::string_view format, const std::string& whole, const std::string& expected) {
    CHECK(parse_text(format, whole).calls() == expected);
    // A doubled byte at the border of a value is a part of it in forms without quotes.
    const bool bare_values = has_bare_values(format);
    for (std::size_t at = 0; at < 2 * whole.size(); ++at) {
      const auto place = at / 2;
      const bool doubled = at % 2 == 1;
      if (providers::text::marks::is_name_char(whole[place]) || whole[place] == ' ' || (doubled && bare_values))
        continue;
      auto raw = whole;
      if (doubled)
        raw.insert(place, 1, whole[place]);
      else
        raw.erase(place, 1);
      const auto got = parse_text(format, raw);
      CAPTURE(std::string(format));
      CAPTURE(raw);
      // Blanks between the tokens are no change.
      for (const auto& c : got.reply.calls)
        if (c.problem.empty() && fits(c))
          CHECK(c.name + without_blanks(c.arguments.text()) == without_blanks(expected));
      CHECK(parse_text(format, raw, 1 + random.next(9)).str() == got.str());
    }
  });
}

// Loses, replaces or swaps one more byte of the form. In forms without quotes only bytes of marks are damaged, since a
// byte at the border of a value may be a part of it.
bool damage(std::string& raw, bool bare_values, random_calls& random) {
  static constexpr std::string_view form = "\"'{}[]:,<>=/()";
  const auto is_form = [&](std::size_t at) { return at < raw.size() && form.find(raw[at]) != std::string_view::npos; };
  const auto at = random.next(raw.size());
  if (!is_form(at)) return false;
  switch (random.next(3)) {
    case 0:
      raw.erase(at, 1);
      return true;
    case 1: {
      const char by = form[random.next(form.size())];
      if (by == raw[at]) return false;
      raw[at] = by;
      return true;
    }
    default:
      if (!is_form(at + 1) || raw[at] == raw[at + 1] || bare_values) return false;
      std::swap(raw[at], raw[at + 1]);
      return true;
  }
}

TEST_CASE(
    "G29: random calls with one to three bytes of their form lost, replaced or moved are run exactly or not at all") {
  random_calls random{11};
  for (int round = 0; round < 600; ++round) {
    const auto call = plain_call(random);
    const auto expected = call.name + without_blanks(call.arguments.text());
    for (const auto& [format, whole] : writings_of(call)) {
      const bool bare_values = has_bare_values(format);
      for (std::size_t wanted = 1; wanted <= 3; ++wanted)
        for (int times = 0; times < 3; ++times) {
          auto raw = whole;
          for (std::size_t done = 0; done < wanted;) done += damage(raw, bare_values, random) ? 1 : 0;
          const auto got = parse_text(format, raw);
          CAPTURE(std::string(format));
          CAPTURE(raw);
          for (const auto& c : got.reply.calls)
            if (c.problem.empty() && fits(c)) CHECK(c.name + without_blanks(c.arguments.text()) == expected);
          CHECK(parse_text(format, raw, 1 + random.next(9)).str() == got.str());
        }
    }
  }
}

// Returns a flag for each byte of a written call: true if it belongs to a mark. Names of tools and arguments in marks
// do not.
std::vector<bool> bytes_of_marks(std::string_view whole) {
  static constexpr std::string_view marks[] = {
      "<tool_call>",      "</tool_call>",      "<function=",        "</function>",   "<parameter=",
      "</parameter>",     "<arg_key>",         "</arg_key>",        "<arg_value>",   "</arg_value>",
      "<function_calls>", "</function_calls>", "<invoke name=\"",   "</invoke>",     "<parameter name=\"",
      "[TOOL_CALLS]",     "Action:",           "Action Input:",     "\">",           "<|channel|>",
      "<|constrain|>",    "<|message|>",       "<|call|>",          "to=functions.", "<｜DSML｜",
      "</｜DSML｜",       "]<]minimax[>[",     "<|tool_call>call:", "<|\"|>",        "<tool_call|>"};
  std::vector<bool> all(whole.size(), false);
  for (const auto mark : marks)
    for (auto at = whole.find(mark); at != npos; at = whole.find(mark, at + 1))
      for (auto i = at; i < at + mark.size(); ++i) all[i] = true;
  return all;
}

// One byte anywhere in a mark replaced, lost, doubled, moved or come in.
enum class harm : unsigned char { replaced, lost, doubled, swapped, inserted };
bool harm_mark(std::string& raw, std::vector<bool>& marks, std::size_t at, harm how, char by) {
  if (!marks[at]) return false;
  const auto place = static_cast<std::ptrdiff_t>(at);
  const bool within = at + 1 < raw.size() && marks[at + 1];
  switch (how) {
    case harm::replaced:
      if (raw[at] == by) return false;
      raw[at] = by;
      return true;
    case harm::lost:
      raw.erase(at, 1);
      marks.erase(marks.begin() + place);
      return true;
    case harm::swapped:
      if (!within || raw[at] == raw[at + 1]) return false;
      std::swap(raw[at], raw[at + 1]);
      return true;
    default:
      // Behind the last byte of a mark it would be one of what follows.
      if (!within) return false;
      if (how == harm::doubled) by = raw[at];
      // Nor can it be told from one that begins a value, such as a quotation in Markdown.
      if (by == '>' && raw[at + 1] == '>') return false;
      // A bracket before MiniMax's token may be the end of a list.
      if (by == ']' && raw.compare(at, 3, "]<]") == 0) return false;
      raw.insert(at + 1, 1, by);
      marks.insert(marks.begin() + place + 1, true);
      return true;
  }
}

// Calls with optional arguments are the ones that stay valid with a part of them gone.
void check_exact_or_refused(std::string_view format, std::string_view raw, const std::string& expected) {
  const auto got = parse_text(format, raw);
  CAPTURE(std::string(format));
  CAPTURE(raw);
  for (const auto& c : got.reply.calls)
    if (c.problem.empty() && fits(c)) CHECK(c.name + without_blanks(c.arguments.text()) == without_blanks(expected));
}

// Bytes that are inserted or replace others.
constexpr std::string_view others = "ax_P0 |/<>=\"\n";

TEST_CASE(
    "G29: random calls with any one byte of their marks replaced, lost, doubled, moved or come in are run exactly or "
    "not at all") {
  random_calls random{19};
  for_each_writing(random, 12, [&](std::string_view format, const std::string& whole, const std::string& expected) {
    const auto marks = bytes_of_marks(whole);
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (const auto how : {harm::replaced, harm::lost, harm::doubled, harm::swapped, harm::inserted}) {
        auto raw = whole;
        auto still = marks;
        if (!harm_mark(raw, still, at, how, others[random.next(others.size())])) continue;
        check_exact_or_refused(format, raw, expected);
        if (random.next(8) == 0)
          CHECK(parse_text(format, raw, 1 + random.next(9)).str() == parse_text(format, raw).str());
      }
  });
}

TEST_CASE("G29: random calls with two or three bytes of their marks damaged are run exactly or not at all") {
  random_calls random{23};
  for_each_writing(random, 60, [&](std::string_view format, const std::string& whole, const std::string& expected) {
    const auto all_marks = bytes_of_marks(whole);
    if (format == "llama3") return;  // it has no marks
    for (int times = 0; times < 40; ++times) {
      auto raw = whole;
      auto marks = all_marks;
      for (std::size_t wanted = 2 + random.next(2); wanted > 0;)
        wanted -= harm_mark(raw, marks, random.next(raw.size()), static_cast<harm>(random.next(5)),
                            others[random.next(others.size())])
                      ? 1
                      : 0;
      check_exact_or_refused(format, raw, expected);
    }
  });
}

TEST_CASE("G29: random calls with a part of one of their marks lost are run exactly or not at all") {
  random_calls random{29};
  for_each_writing(random, 12, [&](std::string_view format, const std::string& whole, const std::string& expected) {
    const auto marks = bytes_of_marks(whole);
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (std::size_t size = 2; at + size <= whole.size() && marks[at] && marks[at + size - 1]; ++size) {
        auto raw = whole;
        raw.erase(at, size);
        check_exact_or_refused(format, raw, expected);
      }
  });
}

TEST_CASE("G29: a value with what is nearly its closing mark is refused, and the model is told so") {
  for (const std::string_view raw :
       {"<function=write_file>\n<parameter=path>\na\n</para eter>\n<parameter=content>\nb\n</parameter>\n</function>",
        "<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\nb\n</paramet|r>\n</function>",
        "<function=search>\n<parameter=query>\na\n</paramete>\n<parameter=limit>\n7\n</parameter>\n</function>",
        "<function=search>\n<parameter=query>a</praameter>\n<paramter=limit>7</parameter>\n</function>",
        "<function=search>\n<parameter=query>\na\n</para>\n</function>",
        "<function=search>\n<parameter=query>\nif a <\n</function>",
        "<function=search>\n<parameter=query>\na\n\n<parameter=limit>\n7\n</parameter>\n</function>",
        "<invoke name=\"search\"><parameter name=\"query\">a</paramet|r>\n<parameter "
        "name=\"limit\">7</parameter></invoke>",
        "<invoke name=\"search\"><parameter name=\"query\">a</paramter><parmeter name=\"limit\">7</parameter></invoke>",
        "<invoke name=\"search\"><parameter name=\"query\">a</paramter></parameter></invoke>",
        "<invoke name=\"search\"><parameter name=\"query\">a</parammeter>\n</invoke>",
        "<tool_call>search<arg_key>query</arg_key>alue>a</arg_value></tool_call>",
        "<tool_call>search<arg_key>query</arg_key><arg_value>a</ag_value><argkey>limit</arg_key<arg_value>7</arg_value>"
        "</tool_call>"}) {
    CAPTURE(raw);
    const auto got = parse_text("hermes", raw);
    CHECK(got.calls().empty());
    CHECK(got.visible().empty());
    REQUIRE(got.reply.calls.size() == 1);
    CHECK(contains(got.reply.calls[0].problem, "could not be read"));
    for (std::size_t step = 1; step < 20; ++step) CHECK(parse_text("hermes", raw, step).str() == got.str());
  }
}

TEST_CASE("G29: values with markup of their own are run as they are, whatever looks a little like a mark in them") {
  for (const std::string value :
       {"<p>tide</p>", "tide</p>", "tide</div>", "tide</param>",
        "<param name=\"a\">1</param>\n<param name=\"b\">2</param>", "<parameters>\n<a/>\n</parameters>",
        "<x><Parameter n=\"1\">a</Parameter>\n<Parameter n=\"2\">b</Parameter></x>", "std::vector<int>", "a > b",
        "#include <x>", "> quoted\n> text", "the parameter=1 and the diameter>2", "</premature>", "<br>\n<hr/>",
        "a </parameter> b", "if (a < b && c > d)\n  return </x>"}) {
    CAPTURE(value);
    const auto wanted = "search{\"query\":" + json_quoted(value) + "}";
    CHECK(parse_text("qwen3-coder", "<function=search>\n<parameter=query>\n" + value + "\n</parameter>\n</function>")
              .calls() == wanted);
    CHECK(parse_text("glm", "<tool_call>search<arg_key>query</arg_key><arg_value>" + value + "</arg_value></tool_call>")
              .calls() == wanted);
    if (!contains(value, "&"))
      CHECK(parse_text("xml", "<invoke name=\"search\"><parameter name=\"query\">" + value + "</parameter></invoke>")
                .calls() == wanted);
  }
  // With the closing mark missing as well it is still run where nothing may be left of that.
  for (const std::string value : {"tide", "<html>\n<p>tide</p>\n</html>", "a > b\nc"})
    CHECK(parse_text("qwen3-coder", "<function=search>\n<parameter=query>\n" + value + "\n</function>").calls() ==
          "search{\"query\":" + json_quoted(value) + "}");
}

TEST_CASE("G29: random calls in GLM's form with one of its marks lost or doubled are run exactly or not at all") {
  // Each is one token to the model; that is how public issues show them lost and doubled.
  static constexpr std::string_view marks[] = {"<tool_call>", "</tool_call>", "<arg_key>",
                                               "</arg_key>",  "<arg_value>",  "</arg_value>"};
  random_calls random{3};
  int run = 0;
  for_each_writing(random, 40, [&](std::string_view format, const std::string& whole, const std::string& expected) {
    if (format != "glm") return;
    for (const auto mark : marks)
      for (auto at = whole.find(mark); at != std::string::npos; at = whole.find(mark, at + 1))
        for (const bool doubled : {false, true}) {
          auto raw = whole;
          if (doubled)
            raw.insert(at, mark);
          else
            raw.erase(at, mark.size());
          const auto got = parse_text("glm", raw);
          CAPTURE(raw);
          const auto calls = got.calls();
          if (!calls.empty()) CHECK(calls == expected);
          run += calls.empty() ? 0 : 1;
          CHECK(parse_text("glm", raw, 1 + random.next(9)).str() == got.str());
        }
  });
  CHECK(run > 0);
}

}  // namespace
