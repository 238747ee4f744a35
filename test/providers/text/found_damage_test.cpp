// Damaged calls that were once run with other arguments than were meant: found by many rounds of the random tests in
// damage_test.cpp, kept here one by one. Beside each the sound call that looks like it, which is run.
#include "test/providers/text/every_step.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;

struct damaged_row {
  std::string_view format, raw;
};
struct sound_row {
  std::string_view format, raw, calls;
};

void check_refused(const std::vector<damaged_row>& rows) {
  for (const auto& [format, raw] : rows) {
    CAPTURE(std::string(format));
    CAPTURE(raw);
    CHECK(parse_at_every_step(format, raw).calls() == "");
  }
}

void check_run(const std::vector<sound_row>& rows) {
  for (const auto& [format, raw, calls] : rows) {
    CAPTURE(std::string(format));
    CAPTURE(raw);
    CHECK(parse_at_every_step(format, raw).calls() == calls);
  }
}

TEST_CASE("G29: a key that lost its quotes among keys that have them refuses the call, for a value may have got one") {
  check_refused({
      {"react", "Action: search\nAction Input: {\"query\":\"seven(\",limit:13}"},
      {"react", "Action: search\nAction Input: {query:\"<tide\",\"limit\":53}"},
      {"react", "Action: write_file\nAction Input: {\"path\":\"a\",content:\"'quay\"}"},
      {"hermes", "<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\":\"x y z)\",limit:68}}\n</tool_call>"},
      {"llama3", "{\"name\": \"search\", \"parameters\": {query:\"<seven\",\"limit\":16}}"},
      {"mistral", "[TOOL_CALLS][{\"name\": \"write_file\", \"arguments\": {path:\">tide\",\"content\":\"tide\"}}]"},
  });
  check_run({
      {"react", "Action: search\nAction Input: {query: \"seven\", limit: 13}", R"(search{"query":"seven","limit":13})"},
      {"hermes", "<tool_call>{name: \"search\", arguments: {query: \"seven\", \"max-age\": 1}}</tool_call>",
       R"(search{"query":"seven","max-age":1})"},
      {"hermes", "<tool_call>{\"name\": \"search\", \"arguments\": {query: \"seven\"}}</tool_call>",
       R"(search{"query":"seven"})"},
  });
}

TEST_CASE("G29: a string in other quotes that swallowed members, or an object's beginning, refuses the call") {
  check_refused({
      {"llama3", "{\"name\": \"batch\", \"parameters\": {\"items\":[\"north harbour\",')k\":\"a\"',true]}}"},
      {"llama3", "{\"name\": \"search\", \"parameters\": '\"query\":\"a\",\"limit\":61'}"},
      {"hermes",
       "<tool_call>\n{\"name\": \"batch\", \"arguments\": {\"items\":[\"x y z\",'k\":\"seven\"',true]}}\n</tool_call>"},
      {"hermes",
       "<tool_call>\n{\"name\": \"batch\", \"arguments\": {\"items\":['seven\",\"k\":\"a\"',true]}}\n</tool_call>"},
      {"mistral", "[TOOL_CALLS]{\"name\": \"batch\", \"arguments\": {\"items\":['tide\",{\"k\":\"a\"',true]}}]"},
      {"react", "Action: batch\nAction Input: {\"items\":[\"tide\",'\"k\":\"quay\"',true]}"},
      {"react", "Action: batch\nAction Input: {\"items\":[\"tide\",'\"k\" : quay\"',true]}"},
  });
  check_run({
      {"react", "Action: write_file\nAction Input: {\"path\": \"a\", \"content\": '{\"k\": \"quay\"}'}",
       R"(write_file{"path":"a","content":"{\"k\": \"quay\"}"})"},
      {"react", "Action: write_file\nAction Input: {\"path\": \"a\", \"content\": 'print({\"k\": 1})'}",
       R"x(write_file{"path":"a","content":"print({\"k\": 1})"})x"},
      {"react", "Action: run_sql\nAction Input: {\"sql\": 'SELECT \"a\"::text, \"b\" FROM \"c\"'}",
       R"(run_sql{"sql":"SELECT \"a\"::text, \"b\" FROM \"c\""})"},
      {"react", "Action: write_file\nAction Input: {'path': 'a', 'content': 'k\": 1'}",
       R"(write_file{"path":"a","content":"k\": 1"})"},
  });
  // In markup the value stays what it was, and no list.
  for (const std::string_view value : {"['quay\",{\"k\":\"quay\"',true]", "[\"quay\",'\"k\":\"tide\"',true]"})
    CHECK(parse_text("qwen3-coder",
                     "<function=batch>\n<parameter=items>\n" + std::string(value) + "\n</parameter>\n</function>")
              .calls() == "batch{\"items\":" + json_quoted(value) + "}");
}

TEST_CASE("G29: what is left of an object whose first bracket was replaced is no text for a tool that takes one") {
  check_refused({
      {"react", "Action: search\nAction Input: ,\"query,:\"north harbour\",\"limit{:30}"},
      {"react", "Action: search\nAction Input: /\"query\"]\"a\",\"limit{:45}"},
      {"react", "Action: search\nAction Input: ]\"query:\"\"tide\",\"limit{:85}"},
      {"react", "Action: search\nAction Input: (\"query\"{\"quay\",\"limit\"49}"},
  });
  check_run({
      {"react", "Action: search\nAction Input: (\"tide\" OR \"quay\") harbour",
       R"x(search{"query":"(\"tide\" OR \"quay\") harbour"})x"},
      {"react", "Action: search\nAction Input: what is ${HOME}", R"(search{"query":"what is ${HOME}"})"},
  });
}

TEST_CASE("G29: what stands right behind an object that ended too early refuses the call") {
  check_refused({
      {"react", "Action: search\nAction Input: {\"query\":\"tide\"}\"limit\"'50>"},
      {"react", "Action: search\nAction Input: {\"query\":\"a\"}\"limit:45="},
      {"react", "Action: search\nAction Input: {\"query\":\"quay\"}limit\"{57}"},
      {"react", "Action: search\nAction Input: {\"query\":\"quay\"}{limit\":85}"},
      {"react", "Action: search\nAction Input: {\"query\":\"tide\",}limit:\"86"},
      {"react", "Action: search\nAction Input: {\"query\":\"tide\",}limit<:38="},
      {"react", "Action: batch\nAction Input: {\"items\":[\"seven\"],\"k\":\"quay\"},true]\""},
      {"react", "Action: batch\nAction Input: {\"items\":[\"seven\"]}{k\":\"quay\"},true]}"},
      {"react", "Action: search\nAction Input: {\"query\":\"quay\"}limit{:76}"},
      {"llama3", "{\"name\": \"search\", \"parameters\": \"query\"}[tide\",\"limit\":74}}"},
      {"hermes", "<tool_call>\n{\"name\": \"search\", \"arguments\": \"query\"}<x y z\",\"limit\":51}}\n</tool_call>"},
      {"llama3", "{\"name\": \"search\", \"parameters\": \"query\"}\"quay\"<\"limit\":82}}"},
  });
  check_run({
      {"react", "Action: search\nAction Input: {\"query\": \"tide\"}Observation: \"high\"",
       R"(search{"query": "tide"})"},
      {"react", "Action: search\nAction Input: {'query': 'tide'}Observation: \"high\"", R"(search{"query":"tide"})"},
      {"react", "Action: search\nAction Input: {\"query\": \"tide\"}, ", R"(search{"query": "tide"})"},
      {"react", "Action: search\nAction Input: {\"query\": \"tide\"} to find \"it\"", R"(search{"query": "tide"})"},
      {"llama3", "{\"name\": \"search\", \"parameters\": {\"query\": \"a\"}}\n\"So.\"", R"(search{"query": "a"})"},
  });
}

TEST_CASE("G29: a bracket in place of the closing mark's own may have ended the object, and refuses the call") {
  check_refused({
      {"hermes",
       "<tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"path\":\"a\",\"content\":\"quay}\"}\n}/tool_call>"},
      {"hermes",
       "<tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"path\":\"a\",\"content\":\"quay}\"}\n}tool_call>"},
      {"hermes",
       "<tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"path\":\"a\",\"content\":\"quay}\"}\n})tool_call>"},
      {"hermes",
       "/tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"path\":\"a\",\"content\":\"quay}\"}\n}/tool_call\""},
  });
  check_run({
      {"hermes", "<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\": \"a\"}}\n/tool_call>",
       R"(search{"query": "a"})"},
      {"hermes", "<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\": \"a\"}}}</tool_call>",
       R"(search{"query": "a"})"},
  });
}

TEST_CASE("G29: an argument's name with a byte that no name has refuses the call, also in GLM's form") {
  check_refused({
      {"glm",
       "<tool_call>search<arg_key>query</arg_key><arg_value>x</arg_value><arg_key>limit/</arg_key><arg_value>85</"
       "arg_value>"
       "</tool_call>"},
      {"qwen3-coder",
       "<function=search>\n<parameter=query>\nx\n</parameter>\n<parameter=limit/>\n85\n</parameter>\n</function>"},
  });
  check_run({
      {"glm",
       "<tool_call>search<arg_key>query</arg_key><arg_value>x</arg_value><arg_key>max-age</arg_key><arg_value>85</"
       "arg_value>"
       "</tool_call>",
       R"(search{"query":"x","max-age":"85"})"},
  });
}

TEST_CASE("G29: marks of GLM's form between parentheses are no argument as Python writes them") {
  check_refused({
      {"glm",
       "<tool_call>search(arg_key>query</arg_key><arg_value>a</arg_value)<arg_key>limit</arg_key><arg_value>5</"
       "arg_value>"
       "</tool_call>"},
      {"glm", "<tool_call>search(arg_key>query)arg_key><arg_value>seven</arg_value></tool_call>"},
      {"glm", "<tool_call>search(arg_key)query</arg_key><arg_value>quay</arg_value></tool_call>"},
      {"glm", "<tool_call>search(arg_key>query<)arg_key><arg_value>seven</arg_value></tool_call>"},
  });
  check_run({
      {"hermes", "<tool_call>search(tide)</tool_call>", R"(search{"query":"tide"})"},
      {"hermes", "<tool_call>search(query=\"<b>tide</b>\")</tool_call>", R"(search{"query":"<b>tide</b>"})"},
  });
}

TEST_CASE("G29: a call of a list without its end is not run where its last string holds what may be that end") {
  const std::string_view damaged[] = {
      R"([TOOL_CALLS][{"name": "write_file", "arguments": {"path":"a","content":"quay}"}})",
      R"([TOOL_CALLS][{"name": "batch", "arguments": {"items":["a",{"k":"quay}"}]}},)", "[search(query=\"quay)\")",
      "[search(query=\"quay]\")"};
  for (const auto raw : damaged) CHECK(parse_text("mistral", raw).reply.incomplete);
  check_refused({{"mistral", damaged[0]}, {"mistral", damaged[1]}, {"llama3", damaged[2]}, {"llama3", damaged[3]}});
  check_run({
      {"mistral", R"([TOOL_CALLS][{"name": "search", "arguments": {"query":"quay"}})", R"(search{"query":"quay"})"},
      {"mistral", R"([TOOL_CALLS][{"name": "search", "arguments": {"query":"f(){}"}}])", R"(search{"query":"f(){}"})"},
      {"mistral", R"([TOOL_CALLS][{"name": "search", "arguments": {"query":"f(){}"}}, {"name)",
       R"(search{"query":"f(){}"})"},
  });
}

}  // namespace
