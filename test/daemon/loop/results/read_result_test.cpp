// Whole results kept within bounds, and read in pages.
#include "daemon/loop/results/read_result.hpp"

#include "daemon/loop/results/history_cut.hpp"
#include "daemon/loop/results/kept_results.hpp"
#include "test/daemon/loop/core/core_script.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::results;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;

namespace {

raw_json arguments(std::string_view call, std::size_t offset, std::size_t length = 0) {
  std::string json = "{\"call\":" + json_quoted(call) + ",\"offset\":" + std::to_string(offset);
  if (length != 0) json += ",\"length\":" + std::to_string(length);
  return raw_json::own(json + "}");
}

struct seen_page {
  bool is_error = false;
  std::string text, notice;
};
seen_page read(const kept_results& kept, const raw_json& args, std::int64_t most = 1000) {
  const auto page = read_result::page(kept, args, most);
  REQUIRE(raw_json::parse(page.text()).has_value());
  CHECK(page.text().size() < static_cast<std::size_t>(most) + 300);
  seen_page seen;
  seen.is_error = find_member(page, "isError").is_true();
  int part = 0;
  for_each_element(find_member(page, "content"), [&](const raw_json& element) {
    (part++ == 0 ? seen.text : seen.notice) = find_member(element, "text").as_string().value();
    return true;
  });
  return seen;
}

raw_json result_of(std::string_view inside) {
  return raw_json::own(R"({"content":[{"type":"text","text":")" + std::string(inside) + R"("}]})");
}

std::size_t next_offset(const std::string& notice) {
  const auto at = notice.find("\"offset\":");
  return at == std::string::npos ? 0 : std::stoul(notice.substr(at + 9));
}

}  // namespace

TEST_CASE("L14: the pages of a result are its whole text, whatever is in it") {
  std::string inside, text;
  for (int i = 0; i < 200; ++i) {
    inside += R"(\u00e4ä\n\\ \ud83d\ude00 \"x\" )";
    text += "\u00e4\u00e4\n\\ \U0001F600 \"x\" ";
  }
  kept_results kept;
  kept.keep("a", result_of(inside));
  for (std::size_t length : {0U, 1U, 7U, 13U, 500U, 100'000U}) {
    CAPTURE(length);
    std::string all;
    std::size_t offset = 0;
    for (int pages = 0; pages < 30'000; ++pages) {
      const auto page = read(kept, arguments("a", offset, length));
      REQUIRE_FALSE(page.is_error);
      all += page.text;
      const auto next = next_offset(page.notice);
      if (next == 0) {
        CHECK(contains(page.notice, "this is the end"));
        break;
      }
      REQUIRE(next > offset);
      offset = next;
    }
    CHECK(all == text);
  }
}

TEST_CASE("L14: structured content that stands alone is read as JSON") {
  kept_results kept;
  kept.keep("s", raw_json::own(R"({"content":[],"structuredContent":{"q":"a\"b","n":[1,2]}})"));
  CHECK(read(kept, arguments("s", 0)).text == R"({"q":"a\"b","n":[1,2]})");
}

TEST_CASE("L14: a page that does not exist is an error that says what can be read") {
  kept_results kept;
  CHECK(read(kept, arguments("a", 0)).is_error);
  kept.keep("a", result_of("hello"));
  const auto unknown = read(kept, arguments("b", 0));
  CHECK(unknown.is_error);
  CHECK(contains(unknown.text, "can be read: \"a\""));
  const auto behind = read(kept, arguments("a", 5));
  CHECK(behind.is_error);
  CHECK(contains(behind.text, "has 5 bytes of text"));
  CHECK(read(kept, raw_json::literal(R"({"call":"a","offset":-3})")).text == "hello");
}

TEST_CASE("L14: what is kept is bounded by count and bytes, and the oldest go first") {
  kept_results many;
  for (int i = 0; i < 100; ++i) many.keep("c" + std::to_string(i), result_of("x"));
  CHECK(many.ids().size() == kept_results::max_kept);
  CHECK(many.find("c35") == nullptr);
  CHECK(many.find("c36") != nullptr);
  kept_results large;
  const auto big = result_of(std::string(10U << 20, 'x'));
  for (int i = 0; i < 5; ++i) large.keep("c" + std::to_string(i), big);
  CHECK(large.ids() == std::vector<std::string_view>{"c2", "c3", "c4"});
  large.keep("huge", result_of(std::string(40U << 20, 'x')));
  CHECK(large.ids() == std::vector<std::string_view>{"huge"});
}

TEST_CASE("L14: the oldest results of a conversation are cut until it is half as long, and can be read again") {
  std::vector<providers::message_ptr> messages{providers::user_message("go")};
  for (int i = 0; i < 4; ++i) {
    const auto id = "c" + std::to_string(i);
    messages.push_back(reply("", {call(id)}).message);
    auto results = std::make_shared<providers::message>();
    results->role = providers::role::tool_results;
    results->blocks.emplace_back(providers::tool_result_block{id, "lookup", result_of(std::string(4000, 'x')), false});
    messages.push_back(results);
  }
  const auto before = messages;
  kept_results kept;
  CHECK(cut_oldest_results(messages, kept, "") == 3);
  CHECK(fault_of(messages) == "");
  CHECK(kept.ids() == std::vector<std::string_view>{"c0", "c1", "c2"});
  CHECK(messages[1] == before[1]);
  CHECK(messages[2] != before[2]);
  CHECK(messages[8] == before[8]);
  const auto& stub = std::get<providers::tool_result_block>(messages[2]->blocks[0]);
  CHECK(stub.result.text().size() < 700);
  CHECK(contains(stub.result.text(), "mcpbx__read_result"));
  CHECK(kept.find("c0")->text().size() > 4000);
  CHECK(std::get<providers::tool_result_block>(before[2]->blocks[0]).result.text().size() > 4000);

  // The second cut takes the last large result; the third finds none.
  CHECK(cut_oldest_results(messages, kept, "") == 1);
  CHECK(cut_oldest_results(messages, kept, "") == 0);
}
