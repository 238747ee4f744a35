// The parts of a remote connection that know no network: events, headers, waits, addresses.
#include "mcp/client/connect/remote/answer_reader.hpp"
#include "mcp/client/connect/remote/event_reader.hpp"
#include "mcp/client/connect/remote/remote_words.hpp"
#include "mcp/client/connect/remote/resume_pace.hpp"
#include "mcp/protocol/header_params.hpp"
#include "mcp/support/time.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using mcpbx::mcp::protocol::header_params;
using mcpbx::mcp::protocol::header_text;
using mcpbx::mcp::protocol::header_values;
using mcpbx::mcp::protocol::read_header_params;
using mcpbx::mcp::remote::answer_reader;
using mcpbx::mcp::remote::event_reader;
using mcpbx::mcp::remote::media_type;
using mcpbx::mcp::remote::resume_pace;
using mcpbx::mcp::remote::retry_after;
using mcpbx::mcp::remote::same_origin;

// Writes each event as [name|data].
struct event_log final : mcp::remote::event_sink {
  std::string text, data;
  void on_event_data(std::string_view piece) override { data += piece; }
  void on_event_end(std::string_view name) override {
    text += "[" + std::string(name) + "|" + data + "]";
    data.clear();
  }
};

struct message_log final : mcp::rpc::message_sink {
  std::vector<std::string> messages, faults;
  void on_message(mcp::rpc::message&& m) override { messages.emplace_back(m.whole.text()); }
  void on_fault(mcp::rpc::message_fault f) override { faults.push_back(f.envelope.what); }
};

header_params params_of(std::string_view schema) {
  const auto read = read_header_params(raw_json::own(schema));
  REQUIRE(read);
  return *read;
}

}  // namespace

TEST_CASE("event_reader: every cut of a stream gives the same events, ids and waits") {
  const std::string text =
      "\xEF\xBB\xBF: hello\r\nid: 1\nretry: 500\ndata: {\"a\":\r\ndata: 1}\n\nevent: "
      "ping\rdata\r\rdata:x\ndata:\ndata: y\n\n"
      "event: none\n\nid\ndata: z\nunknown: 5\nretry: soon\nid: last\n\ndata: half";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    CAPTURE(cut);
    event_reader s;
    event_log log;
    s.feed(text.substr(0, cut), log);
    s.feed(text.substr(cut), log);
    CHECK(log.text == "[|{\"a\":\n1}][ping|][|x\n\ny][|z]");
    CHECK(s.last_id() == "last");
    CHECK(s.retry() == milliseconds(500));
    CHECK(s.saw_field());
  }
  event_reader bytes;
  event_log log;
  for (const char c : text) bytes.feed({&c, 1}, log);
  CHECK(log.text == "[|{\"a\":\n1}][ping|][|x\n\ny][|z]");
}

TEST_CASE("event_reader: an id that cannot be sent back is none and long fields cost no memory") {
  event_reader s;
  event_log log;
  s.feed("id: 1\ndata: a\n\n", log);
  CHECK(s.last_id() == "1");
  s.feed("id: " + std::string(2'000, 'x') + "\ndata: b\n\n", log);
  CHECK(s.last_id().empty());
  s.feed(std::string_view("id: a\0b\ndata: c\n\n", 17), log);
  CHECK(s.last_id().empty());
  s.feed("event: " + std::string(500, 'e') + "\ndata: d\n\n", log);
  CHECK(log.text == "[|a][|b][|c][?|d]");
  s.feed("retry: 99999999999999999999\nretry: -5\n" + std::string(1'000'000, 'f') + ": x\n\n", log);
  CHECK(s.retry() < milliseconds(0));
}

TEST_CASE("event_reader: the id of an event that was cut does not count, so that the event comes again") {
  const std::string event = "id: 2\ndata: answer\n\n";
  for (std::size_t cut = 0; cut <= event.size(); ++cut) {
    CAPTURE(cut);
    event_reader s;
    event_log log;
    s.feed("id: 1\ndata: a\n\n", log);
    s.feed(event.substr(0, cut), log);
    CHECK(s.last_id() == (cut == event.size() ? "2" : "1"));
    s.restart();
    log.data.clear();
    s.feed("data: again\n\n", log);
    CHECK(s.last_id() == (cut == event.size() ? "2" : "1"));
  }
}

TEST_CASE("answer_reader: pretty JSON is one message and events of other names are none") {
  message_log log;
  answer_reader json({}, log);
  json.begin(answer_reader::form::json);
  json.feed("{\n  \"jsonrpc\": \"2.0\",\r\n  \"id\": 1,");
  json.feed("\n  \"result\": {}\n}\n");
  CHECK(log.messages.empty());
  json.finish();
  REQUIRE(log.messages.size() == 1);
  answer_reader events({}, log);
  events.want("endpoint");
  events.begin(answer_reader::form::events);
  events.feed("event: endpoint\ndata: /m?s=1\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"a\"}\nevent: other\n\n");
  CHECK(events.take_wanted() == "/m?s=1");
  CHECK(log.messages.size() == 1);
  events.feed("data: {\"jsonrpc\":\"2.0\",\"met");
  events.begin(answer_reader::form::events);  // dropped in the middle and resumed
  events.feed("data: {\"jsonrpc\":\"2.0\",\"method\":\"b\"}\n\n");
  REQUIRE(log.messages.size() == 2);
  CHECK(log.messages[1] == R"({"jsonrpc":"2.0","method":"b"})");
  CHECK(log.faults.empty());
}

TEST_CASE("header_params: annotations are read where properties lead and values are found there") {
  const auto params = params_of(
      R"({"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"o":{"type":"object","properties":{"b":{"type":["boolean","null"],"x-mcp-header":"B"}}},"x-mcp-header":{"type":"integer","x-mcp-header":"C"}}})");
  REQUIRE(params.size() == 3);
  const auto values =
      header_values(params, raw_json::own(R"({"a":"\u00e9","o":{"b":true},"x-mcp-header":9007199254740993})"));
  REQUIRE(values.size() == 3);
  CHECK(values[0].second == "é");
  CHECK(values[1].second == "true");
  CHECK(values[2].second == "9007199254740993");
  CHECK(header_values(params, raw_json::own(R"({"a":null,"o":[1],"x-mcp-header":{}})")).empty());
  CHECK(header_values(params, raw_json()).empty());
  CHECK(params_of(R"({"properties":{"a":{"default":{"x-mcp-header":"data"},"type":"string"}}})").empty());
}

TEST_CASE("header_params: an annotation that breaks a rule is refused with the rule") {
  const std::vector<std::pair<std::string, std::string>> bad{
      {R"({"properties":{"a":{"type":"string","x-mcp-header":""}}})", "must not be empty"},
      {R"({"properties":{"a":{"type":"string","x-mcp-header":"A B"}}})", "a character that header names do not have"},
      {R"({"properties":{"a":{"type":"string","x-mcp-header":"A:"}}})", "a character that header names do not have"},
      {R"({"properties":{"a":{"type":"string","x-mcp-header":"A\r\nX"}}})",
       "a character that header names do not have"},
      {R"({"properties":{"a":{"type":"string","x-mcp-header":"É"}}})", "a character that header names do not have"},
      {R"({"properties":{"a":{"type":"string","x-mcp-header":5}}})", "must be a text"},
      {R"({"properties":{"a":{"type":"number","x-mcp-header":"A"}}})", "no string, integer or boolean"},
      {R"({"properties":{"a":{"type":"object","x-mcp-header":"A"}}})", "no string, integer or boolean"},
      {R"({"properties":{"a":{"x-mcp-header":"A"}}})", "no string, integer or boolean"},
      {R"({"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}})",
       "is given twice"},
      {R"({"x-mcp-header":"A","type":"string"})", "where no chain of properties leads to"},
      {R"({"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}})",
       "where no chain of properties leads to"},
      {R"({"oneOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]})",
       "where no chain of properties leads to"},
      {R"({"$defs":{"d":{"type":"string","x-mcp-header":"A"}}})", "where no chain of properties leads to"}};
  for (const auto& [schema, words] : bad) {
    CAPTURE(schema);
    const auto read = read_header_params(raw_json::own(schema));
    REQUIRE_FALSE(read);
    CHECK(read.error().message.contains(words));
  }
}

TEST_CASE("header_text: only what a header cannot hold is encoded") {
  CHECK(header_text("us-west1") == "us-west1");
  CHECK(header_text("") == "");
  CHECK(header_text("two words\tand a tab") == "two words\tand a tab");
  CHECK(header_text("Hello, 世界") == "=?base64?SGVsbG8sIOS4lueVjA==?=");
  CHECK(header_text(" padded ") == "=?base64?IHBhZGRlZCA=?=");
  CHECK(header_text("line1\nline2") == "=?base64?bGluZTEKbGluZTI=?=");
  CHECK(header_text("=?base64?literal?=") == "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
  CHECK(header_text("=?base64?") == "=?base64?");
}

TEST_CASE("same_origin: addresses within the origin are resolved and others are none") {
  const std::string base = "https://Tools.example/a/mcp?x=1";
  CHECK(same_origin(base, "/b") == "https://tools.example:443/b");
  CHECK(same_origin(base, "c?y") == "https://tools.example:443/a/c?y");
  CHECK(same_origin(base, "?z") == "https://tools.example:443/a/mcp?z");
  CHECK(same_origin(base, "https://tools.example/d") == "https://tools.example:443/d");
  CHECK(same_origin(base, "//tools.example/e") == "https://tools.example:443/e");
  CHECK(same_origin(base, "/f?to=http://other.example/") == "https://tools.example:443/f?to=http://other.example/");
  for (const char* other :
       {"http://tools.example/d", "https://tools.example:444/d", "https://other.example/", "//other.example/",
        "https://tools.example@other.example/", "ftp://tools.example/", "", "/a b", "/a\r\nX: 1"}) {
    CAPTURE(other);
    CHECK_FALSE(same_origin(base, other));
  }
  CHECK(same_origin("unix:/run/s:/mcp", "/other") == "unix:/run/s:/other");
  CHECK_FALSE(same_origin("unix:/run/s:/mcp", "http://localhost/other"));
}

TEST_CASE("resume_pace: the server's wish is kept until streams bring nothing") {
  const time_point now{};
  resume_pace wished;
  CHECK(wished.next(now, milliseconds(500), true) == milliseconds(500));
  resume_pace none;
  CHECK(none.next(now, milliseconds(-1), true) == resume_pace::usual);
  resume_pace barren;
  CHECK(barren.next(now, milliseconds(0), true) == milliseconds(0));
  CHECK(barren.next(now, milliseconds(0), false) == milliseconds(0));
  CHECK(barren.next(now, milliseconds(0), false) == milliseconds(200));
  CHECK(barren.next(now, milliseconds(0), false) == milliseconds(400));
  for (int i = 0; i < 20; ++i) barren.next(now, milliseconds(0), false);
  CHECK(barren.next(now, milliseconds(0), false) == resume_pace::longest);
  // Streams that bring one message each are no storm either.
  resume_pace chatty;
  time_point at = now;
  int attempts = 0;
  while (at < now + std::chrono::seconds(10)) {
    at += chatty.next(at, milliseconds(0), true);
    ++attempts;
  }
  CHECK(attempts <= 30);
}

TEST_CASE("retry_after: seconds and dates are read within bounds and nonsense is none") {
  constexpr std::int64_t now = 1'798'761'570'250;  // a quarter of a second after Thu, 31 Dec 2026 23:59:30 GMT
  CHECK(retry_after("2", now) == milliseconds(2'000));
  CHECK(retry_after("999999999", now) == milliseconds(86'400'000));
  CHECK(retry_after("Thu, 31 Dec 2026 23:59:59 GMT", now) == milliseconds(28'750));
  for (const char* gone : {"Thu, 31 Dec 2026 23:59:30 GMT", "Sat, 31 Dec 2016 23:59:60 GMT"})
    CHECK(retry_after(gone, now) == milliseconds(1'000));
  CHECK(retry_after("Fri, 31 Dec 9999 23:59:59 GMT", now) == milliseconds(86'400'000));
  for (const char* other : {"", "-1", "1.5", "x", "Thu, 31 Dec 2026 23:59:59 UTC", "Thu, 31 Dec 2026 24:59:59 GMT",
                            "Thu, 31 Feb 2026 23:59:59 GMT", "Thu, 31 Dez 2026 23:59:59 GMT",
                            "Thu, -1 Dec 2026 23:59:59 GMT", "Thursday, 31-Dec-26 23:59:59 GMT"})
    CHECK_FALSE(retry_after(other, now));
}
