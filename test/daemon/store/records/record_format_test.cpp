// Records as text and back.
#include "daemon/store/records/record_format.hpp"

#include "daemon/store/records/record_words.hpp"
#include "test/daemon/store/sample_records.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>

using namespace mcpbx;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;
using namespace mcpbx::trace;
using mcpbx::test::contains;

namespace {

run_record again(const run_record& r) {
  auto read = record_from(to_text(r));
  REQUIRE_MESSAGE(read.has_value(), to_text(r), " -> ", read ? "" : read.error().message);
  CHECK(read->index() == r.index());
  return std::move(*read);
}

template <class T>
T again_as(std::size_t index) {
  return std::get<T>(again(sample_records()[index]));
}

void check_message(const providers::message& m) {
  const auto want = full_message();
  CHECK(m.role == want->role);
  CHECK(m.origin == want->origin);
  CHECK(m.raw.text() == want->raw.text());
  REQUIRE(m.blocks.size() == want->blocks.size());
  CHECK(std::get<providers::text_block>(m.blocks[0]).text == std::get<providers::text_block>(want->blocks[0]).text);
  CHECK_FALSE(std::get<providers::text_block>(m.blocks[0]).foreign);
  const auto& foreign = std::get<providers::text_block>(m.blocks[11]);
  CHECK((foreign.text == "use it well" && foreign.foreign));
  const auto& data = std::get<providers::image_block>(m.blocks[1]);
  CHECK((data.mime == "image/png" && data.data == "aGVsbG8=" && data.url.empty()));
  const auto& shown = std::get<providers::image_block>(m.blocks[2]);
  CHECK((shown.url == "https://pictures.example/1.png" && shown.detail == "low"));
  const auto& thought = std::get<providers::reasoning_block>(m.blocks[3]);
  CHECK((thought.text == "thought" && thought.opaque.text() == "{\"signature\":\"s1\"}"));
  CHECK(std::get<providers::reasoning_block>(m.blocks[4]).opaque.empty());
  const auto& call = std::get<providers::tool_call_block>(m.blocks[5]);
  CHECK((call.id == "call-1" && call.provider_id == "provider-1" && call.name == "srv__tool"));
  CHECK((call.arguments.text() == "{\"b\": 1, \"b\":2}" && call.arguments_text == call.arguments.text()));
  const auto& bad = std::get<providers::tool_call_block>(m.blocks[6]);
  CHECK((bad.arguments.empty() && bad.arguments_text == "{not json" && bad.problem == "the arguments are no JSON"));
  const auto& result = std::get<providers::tool_result_block>(m.blocks[7]);
  CHECK((result.call_id == "call-1" && result.name == "srv__tool" && result.is_error));
  CHECK(result.result.text() == "{\"content\":[],\"x\":18446744073709551616}");
  CHECK(std::get<providers::refusal_block>(m.blocks[8]).text == "I will not");
  CHECK(std::get<providers::opaque_block>(m.blocks[9]).json.text() == "[\"opaque\",{}]");
  const auto& file = std::get<providers::file_block>(m.blocks[10]);
  CHECK((file.mime == "application/pdf" && file.name == "a.pdf" && file.data == "aGVsbG8=" && file.url.empty()));
}

std::string refusal_of(std::string_view text) {
  const auto read = record_from(text);
  return read ? "taken" : read.error().message;
}

template <class E>
void check_words(int count) {
  std::set<std::string_view> seen;
  for (int i = 0; i < count; ++i) {
    const auto word = enum_words<E>::word(static_cast<E>(i));
    CHECK(seen.insert(word).second);
    CHECK(enum_words<E>::value(word) == static_cast<E>(i));
  }
  CHECK_FALSE(enum_words<E>::value("no such word").has_value());
}

}  // namespace

TEST_CASE("record format: every kind of record reads back as it was written") {
  const auto full = sample_records();
  CHECK(full.size() == std::variant_size_v<run_record>);
  for (std::size_t i = 0; i < full.size(); ++i) {
    CHECK(full[i].index() == i);
    CHECK(to_text(again(full[i])) == to_text(full[i]));
    CHECK(raw_json::parse(to_text(full[i])).has_value());
    CHECK(to_text(full[i]).find('\n') == std::string::npos);
  }
  for (const auto& bare : bare_records()) CHECK(to_text(again(bare)) == to_text(bare));
}

TEST_CASE("record format: the input of a run keeps the tools behind names of a conversation from another session") {
  record::run_started beside;
  beside.run = "r";
  beside.meant = {{"a__b", "a", "b"}, {"c", "", "d"}};
  CHECK(std::get<record::run_started>(again(beside)).meant == beside.meant);
  CHECK(contains(refusal_of(R"({"v":1,"type":"run_started","run":"r","meant":[{"tool":"b"}]})"), "name is not there"));
}

TEST_CASE("record format: the input of a run keeps the trace of its caller, and takes no wrong one from a file") {
  record::run_started traced;
  traced.run = "r";
  traced.trace = {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=1,b=2"};
  CHECK(std::get<record::run_started>(again(traced)).trace == traced.trace);
  traced.trace.parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\nX: y";
  CHECK(std::get<record::run_started>(again(traced)).trace == trace_context());
}

TEST_CASE("record format: the input of a run keeps its messages and limits") {
  const auto r = again_as<record::run_started>(0);
  CHECK((r.run == "run-1" && r.session == "session-1" && r.principal == "uid 1000" && r.model == "configured-1"));
  REQUIRE(r.messages.size() == 3);
  CHECK((r.messages[0]->role == providers::role::system && r.messages[0]->text() == "be brief"));
  CHECK((r.messages[1]->role == providers::role::user && r.messages[1]->blocks.size() == 1));
  CHECK(r.messages[1]->raw.empty());
  check_message(*r.messages[2]);
  CHECK(r.profile == "reader");
  CHECK(r.tools.only == std::vector<std::string>{"files__*", "*"});
  CHECK(r.tools.allow == std::vector<std::string>{"f*"});
  CHECK(r.tools.deny == std::vector<std::string>{"*__rm"});
  CHECK(r.tools.rename.size() == 2);
  CHECK(r.tools.rename.at("files__read") == "read");
  CHECK(r.likeness == 0xfedcba9876543211u);
  REQUIRE(r.servers);
  CHECK(*r.servers == *std::get<record::run_started>(sample_records()[0]).servers);
  CHECK_FALSE(std::get<record::run_started>(again(bare_records()[0])).servers);
  auto alone = record::run_started();
  alone.run = "r";
  alone.servers = std::make_shared<const std::vector<server_terms>>();  // no server is not the same as not known
  const auto none = record_from(to_text(alone));
  REQUIRE(none);
  REQUIRE(std::get<record::run_started>(*none).servers);
  CHECK(std::get<record::run_started>(*none).servers->empty());
  CHECK(contains(refusal_of(R"({"v":1,"type":"run_started","run":"r","servers":[{}]})"), "name is not there"));
  CHECK(contains(refusal_of(R"({"v":1,"type":"run_started","run":"r","rename":["a"]})"), "rename is not"));
  CHECK(r.settings == providers::call_settings{"0.20", "1e-1", 40, {"END", "\n"}, false, "low"});
  CHECK(contains(refusal_of(R"({"v":1,"type":"run_started","run":"r","settings":{"topP":"1"}})"),
                 "settings.topP is not a number"));
  CHECK_FALSE(contains(to_text(bare_records()[0]), "settings"));
  const auto& l = r.limits;
  CHECK((l.max_rounds == 11 && l.max_calls_per_round == 12 && l.max_calls == 13 && l.max_consecutive_errors == 14));
  CHECK((l.max_repeated_calls == 15 && l.tool_concurrency == 16 && l.timeout_ms == 17 && l.question_timeout_ms == 18));
  CHECK((l.token_budget == 19 && l.max_result_bytes == 20 && l.on_limit == limit_policy::stop));
  CHECK((l.mark_results && l.approve_after_output && l.server_instructions));
  CHECK((!l.guidance.on && l.guidance.text == "use them well" && l.status_model == "quick-1"));
  CHECK((l.round_prompts == round_prompt_mode::progressive && l.round_texts.first == "first {round}"));
  CHECK((l.round_texts.middle == "" && l.round_texts.last == "last"));
  CHECK(r.answer_schema.text() == R"({"type":  "string"})");
  CHECK(
      (l.on_tool_error == tool_error_policy::stop && l.status == status_mode::off && l.empty_result_text == "empty!"));
}

TEST_CASE("record format: what the model said keeps the provider's bytes") {
  const auto r = again_as<record::assistant>(2);
  check_message(*r.message);
  CHECK((r.reason == providers::end_reason::unknown && r.raw_reason == "raw-reason" && r.ms == 28));
  CHECK((r.usage.input == 23 && r.usage.output == 24 && r.usage.cached == 25 && r.usage.cache_write == 26));
  CHECK((r.usage.reasoning == 27 && r.usage.estimated));
  CHECK(r.tools == std::vector<record::meant_tool>{{"srv__a_b", "srv", "a.b"}, {"mine", "", "mine"}});
  const auto f = again_as<record::model_failed>(3);
  CHECK((f.error.type == providers::model_error::kind::configuration && f.error.http_status == 503));
  CHECK((f.error.retry_after_ms == 29 && f.error.message == "it broke" && f.error.partial_text == "so far"));
  CHECK((f.error.retryable && f.ms == 30));
  CHECK((f.error.usage.input == 51 && f.error.usage.output == 52 && f.error.usage.estimated));
}

TEST_CASE("record format: calls questions and ends keep every member") {
  const auto round = again_as<record::round_started>(1);
  CHECK((round.depth == 21 && round.model == "model-2" && !round.with_tools && round.elapsed_ms == 22));
  const auto q = again_as<record::question>(4);
  CHECK((q.id == "question-1" && q.kind == "approval" && q.call_id == "call-3" && q.expires_ms == 31));
  CHECK(q.body.text() == "{\"ask\":true}");
  CHECK((q.tool_sha256 == "hash-of-the-tool" && q.arguments_sha256 == "hash-of-the-arguments"));
  const auto a = again_as<record::answer>(5);
  CHECK((a.id == "question-1" && a.body.text() == "false" && a.expired && a.mute));
  const auto i = again_as<record::call_intent>(6);
  CHECK((i.call_id == "call-4" && i.name == "srv__four" && i.server == "srv" && i.attempt == 2 && i.repeatable));
  CHECK((i.definition_hash == 0xfedcba9876543210u && i.arguments_hash == 1));
  const auto c = again_as<record::call_result>(7);
  CHECK((c.call_id == "call-4" && c.is_error && c.cause == record::result_cause::refused && c.ms == 32));
  CHECK(c.result.text() == "{\"isError\":true}");
  const auto p = again_as<record::parked>(8);
  CHECK((p.call_ids == std::vector<std::string>{"call-5", "call-6"} && p.expires_ms == 39));
  const auto own = again_as<record::caller_result>(9);
  CHECK((own.call_id == "call-5" && own.result.text() == "{\"content\":[]}"));
  const auto stop = again_as<record::cancel>(10);
  CHECK((stop.why == stop_reason::timeout && stop.text == "time was up" && stop.partial_text == "so fa"));
  CHECK((stop.usage.input == 53 && stop.usage.output == 54 && stop.usage.estimated));
  const auto end = again_as<record::run_ended>(11);
  CHECK((end.reason == stop_reason::repeated_calls && end.text == "the sentence"));
  const auto line = again_as<record::status_line>(12);
  CHECK((line.call_id == "call-7" && line.text == "Looking it up..." && line.ms == 38));
  CHECK((line.usage.input == 33 && line.usage.output == 34 && line.usage.reasoning == 37 && line.usage.estimated));
}

TEST_CASE("record format: the settings of a run keep their order and form in the journal") {
  run_limits l;
  std::int64_t n = 1000;
  for (const auto& number : conf::loop::loop_numbers()) l.*number.settled = ++n;
  l.on_limit = limit_policy::stop;
  l.on_tool_error = tool_error_policy::stop;
  l.status = status_mode::model;
  l.approve = approval_mode::none;
  l.approve_destructive = l.approve_after_output = l.mark_results = l.server_instructions = true;
  l.empty_result_text = "nothing";
  l.guidance = {false, "use them \"well\""};
  l.round_prompts = round_prompt_mode::progressive;
  l.round_texts = {"one", "", "last"};
  l.status_model = "quick";
  const std::string all =
      R"({"maxRounds":1001,"maxCallsPerRound":1002,"maxCalls":1003,"maxConsecutiveErrors":1004,"maxRepeatedCalls":1005,)"
      R"("toolConcurrency":1006,"timeoutMs":1007,"questionTimeoutMs":1008,"tokenBudget":1009,"maxResultBytes":1010,)"
      R"("onLimit":"stop","onToolError":"stop","status":"model","approve":"none","approveDestructive":true,)"
      R"("emptyResultText":"nothing","guidance":false,"guidanceText":"use them \"well\"","roundPrompts":"progressive",)"
      R"("firstRoundText":"one","middleRoundText":"","lastRoundText":"last","statusModel":"quick","markResults":true,)"
      R"("approveAfterOutput":true,"serverInstructions":true})";
  const std::string usual =
      R"({"maxRounds":10,"maxCallsPerRound":64,"maxCalls":256,"maxConsecutiveErrors":3,"maxRepeatedCalls":3,)"
      R"("toolConcurrency":8,"timeoutMs":120000,"questionTimeoutMs":600000,"tokenBudget":0,"maxResultBytes":102400,)"
      R"("onLimit":"synthesize","onToolError":"continue","status":"names","approve":"ask",)"
      R"("emptyResultText":"No relevant content found","guidance":true,"roundPrompts":"implicit"})";
  for (const auto& [limits, bytes] : {std::pair(l, all), std::pair(run_limits(), usual)}) {
    const std::string record = R"({"v":1,"type":"limits_lowered","limits":)" + bytes + "}";
    CHECK(to_text(record::limits_lowered{limits}) == record);
    const auto read = record_from(record);
    REQUIRE(read.has_value());
    CHECK(std::get<record::limits_lowered>(*read).limits == limits);
  }
}

TEST_CASE("record format: unknown members are ignored and absent ones have their default") {
  const auto read = record_from(R"( {"type":"round_started","new":{"deep":[1]},"depth":3,"v":1} )");
  REQUIRE(read.has_value());
  const auto& r = std::get<record::round_started>(*read);
  CHECK((r.depth == 3 && r.with_tools && r.elapsed_ms == 0));
  CHECK(record_from(R"({"v":1,"type":"run_started","run":"r"})").has_value());
}

TEST_CASE("record format: what this version cannot read is refused with the reason") {
  CHECK(contains(refusal_of(R"({"v":1,"type":"dream"})"), "unknown type \"dream\""));
  CHECK(contains(refusal_of(R"({"v":2,"type":"cancel"})"), "version 2"));
  CHECK(record_from(R"({"v":2,"type":"cancel"})").error().code == errc::config);
  CHECK(contains(refusal_of(R"({"type":"cancel"})"), "no version"));
  CHECK(contains(refusal_of(R"([])"), "is no object"));
  CHECK(contains(refusal_of(R"({"v":1,"type":"cancel")"), "no JSON"));
  CHECK(contains(refusal_of(R"({"v":1,"type":"cancel","why":"bored"})"), "a record.why"));
  CHECK(contains(refusal_of(R"({"v":1,"type":"call_intent"})"), "a record.call is not there"));
  CHECK(contains(refusal_of(R"({"v":1,"type":"call_intent","call":7})"), "a record.call is not a string"));
  CHECK(contains(refusal_of(R"({"v":1,"type":"call_intent","call":"c","attempt":4294967296})"), "in range"));
  CHECK(contains(refusal_of(R"({"v":1,"type":"call_intent","call":"c","definitionHash":"xyz"})"), "a hash"));
  CHECK(contains(refusal_of(R"({"v":1,"type":"assistant"})"), "a record.message is no object"));
  CHECK(contains(refusal_of(R"({"v":1,"type":"assistant","message":{"blocks":[{"type":"smell"}]}})"), "unknown type"));
  CHECK(contains(refusal_of(R"({"v":1,"type":"assistant","message":{"blocks":[{"type":"toolCall","id":"a"},)"
                            R"({"type":"toolCall","id":"a"}]}})"),
                 "two calls of one id"));
  CHECK(contains(refusal_of(R"({"v":1,"type":"run_started"})"), "a record.run is not there"));
  CHECK(contains(refusal_of(R"({"v":1,"type":"run_started","run":"r","messages":{}})"), "not an array"));
}

TEST_CASE("record format: a reader of many records gives each run the limits of its own record") {
  const auto text = [](const std::string& limits) {
    return R"({"v":1,"type":"run_started","run":"r")" + (limits.empty() ? "" : ",\"limits\":" + limits) + "}";
  };
  record_reader reader;
  const auto rounds = [&](const std::string& limits) {
    const auto r = reader.read(text(limits));
    return r ? std::get<record::run_started>(*r).limits.max_rounds : -1;
  };
  CHECK(rounds(R"({"maxRounds":3})") == 3);
  CHECK(rounds(R"({"maxRounds":3})") == 3);
  CHECK(rounds("") == run_limits().max_rounds);
  CHECK(rounds(R"({"maxRounds":4})") == 4);
  for (int again = 0; again < 2; ++again) CHECK(rounds(R"({"maxRounds":4,"onLimit":"dance"})") == -1);
  CHECK(rounds(R"({"maxRounds":4})") == 4);
}

TEST_CASE("record format: a reader that knows the limits of a record still checks what stands before them") {
  record_reader reader;
  const std::string limits = R"(,"limits":{"maxRounds":3}})";
  const auto read = [&](const std::string& before) {
    const auto r = reader.read(before + limits);
    if (!r) return r.error().message;
    const auto* started = std::get_if<record::run_started>(&*r);
    return std::string(name_of(*r)) +
           (started ? " " + started->run + " " + std::to_string(started->limits.max_rounds) : "");
  };
  const std::string whole = R"({"v":1,"type":"run_started","run":"r")";
  for (int again = 0; again < 2; ++again) CHECK(read(whole) == "run_started r 3");
  CHECK(read(R"({"v":1,"type":"run_started","run":"s","session":"x")") == "run_started s 3");
  CHECK(read(whole + R"(,"limits":{"maxRounds":9})") == "run_started r 3");  // the last one counts
  CHECK(read(R"({"v":1,"type":"run_ended","reason":"final")") == "run_ended");
  const auto lowered = reader.read(R"({"v":1,"type":"limits_lowered")" + limits);
  REQUIRE(lowered);
  CHECK(std::get<record::limits_lowered>(*lowered).limits.max_rounds == 3);
  CHECK(contains(read(R"({"v":1,"type":"run_started")"), "a record.run is not there"));
  for (const auto* broken :
       {R"({"v":1,"type":"run_started","run":"r","x":[1)", R"({"v":1,"type":"run_started","run":"r)",
        R"({"v":1,"type":"run_started","run":"r",)", R"("v":1)", ""})
    CHECK_MESSAGE(contains(read(broken), "a record is no JSON"), broken);
  CHECK(read(whole) == "run_started r 3");
}

TEST_CASE("record format: each value of an enum has its own word") {
  check_words<stop_reason>(17);
  check_words<record::result_cause>(9);
  check_words<providers::role>(4);
  check_words<providers::end_reason>(8);
  check_words<providers::model_error::kind>(9);
  check_words<limit_policy>(2);
  check_words<tool_error_policy>(2);
  check_words<status_mode>(3);
}

TEST_CASE("L17: of what a run inherits only the number is written") {
  record::run_started r;
  r.run = "run-2";
  r.messages = {providers::system_message("be brief"), providers::user_message("and now?")};
  r.inherited = {providers::user_message("said before"), full_message()};
  r.inherited_count = r.inherited.size();
  const auto text = to_text(r);
  CHECK(contains(text, R"("inherited":2)"));
  CHECK_FALSE(contains(text, "said before"));
  const auto back = std::get<record::run_started>(again(r));
  CHECK((back.inherited_count == 2 && back.inherited.empty() && back.messages.size() == 2));
  CHECK(to_text(back) == text);
  const auto all = conversation_of(r);
  REQUIRE(all.size() == 4);
  CHECK((all[0]->text() == "be brief" && all[1]->text() == "said before" && all[3]->text() == "and now?"));
  CHECK(contains(refusal_of(R"({"v":1,"type":"run_started","run":"r","inherited":-1})"), "inherited"));
}
