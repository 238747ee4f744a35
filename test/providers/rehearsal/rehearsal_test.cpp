// Tests of the rehearsal: tools found by a question, filled arguments, and calls that use an earlier result.
#include "providers/rehearsal/rehearsal.hpp"

#include "providers/rehearsal/clause_findings.hpp"
#include "providers/rehearsal/question_words.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;

std::shared_ptr<tool_set> toolbox() {
  auto set = std::make_shared<tool_set>();
  const auto add = [&](std::string name, std::string about, std::string_view schema) {
    set->tools.push_back({std::move(name), std::move(about), raw_json::literal(schema)});
  };
  add("toolbox__current_time",
      "Tells the current date, time, weekday and UTC offset, in a time zone or where this computer is.",
      R"({"type":"object","properties":{"timeZone":{"type":"string","description":"IANA time zone such as Europe/Berlin"}}})");
  add("toolbox__convert_time", "Converts a time from one time zone to another, daylight saving time included.",
      R"({"type":"object","properties":{"time":{"type":"string"},"fromTimeZone":{"type":"string"},"toTimeZone":{"type":"string"}},"required":["time","toTimeZone"]})");
  add("toolbox__calculate",
      "Calculates an arithmetic expression exactly where it can: + - * / % ^ and parentheses; sqrt abs.",
      R"({"type":"object","properties":{"expression":{"type":"string","description":"Such as (17 + 4) * 2"}},"required":["expression"]})");
  add("toolbox__list_files", "Lists what a folder holds: type, name and size, sorted by name.",
      R"({"type":"object","properties":{"path":{"type":"string","description":"The folder"}}})");
  add("toolbox__read_file", "Reads a text file, or some of its lines; at most 256 KiB at once.",
      R"({"type":"object","properties":{"path":{"type":"string","description":"The file"},"offset":{"type":"integer"},"limit":{"type":"integer"}},"required":["path"]})");
  add("toolbox__file_info", "Tells type, size, time of the last change and mode of a file or folder.",
      R"({"type":"object","properties":{"path":{"type":"string","description":"The file or folder"}},"required":["path"]})");
  add("toolbox__search_files",
      "Searches a folder and all below it for files by name, for text in files, or for text in files of some name.",
      R"({"type":"object","properties":{"name":{"type":"string"},"text":{"type":"string"},"path":{"type":"string"},"maxResults":{"type":"integer"},"hidden":{"type":"boolean"}}})");
  return set;
}

// The calls of a reply as "name {arguments}".
std::vector<std::string> calls(const model_reply& r) {
  std::vector<std::string> all;
  for (const auto* c : r.message->calls())
    all.push_back(std::string(rehearsal::own_name(c->name)) + " " + std::string(c->arguments.text()));
  return all;
}

model_request asked(std::string question, std::shared_ptr<tool_set> tools = toolbox()) {
  model_request r;
  r.messages = {user_message(std::move(question))};
  r.tools = std::move(tools);
  return r;
}

std::vector<std::string> first_calls(std::string question) {
  return calls(rehearsal::plan_reply(asked(std::move(question)), nullptr));
}

using list = std::vector<std::string>;

void answer_calls(model_request& r, const model_reply& reply, std::string_view text, bool is_error = false) {
  r.messages.push_back(reply.message);
  auto m = std::make_shared<message>();
  m->role = role::tool_results;
  for (const auto* c : reply.message->calls())
    m->blocks.emplace_back(tool_result_block{
        c->id, c->name, raw_json::own(R"({"content":[{"type":"text","text":)" + json_quoted(text) + "}]}"), is_error});
  r.messages.push_back(std::move(m));
}

TEST_CASE("rehearsal: questions find their tools and fill them in") {
  CHECK(first_calls("What is 17 * 23 + 4?") == list{R"(calculate {"expression":"17 * 23 + 4"})"});
  CHECK(first_calls("Calculate (2+3)^2.") == list{R"(calculate {"expression":"(2+3)^2"})"});
  CHECK(first_calls("What time is it in Lisbon?") == list{R"(current_time {"timeZone":"Europe/Lisbon"})"});
  CHECK(first_calls("What is the current time?") == list{"current_time {}"});
  CHECK(first_calls("Convert 09:30 from Berlin to Tokyo") ==
        list{R"(convert_time {"time":"09:30","toTimeZone":"Asia/Tokyo","fromTimeZone":"Europe/Berlin"})"});
  CHECK(first_calls("List the files") == list{"list_files {}"});
  CHECK(first_calls("Show me the content of notes/todo.txt") == list{R"(read_file {"path":"notes/todo.txt"})"});
  CHECK(first_calls("How large is README.md?") == list{R"(file_info {"path":"README.md"})"});
  CHECK(first_calls("Find files that mention the lighthouse") == list{R"(search_files {"text":"lighthouse"})"});
  CHECK(first_calls("Search for files named *.cpp") == list{R"(search_files {"name":"*.cpp"})"});
}

TEST_CASE("rehearsal: independent parts of a question are called at once") {
  CHECK(first_calls("What time is it in Tokyo, and what is 17*23+4?") ==
        list{R"(current_time {"timeZone":"Asia/Tokyo"})", R"(calculate {"expression":"17*23+4"})"});
}

TEST_CASE("rehearsal: what points back waits for the result it needs") {
  for (const auto* question : {"Find the file that mentions the lighthouse and read it",
                               "Search the files for \"lighthouse\" and read the file that mentions it."}) {
    CAPTURE(question);
    auto r = asked(question);
    const auto first = rehearsal::plan_reply(r, nullptr);
    CHECK(calls(first) == list{R"(search_files {"text":"lighthouse"})"});
    CHECK(first.reason == end_reason::tool_calls);
    answer_calls(r, first, "notes/coast.txt:3: the lighthouse keeper");
    const auto second = rehearsal::plan_reply(r, nullptr);
    CHECK(calls(second) == list{R"(read_file {"path":"notes/coast.txt"})"});
    CHECK(second.message->calls()[0]->id != first.message->calls()[0]->id);
    answer_calls(r, second, "It stands on the cliff.");
    const auto last = rehearsal::plan_reply(r, nullptr);
    CHECK(calls(last).empty());
    CHECK(last.reason == end_reason::stop);
    CHECK(last.message->text().find("It stands on the cliff.") != std::string::npos);
  }
}

TEST_CASE("rehearsal: every answer says that it is no language model") {
  auto r = asked("What is 1+1?");
  const auto first = rehearsal::plan_reply(r, nullptr);
  answer_calls(r, first, "2");
  CHECK(rehearsal::plan_reply(r, nullptr).message->text() ==
        "calculate: 2\n(rehearsal: not a language model; it matched words of your question to tools)");
  const auto lost = rehearsal::plan_reply(asked("Write me a poem"), nullptr).message->text();
  CHECK(lost.find("not a language model") != std::string::npos);
  CHECK(lost.find("toolbox__calculate") != std::string::npos);
}

TEST_CASE("rehearsal: without tools it answers from what it has, errors included") {
  auto r = asked("What is 1/0?");
  const auto first = rehearsal::plan_reply(r, nullptr);
  answer_calls(r, first, "division by zero", true);
  r.tool_mode = tool_mode::none;
  CHECK(rehearsal::plan_reply(r, nullptr).message->text().find("calculate failed: division by zero") !=
        std::string::npos);
  r.tools = nullptr;
  r.tool_mode = tool_mode::automatic;
  CHECK(rehearsal::plan_reply(r, nullptr).message->text().find("calculate failed: division by zero") !=
        std::string::npos);
}

TEST_CASE("rehearsal: a result without a path ends the chain instead of a senseless call") {
  auto r = asked("Find the file that mentions the lighthouse and read it");
  const auto first = rehearsal::plan_reply(r, nullptr);
  answer_calls(r, first, "nothing found");
  CHECK(calls(rehearsal::plan_reply(r, nullptr)).empty());
}

TEST_CASE("rehearsal: tools of others are filled by their schemas alone") {
  auto set = std::make_shared<tool_set>();
  set->tools.push_back(
      {"get_weather", "Get the weather forecast for a city",
       raw_json::literal(
           R"({"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},"unit":{"type":"string","enum":["celsius","fahrenheit"]}},"required":["city"]})")});
  set->tools.push_back(
      {"add", "Adds two numbers",
       raw_json::literal(
           R"({"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]})")});
  set->tools.push_back(
      {"echo", "Echoes back the input",
       raw_json::literal(R"({"type":"object","properties":{"message":{"type":"string"}},"required":["message"]})")});
  const auto ask = [&](std::string q) { return calls(rehearsal::plan_reply(asked(std::move(q), set), nullptr)); };
  CHECK(ask("What is the weather in Paris in fahrenheit?") ==
        list{R"(get_weather {"city":"Paris","unit":"fahrenheit"})"});
  CHECK(ask("Add 2 and 3.5") == list{R"(add {"a":2,"b":3.5})"});
  CHECK(ask("Echo \"hello, and bye\" please") == list{R"(echo {"message":"hello, and bye"})"});
}

TEST_CASE("rehearsal: a new question starts anew and the same conversation gives the same reply") {
  auto r = asked("What is 1+1?");
  answer_calls(r, rehearsal::plan_reply(r, nullptr), "2");
  r.messages.push_back(rehearsal::plan_reply(r, nullptr).message);
  r.messages.push_back(user_message("And 2+2?"));
  const auto again = rehearsal::plan_reply(r, nullptr);
  CHECK(calls(again) == list{R"(calculate {"expression":"2+2"})"});
  CHECK(calls(rehearsal::plan_reply(r, nullptr)) == calls(again));
}

TEST_CASE("findings: numbers, times, zones, paths and addresses") {
  const auto f = rehearsal::find_in(
      "Fetch https://example.com/a?b=1 at 3 pm in New York and write src/main.cpp, 2026-07-28, not 12.");
  CHECK(f.urls == list{"https://example.com/a?b=1"});
  CHECK(f.times == list{"15:00", "2026-07-28"});
  CHECK(f.zones == list{"America/New_York"});
  CHECK(f.paths == list{"src/main.cpp"});
  CHECK(f.expression.empty());
  CHECK(rehearsal::find_in("Asia/Kolkata and UTC").zones == list{"Asia/Kolkata", "UTC"});
}

}  // namespace
