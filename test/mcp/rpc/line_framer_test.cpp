// Lines in, messages out: whatever the cuts, the noise, the size.
#include "mcp/rpc/line_framer.hpp"

#include "mcp/redact/secret.hpp"
#include "test/mcp/rpc/recorded_lines.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace {

using namespace mcpbx::mcp::rpc;
using mcpbx::byte_account;
using mcpbx::test::feed_from_room;
using mcpbx::test::read_lines;
using mcpbx::test::recorded_lines;
using kind = message_fault::kind;

const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
const std::string pong = R"({"jsonrpc":"2.0","id":1,"result":{}})";

TEST_CASE("each line is one message with its own exact bytes") {
  const auto r = read_lines(ping + "\n" + pong + "\n");
  REQUIRE(r.messages.size() == 2);
  CHECK(r.faults.empty());
  CHECK(r.messages[0].type == message::kind::request);
  CHECK(r.messages[0].whole.text() == ping);
  CHECK(r.messages[0].whole.owner().size() == ping.size());
  CHECK(r.messages[1].type == message::kind::response);
  CHECK(r.messages[1].result.text() == "{}");
}

TEST_CASE("G9: CR LF line ends, a byte order mark, blank lines and blanks around a message are fine") {
  const std::string text = "\xEF\xBB\xBF" + ping + "\r\n\r\n\n  \t\n" + "  " + pong + "  \r\n";
  for (std::size_t step = 0; step < 8; ++step) {
    const auto r = read_lines(text, {}, step);
    CHECK(r.faults.empty());
    REQUIRE(r.messages.size() == 2);
    CHECK(r.messages[0].whole.text() == ping);
    CHECK(r.messages[1].whole.text() == pong);
    CHECK(r.messages[1].id == rpc_id::number(1));
  }
  CHECK(read_lines("\xEF\xBB\xBF\n" + ping + "\n").messages.size() == 1);
  CHECK(read_lines("\xEF\xBB").faults.size() == 1);
  CHECK(read_lines("\xEF\xBBx\n" + ping + "\n").messages.size() == 1);
  CHECK(read_lines(ping + "\n\xEF\xBB\xBF" + ping + "\n").faults.size() == 1);
}

TEST_CASE("G9: a message has no line break inside whatever blanks its sender put between tokens") {
  const std::string text = "{\"jsonrpc\":\"2.0\",\"id\":1,\r\r\"result\":{\"a\":\r[1,\r2]}\r}";
  const std::string bad = "{\"jsonrpc\":\"2.0\",\"id\":1,\r\"result\":{\"a\":\"\xFF\"}}";
  for (std::size_t step = 0; step < 8; ++step) {
    const auto r = read_lines(text + "\r\n" + bad + "\n", {.repair_utf8 = true}, step);
    CHECK(r.faults.empty());
    REQUIRE(r.messages.size() == 2);
    CHECK(r.messages[0].whole.text() == R"({"jsonrpc":"2.0","id":1,  "result":{"a": [1, 2]} })");
    CHECK(r.messages[0].result.text() == R"({"a": [1, 2]})");
    CHECK(r.messages[1].whole.text().find('\r') == std::string_view::npos);
  }
  std::string deep =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\r\"result\":" + std::string(300, '[') + std::string(300, ']') + "}";
  const auto r = read_lines(deep + "\n", {.keep_deep_answers = true});
  REQUIRE(r.faults.size() == 1);
  REQUIRE(r.faults[0].deep_answer);
  CHECK(r.faults[0].deep_answer->answer.whole.text().find('\r') == std::string_view::npos);
}

TEST_CASE("G9: noise is told from messages and shown without control characters") {
  for (const std::string_view noise : {"Server started on port 3000", "[INFO] ready", "[2024-01-01] x", "12",
                                       "\"text\"", "null", "true", "12 34", "- item", "\xFF\xFE", "[1,2"}) {
    CAPTURE(noise);
    const auto r = read_lines(std::string(noise) + "\r\n" + pong + "\n", {.repair_utf8 = true});
    CHECK(r.messages.size() == 1);
    REQUIRE(r.faults.size() == 1);
    CHECK(r.faults[0].type == kind::noise);
    const bool is_json = noise == "12" || noise == "\"text\"" || noise == "null" || noise == "true";
    CHECK(r.faults[0].envelope.code == (is_json ? code::invalid_request : code::parse_error));
    CHECK(r.faults[0].bytes == noise.size() + 1);
  }
  const auto r = read_lines("\x1b[31mERROR\x1b[0m " + std::string(500, 'x') + "\n");
  REQUIRE(r.faults.size() == 1);
  CHECK(r.faults[0].shown().starts_with("[31mERROR[0m xxx"));
  CHECK(r.faults[0].shown().size() <= 200);
  CHECK(r.faults[0].excerpt.size() <= 200);
  CHECK(r.faults[0].bytes == 515);
}

TEST_CASE("G35: what is shown of a line that is no message ends before a secret that is cut") {
  const std::string key = "canary-" + std::string(300, 'k');
  mcpbx::redact::redactor::add(mcpbx::redact::secret(key));
  for (const std::size_t step : {0, 1, 7}) {
    CAPTURE(step);
    const auto r = read_lines(
        "token " + key + "\n" + std::string(190, '.') + key + "\n{\"a\":" + key + "}\nand " + key.substr(0, 50), {},
        step);
    REQUIRE(r.faults.size() == 4);
    CHECK(r.faults[0].shown() == "token ***");
    CHECK(r.faults[1].shown() == std::string(190, '.') + "***");
    CHECK(r.faults[2].shown() == "{\"a\":***");
    CHECK(r.faults[3].shown() == "and ***");
  }
  mcpbx::redact::redactor::clear();
}

TEST_CASE("an array is a batch whose elements are not judged here") {
  const auto r = read_lines("[" + ping + ",1]\n[]\n");
  REQUIRE(r.messages.size() == 2);
  CHECK(r.messages[0].type == message::kind::batch);
  CHECK(r.messages[0].whole.text() == "[" + ping + ",1]");
}

TEST_CASE("G14: a malformed message is reported with the id that was read") {
  struct row {
    std::string_view text;
    std::string_view id;
    bool is_response;
    int code;
  };
  for (const row& r : {row{R"({"jsonrpc":"2.0","id":7,"result":{"a":tru}})", "n7", true, code::parse_error},
                       row{R"({"jsonrpc":"2.0","id":"x","result":{"a":)", "sx", true, code::parse_error},
                       row{R"({"jsonrpc":"2.0","id":7,"method":"m","params":{]})", "n7", false, code::parse_error},
                       row{R"({"jsonrpc":"2.0","id":7,)", "n7", true, code::parse_error},
                       row{R"({"result":{]},"id":7})", "", true, code::parse_error},
                       row{R"({"id":7,"id":8,"result":{]})", "", true, code::parse_error},
                       row{R"({"jsonrpc":"2.0","id":7})", "n7", true, code::invalid_request},
                       row{R"({"hello":1})", "", false, code::invalid_request}}) {
    CAPTURE(r.text);
    for (std::size_t step : {0u, 1u, 5u, 16u}) {
      const auto read = read_lines(std::string(r.text) + "\n" + pong + "\n", {.repair_utf8 = true}, step);
      CHECK(read.messages.size() == 1);
      REQUIRE(read.faults.size() == 1);
      CHECK(read.faults[0].type == kind::malformed);
      CHECK(read.faults[0].envelope.code == r.code);
      CHECK(read.faults[0].envelope.id.key() == r.id);
      CHECK(read.faults[0].envelope.is_response == r.is_response);
      CHECK(read.faults[0].bytes == r.text.size());
    }
  }
}

TEST_CASE("G12: a line nested too deeply is refused with its id and the next one is read") {
  for (const std::size_t levels : {100u, 1000u, 10'000u, 100'000u, 1'000'000u}) {
    const std::string deep =
        R"({"jsonrpc":"2.0","id":3,"result":)" + std::string(levels, '[') + std::string(levels, ']') + "}";
    const auto r = read_lines(deep + "\n" + pong + "\n", {.max_depth = 64, .max_depth_key = "limits.maxJsonDepth"});
    CHECK(r.messages.size() == 1);
    REQUIRE(r.faults.size() == 1);
    CHECK(r.faults[0].type == kind::too_deep);
    CHECK(r.faults[0].envelope.what == "nested deeper than 64 levels (limits.maxJsonDepth) at byte 96");
    CHECK(r.faults[0].envelope.id == rpc_id::number(3));
    CHECK(r.faults[0].envelope.is_response);
    CHECK_FALSE(r.faults[0].deep_answer);
  }
}

TEST_CASE("G12: a deep answer of a tool server is a fault that has the answer, up to 10,000 levels") {
  const line_framer::options options{
      .max_depth = 64, .repair_utf8 = true, .keep_deep_answers = true, .max_depth_key = "limits.maxJsonDepth"};
  const auto nested = [](std::string_view head, std::size_t levels) {
    return std::string(head) + std::string(levels, '[') + "\"\xFF\"" + std::string(levels, ']') + "}";
  };
  const std::string head = R"({"jsonrpc":"2.0","id":3,"result":)";
  for (const std::size_t step : {0u, 1u, 7u}) {
    for (const std::size_t levels : {63u, 64u, 9'999u, 10'000u, 100'000u}) {
      CAPTURE(levels);
      const auto r = read_lines(nested(head, levels) + "\n" + nested(head, 63) + "\n", options, step);
      if (levels == 63) {
        CHECK(r.messages.size() == 2);
        continue;
      }
      CHECK(r.messages.size() == 1);
      REQUIRE(r.faults.size() == 1);
      CHECK(r.faults[0].type == kind::too_deep);
      CHECK(r.faults[0].envelope.what == "nested deeper than 64 levels (limits.maxJsonDepth) at byte 96");
      CHECK(r.faults[0].envelope.id == rpc_id::number(3));
      CHECK(r.faults[0].envelope.is_response);
      REQUIRE(r.faults[0].deep_answer.has_value() == (levels < 10'000));
      if (levels >= 10'000) continue;
      CHECK(r.faults[0].deep_answer->max_depth == 64);
      CHECK(r.faults[0].deep_answer->answer.result.text().size() == 2 * levels + 5);
    }
    // Requests, notifications and what is no message are never kept.
    for (const std::string& other :
         {nested(R"({"jsonrpc":"2.0","id":3,"method":"m","params":)", 64), "[" + nested(head, 64) + "]",
          nested(R"({"jsonrpc":"2.0","id":3,"x":)", 64), nested(R"({"jsonrpc":"1.0","id":3,"result":)", 64),
          nested(head, 64) + ",", nested(head, 64).substr(0, 150)}) {
      CAPTURE(other);
      const auto r = read_lines(other + "\n", options, step);
      CHECK(r.messages.empty());
      REQUIRE(r.faults.size() == 1);
      CHECK_FALSE(r.faults[0].deep_answer);
    }
  }
}

TEST_CASE("G11: an oversized line is refused when it passes the limit and its memory is free at once") {
  const std::size_t base = byte_account::total();
  recorded_lines sink;
  line_framer framer({.max_message_bytes = 1u << 20});
  framer.feed(R"({"jsonrpc":"2.0","id":9,"result":{"text":")", sink);
  const std::string part(64u << 10, 'x');
  std::size_t most = 0;
  for (int i = 0; i < 800; ++i) {
    framer.feed(part, sink);
    most = std::max(most, byte_account::total() - base);
    if (i == 16) {
      REQUIRE(sink.faults.size() == 1);
      CHECK(framer.held() == 0);
      CHECK(byte_account::total() - base < 100);  // the id
    }
  }
  CHECK(most < (2u << 20));
  REQUIRE(sink.faults.size() == 1);
  CHECK(sink.faults[0].type == kind::oversized);
  CHECK(sink.faults[0].bytes == (1u << 20) + 1);
  CHECK(sink.faults[0].envelope.id == rpc_id::number(9));
  CHECK(sink.faults[0].envelope.is_response);
  CHECK(sink.faults[0].excerpt.starts_with("{\"jsonrpc\""));
  framer.feed("\"}}\n" + pong + "\n", sink);
  CHECK(sink.messages.size() == 1);
  CHECK(sink.faults.size() == 1);
  sink = {};
  CHECK(byte_account::total() == base);
}

TEST_CASE("G11: the limit is exact and so is an endless line of noise") {
  const std::string text = R"({"jsonrpc":"2.0","method":"x"})";
  CHECK(read_lines(text + "\n", {.max_message_bytes = text.size()}).messages.size() == 1);
  const auto over = read_lines(text + "\n", {.max_message_bytes = text.size() - 1, .max_message_bytes_key = "a.key"});
  CHECK(over.messages.empty());
  REQUIRE(over.faults.size() == 1);
  CHECK(over.faults[0].type == kind::oversized);
  CHECK(over.faults[0].envelope.what == "the message is larger than 29 bytes (a.key)");
  for (std::size_t step : {0u, 1u, 7u}) {
    const auto noise = read_lines(std::string(5000, '#') + "\n" + text + "\n", {.max_message_bytes = 1000}, step);
    REQUIRE(noise.faults.size() == 1);
    CHECK(noise.faults[0].type == kind::noise);
    CHECK(noise.faults[0].bytes == 1001);
    CHECK(noise.messages.size() == 1);
  }
}

TEST_CASE("G11: a large message is refused when too many bytes are held and a small one never") {
  const std::size_t before = byte_account::limit();
  byte_account::set_limit(byte_account::total() + (256u << 10));
  const std::string large = R"({"jsonrpc":"2.0","id":4,"result":{"t":")" + std::string(1u << 20, 'x') + "\"}}";
  for (std::size_t step : {0u, 65536u}) {
    const auto r = read_lines(large + "\n" + pong + "\n", {}, step);
    REQUIRE(r.faults.size() == 1);
    CHECK(r.faults[0].type == kind::oversized);
    CHECK(r.faults[0].envelope.id == rpc_id::number(4));
    CHECK(r.messages.size() == 1);
  }
  byte_account::set_limit(0);
  CHECK(read_lines(ping + "\n").messages.size() == 1);
  CHECK(read_lines(ping + "\n", {}, 3).messages.size() == 1);
  byte_account::set_limit(before);
}

TEST_CASE("a large message is handed over in the buffer that gathered it") {
  const std::string large = R"({"jsonrpc":"2.0","id":4,"result":{"t":")" + std::string(300'000, 'x') + "\"}}";
  const auto r = read_lines(large + "\n", {}, 65536);
  REQUIRE(r.messages.size() == 1);
  CHECK(r.messages[0].whole.text() == large);
  CHECK(r.messages[0].whole.owner().size() <= large.size() + 2);
}

TEST_CASE("a large message stays where it was read, and what follows it in the same read comes next") {
  const std::string large = R"({"jsonrpc":"2.0","id":4,"result":{"t":")" + std::string(300'000, 'x') + "\"}}";
  const std::string text = large + "\n" + pong + "\n" + ping + "\n";
  const std::string_view all = text;
  recorded_lines sink;
  line_framer framer({});
  constexpr std::size_t part = 30'000;
  std::size_t in_room = 0;
  for (std::size_t at = 0; at < all.size(); at += part)
    in_room += feed_from_room(framer, all.substr(at, part), sink) ? 1 : 0;
  CHECK(in_room > 3);
  REQUIRE(sink.messages.size() == 3);
  CHECK(sink.messages[0].whole.text() == large);
  CHECK(sink.messages[1].whole.text() == pong);
  CHECK(sink.messages[2].whole.text() == ping);
  CHECK(framer.room(1).empty());
}

TEST_CASE("G12: invalid UTF-8 of a tool server is repaired and of a caller refused") {
  const std::string text = "{\"jsonrpc\":\"2.0\",\"result\":{\"t\":\"caf\xE9 \xE2\x82\"},\"id\":2}\n";
  for (std::size_t step : {0u, 1u, 9u}) {
    recorded_lines sink;
    line_framer framer({.repair_utf8 = true});
    for (std::size_t at = 0; at < text.size(); at += step == 0 ? text.size() : step)
      framer.feed(text.substr(at, step == 0 ? text.size() : step), sink);
    REQUIRE(sink.messages.size() == 1);
    CHECK(sink.messages[0].result.text() == "{\"t\":\"caf\uFFFD \uFFFD\"}");
    CHECK(sink.messages[0].id == rpc_id::number(2));
    CHECK(framer.repaired_utf8() == 2);
    const auto strict = read_lines(text, {}, step);
    CHECK(strict.messages.empty());
    REQUIRE(strict.faults.size() == 1);
    CHECK(strict.faults[0].type == kind::malformed);
    CHECK(strict.faults[0].envelope.code == code::parse_error);
    CHECK(strict.faults[0].envelope.what == "invalid UTF-8 at byte 36");
  }
}

TEST_CASE("a line that the end of the stream cuts off is a fault") {
  const auto r = read_lines(R"({"jsonrpc":"2.0","id":5,"result":{)");
  REQUIRE(r.faults.size() == 1);
  CHECK(r.faults[0].type == kind::malformed);
  CHECK(r.faults[0].envelope.what == "the line was cut off");
  CHECK(r.faults[0].envelope.id == rpc_id::number(5));
  CHECK(read_lines("  \t").log.empty());
  CHECK(read_lines("").log.empty());
  CHECK(read_lines("bye").faults.at(0).type == kind::noise);
  CHECK(read_lines("12").faults.at(0).type == kind::noise);
}

TEST_CASE("what is found does not depend on how the bytes were cut") {
  const std::string text = "\xEF\xBB\xBFstarting\n" + ping + "\r\n\n[INFO] x\n" + pong + "\n" +
                           "{\"jsonrpc\":\"2.0\",\"id\":\"\\u0061\xC3\xA9\",\"method\":\"a\\/"
                           "b\",\"params\":{\"x\":[1,\"\xE2\x82\xAC\"]}}\n" +
                           "{\"id\":3,\"result\":{\"a\":\x01}}\n" + "[[[[[[[[[[[[]]]]\n" + "{\"id\":1,\"result\":\"" +
                           std::string(300, 'y') + "\"}\n" + "{\"jsonrpc\":\"2.0\",\"method\":\"bad \xFF utf8\"}\n[" +
                           ping + "]\n{\"id\":77,\"result\":{";
  for (const bool repair : {false, true}) {
    const line_framer::options options{.max_message_bytes = 250, .max_depth = 8, .repair_utf8 = repair};
    const std::string whole = read_lines(text, options).log;
    for (std::size_t step = 1; step < 80; ++step) {
      CHECK(read_lines(text, options, step).log == whole);
      CHECK(read_lines(text, options, step, true).log == whole);
    }
    for (std::size_t at = 0; at <= text.size(); ++at) {
      recorded_lines sink;
      line_framer framer(options);
      framer.feed(text.substr(0, at), sink);
      CHECK(framer.held() <= options.max_message_bytes);
      framer.feed(text.substr(at), sink);
      framer.finish(sink);
      CHECK(sink.log == whole);
    }
  }
}

}  // namespace
