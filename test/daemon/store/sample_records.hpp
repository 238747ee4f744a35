// One record of every kind with every member filled in and no value twice, so that a member that gets lost shows.
#pragma once
#include "daemon/store/records/record.hpp"

#include <memory>
#include <vector>

namespace mcpbx::daemon::test {

inline providers::message_ptr full_message() {
  auto m = std::make_shared<providers::message>();
  m->role = providers::role::assistant;
  m->origin = {"api-1", "https://endpoint.example/v1", "model-1"};
  m->raw = json::raw_json::own("{ \"raw\":  [1,2.50,1e5,\"\\u00e9\\n\"], \"content\": null }");
  m->blocks.emplace_back(providers::text_block{"text \"quoted\"\n\t\\ \xc3\xa9 \xe2\x80\xa8 \x01"});
  m->blocks.emplace_back(providers::image_block{"image/png", "aGVsbG8=", ""});
  m->blocks.emplace_back(providers::image_block{"", "", "https://pictures.example/1.png", "low"});
  m->blocks.emplace_back(providers::reasoning_block{"thought", json::raw_json::own("{\"signature\":\"s1\"}")});
  m->blocks.emplace_back(providers::reasoning_block{"", {}});
  m->blocks.emplace_back(providers::tool_call_block{
      "call-1", "provider-1", "srv__tool", json::raw_json::own("{\"b\": 1, \"b\":2}"), "{\"b\": 1, \"b\":2}", ""});
  m->blocks.emplace_back(
      providers::tool_call_block{"call-2", "", "srv__other", {}, "{not json", "the arguments are no JSON"});
  m->blocks.emplace_back(providers::tool_result_block{
      "call-1", "srv__tool", json::raw_json::own("{\"content\":[],\"x\":18446744073709551616}"), true});
  m->blocks.emplace_back(providers::refusal_block{"I will not"});
  m->blocks.emplace_back(providers::opaque_block{json::raw_json::own("[\"opaque\",{}]")});
  m->blocks.emplace_back(providers::file_block{"application/pdf", "a.pdf", "aGVsbG8=", ""});
  m->blocks.emplace_back(providers::text_block{"use it well", true});
  return m;
}

inline std::vector<stored::run_record> sample_records() {
  std::vector<stored::run_record> all;
  stored::record::run_started started;
  started.run = "run-1";
  started.session = "session-1";
  started.principal = "uid 1000";
  started.model = "configured-1";
  started.messages = {providers::system_message("be brief"), providers::user_message(""), full_message()};
  started.profile = "reader";
  started.tools = {{"files__*", "*"}, {"f*"}, {"*__rm"}, {{"files__read", "read"}, {"files__write", "write"}}, {}};
  started.limits = {{11, 12, 13, 14, 15, 16, 17, 18, 19, 20},
                    {stored::limit_policy::stop,
                     stored::tool_error_policy::stop,
                     stored::round_prompt_mode::progressive,
                     {"first {round}", "", "last"},
                     stored::status_mode::off,
                     "quick-1",
                     {false, "use them well"},
                     true,
                     true,
                     true,
                     true,
                     "empty!",
                     stored::approval_mode::none}};
  started.approve = {"files__rm*"};
  started.servers = std::make_shared<const std::vector<stored::server_terms>>(std::vector<stored::server_terms>{
      {"files", {"f*", "g"}, {"rm"}, {"write"}, {"files", true, {{"a", "b"}, {"c", "d"}}, {{"e", "f"}}}},
      {"mail", {}, {}, {}}});
  started.client_tools = {json::raw_json::own(R"({"name":"mine","inputSchema":{"type":"object"}})")};
  started.answer_schema = json::raw_json::own(R"({"type":  "string"})");
  started.settings = {"0.20", "1e-1", 40, {"END", "\n"}, false, "low"};
  started.detached = true;
  started.nonce = "nonce-1";
  started.likeness = 0xfedcba9876543211u;
  started.asked_limits = json::raw_json::own(R"({"maxRounds": 40})");
  all.emplace_back(std::move(started));
  all.emplace_back(stored::record::round_started{21, "model-2", false, 22, 33});
  all.emplace_back(stored::record::assistant{full_message(),
                                             providers::end_reason::unknown,
                                             "raw-reason",
                                             {23, 24, 25, 26, 27, true},
                                             28,
                                             {34, 0},
                                             {{"srv__a_b", "srv", "a.b"}, {"mine", "", "mine"}}});
  all.emplace_back(stored::record::model_failed{{providers::model_error::kind::configuration,
                                                 503,
                                                 29,
                                                 "it broke",
                                                 "so far",
                                                 "",
                                                 "",
                                                 true,
                                                 {51, 52, 0, 0, 0, true}},
                                                30});
  all.emplace_back(stored::record::question{"question-1", "approval", "call-3", json::raw_json::own("{\"ask\":true}"),
                                            "hash-of-the-tool", "hash-of-the-arguments", 31});
  all.emplace_back(stored::record::answer{"question-1", json::raw_json::own("false"), true, true, true});
  all.emplace_back(stored::record::call_intent{"call-4", "srv__four", "srv", 2, 0xfedcba9876543210u, 0x1u, true, true});
  all.emplace_back(stored::record::call_result{"call-4", json::raw_json::own("{\"isError\":true}"), true,
                                               stored::record::result_cause::refused, 32});
  all.emplace_back(stored::record::parked{{"call-5", "call-6"}, 39, 41});
  all.emplace_back(stored::record::caller_result{"call-5", json::raw_json::own("{\"content\":[]}")});
  all.emplace_back(
      stored::record::cancel{stored::stop_reason::timeout, "time was up", {53, 54, 0, 0, 0, true}, "so fa"});
  all.emplace_back(stored::record::run_ended{stored::stop_reason::repeated_calls, "the sentence"});
  all.emplace_back(stored::record::status_line{"call-7", "Looking it up...", {33, 34, 35, 36, 37, true}, 38});
  all.emplace_back(stored::record::time_used{42});
  all.emplace_back(stored::record::limits_lowered{started.limits});
  all.emplace_back(stored::record::taken_over{"daemon-1", true});
  return all;
}

/// The same kinds with every member as it is by default.
inline std::vector<stored::run_record> bare_records() {
  stored::record::assistant reply;
  reply.message = std::make_shared<providers::message>();
  return {stored::record::run_started{},   stored::record::round_started{}, reply,
          stored::record::model_failed{},  stored::record::question{},      stored::record::answer{},
          stored::record::call_intent{},   stored::record::call_result{},   stored::record::parked{},
          stored::record::caller_result{}, stored::record::cancel{},        stored::record::run_ended{},
          stored::record::status_line{},   stored::record::time_used{},     stored::record::limits_lowered{},
          stored::record::taken_over{}};
}

}  // namespace mcpbx::daemon::test
