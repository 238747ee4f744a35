// work_per_byte: what strangers can make mcpbx do with the bytes that they write. Each row is one input of n, 2n and 4n
// bytes (or as many things), its CPU time in milliseconds, and how much longer four times as much took. 4 is linear.
// The largest n is the configured limit where there is one: its time is what the speaking thread is held up.
#include "daemon/loop/core/answer_format.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "mcp/client/catalog/catalog_builder.hpp"
#include "mcp/client/session/feature_lister.hpp"
#include "mcp/http/server/request_parser.hpp"
#include "mcp/json/canonical_json.hpp"
#include "mcp/json/quoted_size.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/rpc/line_framer.hpp"
#include "mcp/server/base/param_reader.hpp"
#include "mcp/server/caller_session.hpp"
#include "mcp/support/sse_parser.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/json_repair.hpp"
#include "providers/schema/adapt/adapt.hpp"
#include "providers/schema/validator/json_schema.hpp"
#include "providers/schema/validator/schema_pattern.hpp"
#include "providers/text/native_parser.hpp"
#include "providers/text/stop_finder.hpp"
#include "providers/wire/openai/delta_merge.hpp"
#include "test/providers/text/parse.hpp"
#include "test/providers/wire/decode.hpp"
#include "test/support/manual_time.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::redact;

double cpu_ms() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

/// Made of n; what it returns is measured.
using prepared = std::function<void()>;
struct row {
  std::string name;
  std::size_t largest;  // 4n
  std::function<prepared(std::size_t n)> make;
};

std::string many(std::size_t n, std::string_view text, std::string_view between = ",") {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) {
    if (i != 0) all += between;
    for (const char c : text) {
      if (c == '#')
        all += std::to_string(i);
      else
        all += c;
    }
  }
  return all;
}
/// `text` again and again, `bytes` in all.
std::string filled(std::size_t bytes, std::string_view text, std::string_view between = "") {
  std::string all(text);
  while (all.size() + between.size() + text.size() <= bytes) all.append(between).append(text);
  return all;
}
raw_json object_of(std::size_t bytes, std::string_view member) {
  return raw_json::own("{" + filled(bytes, member, ",") + "}");
}
raw_json array_of(std::size_t bytes, std::string_view element) {
  return raw_json::own("[" + filled(bytes, element, ",") + "]");
}

struct nobody final : mcp::rpc::message_sink {
  void on_message(mcp::rpc::message&& m) override { (void)mcp::server::param_reader(m.params); }
  void on_fault(mcp::rpc::message_fault) override {}
};

struct silent_host final : mcp::server::caller_host {
  void send(const mcp::server::answered&, const segments& text) override { bytes += text.size(); }
  void send_progress(std::uint64_t, const segments&) override {}
  void send_list_changed(const mcp::protocol::feature_kind&, const segments&) override {}
  void send_ask(std::uint64_t, const segments&, mcp::rpc::outgoing) override {}
  void send_note(const mcp::server::note&, const segments&) override {}
  time_source& time() override { return clock; }
  const std::string& principal() const override { return who; }
  mcp::catalogs::catalog_ptr tools() const override { return catalog; }
  void when_settled(milliseconds, std::function<void()> then) override { then(); }
  bool handle(std::string_view, const raw_json&, const mcp::server::reply_once& reply) override {
    open.push_back(reply);
    return true;
  }
  std::vector<std::string_view> methods() const override { return {}; }
  mcp::catalogs::catalog_ptr catalog =
      std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>(), 1);
  test::manual_time clock;
  std::string who = "uid:1000";
  std::vector<mcp::server::reply_once> open;
  std::size_t bytes = 0;
};
struct session_sink final : mcp::rpc::message_sink {
  explicit session_sink(mcp::catalogs::catalog_ptr tools) {
    host.catalog = std::move(tools);
    feed(R"({"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25"}})"
         "\n");
  }
  void feed(std::string_view lines) { framer.feed(lines, *this); }
  void on_message(mcp::rpc::message&& m) override { session.on_message(std::move(m)); }
  void on_fault(mcp::rpc::message_fault f) override { session.on_fault(f); }
  silent_host host;
  mcp::callers::caller_session::options options;
  mcp::callers::caller_session session{host, options};
  mcp::rpc::line_framer framer{mcp::rpc::line_framer::options{}};
};

raw_json page_of_tools(std::size_t n) {
  return raw_json::own(R"({"tools":[)" +
                       many(n, R"({"name":"some_tool_with_a_name_#","description":"does something useful",)"
                               R"("inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}})") +
                       "]}");
}
mcp::catalogs::catalog_ptr catalog_of(std::size_t n) {
  mcp::session::feature_lister lister(mcp::protocol::tool_kind());
  (void)lister.take_page(page_of_tools(n));
  mcp::catalogs::catalog_builder b({{.name = "server", .tools = {}, .owner = {}}});
  b.set_list(0, mcp::protocol::tool_kind(),
             std::make_shared<const std::vector<mcp::protocol::feature_item>>(lister.take_items()));
  return b.build();
}

template <class F>
auto with(F&& make_input, auto&& work) {
  return [make_input, work](std::size_t n) -> prepared {
    auto input = std::make_shared<decltype(make_input(n))>(make_input(n));
    return [input, work] { work(*input); };
  };
}
void decode_chat(const std::string& events) {
  (void)test::decode(events);
}
std::string event_of(const std::string& json) {
  return "data: " + json + "\n\n";
}
row text_row(std::string format, std::string name, std::string_view unit, std::size_t step = 1,
             std::size_t largest = 1U << 20) {
  return {"text " + format + ", " + name + (step == 1 ? ", byte by byte" : ""), largest,
          [format, unit = std::string(unit), step](std::size_t n) -> prepared {
            auto text = std::make_shared<std::string>(filled(n, unit));
            return [format, step, text] {
              if (format != "native") return (void)test::parse_text(format, *text, step);
              test::parsed_text got;
              providers::text::native_parser parser(providers::text::marks::offered_tools(test::vector_tools()), {});
              for (std::size_t at = 0; at < text->size(); at += step)
                parser.feed(std::string_view(*text).substr(at, step), got);
              (void)parser.finish(got);
            };
          }};
}

std::vector<row> rows() {
  constexpr std::size_t M = 1U << 20;
  std::vector<row> all;
  const auto add = [&](std::string name, std::size_t largest, auto make_input, auto work) {
    all.push_back({std::move(name), largest, with(make_input, work)});
  };
  const auto small_members = [](std::size_t n) { return object_of(n, R"("":0)"); };
  const auto zeros = [](std::size_t n) { return array_of(n, "0"); };
  // Messages.
  add("raw_object::open of ,\"\":0", 32 * M, small_members, [](const raw_json& j) { (void)raw_object::open(j); });
  add("find_member in ,\"\":0", 32 * M, small_members, [](const raw_json& j) { (void)find_member(j, "x"); });
  add("read_members in ,\"\":0", 32 * M, small_members, [](const raw_json& j) { (void)read_members(j, {"x", "y"}); });
  add("params of ,\"\":0, their turn", 32 * M, small_members,
      [](const raw_json& j) { (void)mcp::server::param_reader(j); });
  add(
      "params: a list of texts", 32 * M,
      [](std::size_t n) { return raw_json::own(R"({"t":[)" + filled(n, R"("")", ",") + "]}"); },
      [](const raw_json& j) { (void)mcp::server::param_reader(j).texts("t"); });
  add(
      "one line of ,\"\":0, all of its reads", 32 * M,
      [](std::size_t n) {
        return R"({"jsonrpc":"2.0","method":"m","params":)" + std::string(object_of(n, R"("":0)").text()) + "}\n";
      },
      [](const std::string& line) {
        nobody sink;
        mcp::rpc::line_framer framer{mcp::rpc::line_framer::options{}};
        for (std::size_t at = 0; at < line.size(); at += 65'536)
          framer.feed(std::string_view(line).substr(at, 65'536), sink);
      });
  add(
      "canonical_json of members", M / 2,
      [](std::size_t n) { return raw_json::own("{" + many(n / 12, R"("k#":0)") + "}"); },
      [](const raw_json& j) { (void)canonical_json(j); });
  add("canonical_json of a list", 2 * M, zeros, [](const raw_json& j) { (void)canonical_json(j); });
  add(
      "a read of pings", 65'536,
      [](std::size_t n) {
        return filled(n, R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
                         "\n");
      },
      [](const std::string& lines) {
        session_sink(std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>(), 1)).feed(lines);
      });
  add(
      "a read of cancels, 1,024 open", 65'536,
      [](std::size_t n) {
        return filled(n, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9999}})"
                         "\n");
      },
      [](const std::string& lines) {
        session_sink s(std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>(), 1));
        s.feed(many(1024, R"({"jsonrpc":"2.0","id":#,"method":"x"})", "\n") + "\n" + lines);
      });
  for (const std::size_t tools : {300U, 1000U, 10'000U}) {
    const auto catalog = catalog_of(tools);
    add(
        "600 unknown names, " + std::to_string(tools) + " tools, in turns", 600,
        [catalog](std::size_t n) {
          std::string calls;
          for (std::size_t i = 1000; i < 1000 + n; ++i)  // names of one length: a search goes by that
            calls +=
                R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"server__some_tol_with_a_name_x)" +
                std::to_string(i) + "\"}}\n";
          return std::pair(std::make_shared<mcp::catalogs::catalog>(
                               std::vector(catalog->entries().begin(), catalog->entries().end()), 1),
                           std::move(calls));
        },
        [](const auto& in) { session_sink(in.first).feed(in.second); });
    add(
        "one unknown name, " + std::to_string(tools) + " tools", tools, [](std::size_t n) { return catalog_of(n); },
        [](const mcp::catalogs::catalog_ptr& c) { (void)c->similar("server__some_tol_with_a_name_x"); });
  }
  // Tools.
  add("a page of tools read", 10'000, page_of_tools, [](const raw_json& page) {
    mcp::session::feature_lister lister(mcp::protocol::tool_kind());
    (void)lister.take_page(page);
  });
  add("a catalog made", 10'000, [](std::size_t n) { return n; }, [](std::size_t n) { (void)catalog_of(n); });
  add(
      "tools/list made", 10'000, [](std::size_t n) { return catalog_of(n); },
      [](const mcp::catalogs::catalog_ptr& c) {
        (void)mcp::catalogs::catalog(std::vector(c->entries().begin(), c->entries().end()), 1).legacy_tools_list();
      });
  add(
      "a definition of very many arguments, adapted", M,
      [](std::size_t n) {
        return raw_json::own(R"({"type":"object","properties":{)" + many(n / 20, R"("p#":{"type":1})") + "}}");
      },
      [](const raw_json& j) { (void)providers::adapt::adapt_tool("t", "d", j); });
  add(
      "the same for gemini", M,
      [](std::size_t n) {
        return raw_json::own(R"({"type":"object","properties":{)" + many(n / 20, R"("p#":{"type":1})") + "}}");
      },
      [](const raw_json& j) { (void)providers::adapt::adapt_tool("t", "d", j, "gemini"); });
  // Schemas.
  add(
      "schema compiled: properties", M / 4,
      [](std::size_t n) {
        return raw_json::own(R"({"properties":{)" + many(n / 30, R"("p#":{"type":"string"})") + "}}");
      },
      [](const raw_json& j) { (void)providers::schema::json_schema::compile(j); });
  add(
      "schema compiled: a long enum", M - 64,
      [](std::size_t n) { return raw_json::own(R"({"enum":)" + std::string(array_of(n, "0").text()) + "}"); },
      [](const raw_json& j) { (void)providers::schema::json_schema::compile(j); });
  add(
      "pattern (?:a{19990}){0}…", M / 16, [](std::size_t n) { return filled(n, "(?:a{19990}){0}"); },
      [](const std::string& p) { (void)providers::schema::pattern::compile(p); });
  add(
      "pattern (?:){9999999}…", M / 16, [](std::size_t n) { return filled(n, "(?:){9999999}"); },
      [](const std::string& p) { (void)providers::schema::pattern::compile(p); });
  add(
      "schema of such patterns", M / 2,
      [](std::size_t n) {
        return raw_json::own(R"({"allOf":[)" + many(n / 40, R"({"pattern":"(?:a{19990}){0}#b{9}"})") + "]}");
      },
      [](const raw_json& j) { (void)providers::schema::json_schema::compile(j); });
  const auto checked = [](std::string_view schema) {
    auto made = std::make_shared<providers::schema::json_schema>(
        *providers::schema::json_schema::compile(raw_json::own(schema)));
    return [made](const raw_json& j) { (void)made->check(j); };
  };
  add("arguments checked: a list", 32 * M, zeros, checked(R"({"items":{"type":"integer"}})"));
  add(
      "arguments checked: members", 4 * M,
      [](std::size_t n) { return raw_json::own("{" + many(n / 12, R"("k#":0)") + "}"); },
      checked(R"({"additionalProperties":{"type":"integer"},"required":["k1"]})"));
  add("arguments checked: one name again and again", 8 * M, small_members, checked(R"({"required":["k"]})"));
  add(
      "arguments checked: unique items", 2 * M,
      [](std::size_t n) { return raw_json::own("[" + many(n / 8, "#") + "]"); }, checked(R"({"uniqueItems":true})"));
  add(
      "an answer's required names", M,
      [](std::size_t n) {
        return raw_json::own(R"({"type":"object","required":[)" + many(n / 24, R"("p#")") + R"(],"properties":{)" +
                             many(n / 24, R"("p#":{})") + "}}");
      },
      [](const raw_json& j) { (void)daemon::core::empty_choice(j); });
  // Input from models.
  add(
      "custom_content: two deltas of members", M,
      [](std::size_t n) {
        const auto one = "{" + many(n / 24, R"("k#":1)") + "}";
        return std::array{one, one};
      },
      [](const auto& deltas) { (void)providers::openai::merged_deltas(deltas); });
  add(
      "custom_content: lists with index", M,
      [](std::size_t n) {
        const auto one = "[" + many(n / 40, R"({"index":#})") + "]";
        return std::array{one, one};
      },
      [](const auto& deltas) { (void)providers::openai::merged_deltas(deltas); });
  add(
      "chat: reasoning* keys in one event", 4 * M,
      [](std::size_t n) { return event_of(R"({"choices":[{"delta":{)" + many(n / 20, R"("reasoning#":1)") + "}}]}"); },
      decode_chat);
  add(
      "chat: reasoning_details pieces in one event", 4 * M,
      [](std::size_t n) {
        return event_of(R"({"choices":[{"delta":{"reasoning_details":[)" +
                        many(n / 40, R"({"index":0,"type":"t","text":"a"})") + "]}}]}");
      },
      decode_chat);
  add(
      "chat: reasoning_details over events", 4 * M,
      [](std::size_t n) {
        return filled(n,
                      event_of(R"({"choices":[{"delta":{"reasoning_details":[{"index":0,"type":"t","text":"a"}]}}]})"));
      },
      decode_chat);
  add(
      "chat: tiny events", 4 * M,
      [](std::size_t n) { return filled(n, event_of(R"({"choices":[{"delta":{"content":"a"}}]})")); }, decode_chat);
  add(
      "chat: arguments in tiny pieces", 4 * M,
      [](std::size_t n) {
        return filled(
            n,
            event_of(
                R"({"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"1"}}]}}]})"));
      },
      decode_chat);
  add(
      "chat: many calls", 4 * M,
      [](std::size_t n) {
        return event_of(R"({"choices":[{"delta":{"tool_calls":[)" +
                        many(n / 60, R"({"index":#,"id":"a#","function":{"name":"f","arguments":"{}"}})") + "]}}]}");
      },
      decode_chat);
  add(
      "chat: an event of ,\"\":0", 16 * M,
      [](std::size_t n) { return event_of("{" + filled(n, R"("":0)", ",") + "}"); }, decode_chat);
  for (const std::string api : {"anthropic", "openai-responses", "gemini"})
    add(
        api + ": an event of ,\"\":0", 16 * M,
        [](std::size_t n) { return event_of("{" + filled(n, R"("":0)", ",") + "}"); },
        [api](const std::string& bytes) { (void)test::decode_as(api, bytes); });
  add(
      "responses: deltas of one item", 4 * M,
      [](std::size_t n) {
        return filled(
            n, event_of(R"({"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"a"})"));
      },
      [](const std::string& bytes) { (void)test::decode_as("openai-responses", bytes); });
  add(
      "responses: very many items", 4 * M,
      [](std::size_t n) {
        return many(
            n / 160,
            event_of(
                R"({"type":"response.output_item.added","output_index":#,"item":{"type":"function_call","id":"i#","call_id":"c#","name":"f","arguments":"{}"}})"),
            "");
      },
      [](const std::string& bytes) { (void)test::decode_as("openai-responses", bytes); });
  add(
      "anthropic: very many blocks", 4 * M,
      [](std::size_t n) {
        return event_of(R"({"type":"message_start","message":{}})") +
               many(n / 110,
                    event_of(R"({"type":"content_block_start","index":#,"content_block":{"type":"text","text":"a"}})"),
                    "");
      },
      [](const std::string& bytes) { (void)test::decode_as("anthropic", bytes); });
  add(
      "sse: lines without events, in many reads", 16 * M, [](std::size_t n) { return filled(n, "data:\n"); },
      [](const std::string& bytes) {
        sse_parser parser;
        sse_parser::event e;
        for (std::size_t at = 0; at < bytes.size(); at += 7) {
          std::string_view some = std::string_view(bytes).substr(at, 7);
          while (parser.next(some, e)) {
          }
        }
      });
  add(
      "stop a…ab of 400 kB", 4 * M, [](std::size_t n) { return std::string(n, 'a'); },
      [](const std::string& text) {
        providers::text::stop_finder finder({std::string(400'000, 'a') + "b"});
        for (std::size_t at = 0; at < text.size(); at += 16) (void)finder.feed(std::string_view(text).substr(at, 16));
      });
  // Repair.
  for (const auto& [name, unit] : {std::pair{"brackets", "[{"},
                                   {"quotes", "\"'"},
                                   {"words", "{a:b,"},
                                   {"backslashes", "\\\\\""},
                                   {"fences", "```json\n{"},
                                   {"comments", "/* "}})
    add(
        std::string("repair: ") + name, 4 * M, [unit](std::size_t n) { return "{\"a\":" + filled(n - 64, unit); },
        [](const std::string& text) { (void)providers::repair_json(text); });
  // Calls in text.
  for (const std::string format : {"native", "react", "hermes", "qwen3-coder", "llama3", "mistral", "xml", "glm",
                                   "harmony", "deepseek", "gemma", "minimax"})
    for (const auto& [name, unit] : {std::pair{"<", "<"},
                                     {"openings", "<tool_call>"},
                                     {"half calls", "<tool_call>{\"name\":\"search\",\"arguments\":{"},
                                     {"brackets", "[TOOL_CALLS][{"},
                                     {"actions", "Action: search\nAction Input: {\"q\":"},
                                     {"fences", "```\n{\"name\":"}})
      all.push_back(text_row(format, name, unit, 1, M / 4));
  // Strings.
  for (const auto& [name, unit] :
       {std::pair{"quotes", "\""}, {"a\"", "a\""}, {"controls", "\x01"}, {"é", "é"}, {"\\xff", "\xff"}}) {
    add(
        std::string("quoted: ") + name, 4 * M, [unit](std::size_t n) { return filled(n, unit); },
        [](const std::string& text) { (void)json_quoted(text); });
    add(
        std::string("quoted_size: ") + name, 4 * M, [unit](std::size_t n) { return filled(n, unit); },
        [](const std::string& text) { (void)quoted_size(text); });
    add(
        std::string("unescaped: ") + name, 4 * M, [unit](std::size_t n) { return json_quoted(filled(n, unit)); },
        [](const std::string& token) { (void)unescaped(token); });
  }
  // The rest.
  add(
      "printable: escapes", 16 * M, [](std::size_t n) { return filled(n, "\x1b\xc2\x85"); },
      [](const std::string& t) { (void)printable(t); });
  add(
      "cut_for_people", 16 * M, [](std::size_t n) { return filled(n, "\x1b\xc2\x85"); },
      [](const std::string& t) { (void)cut_for_people(t, 200); });
  add(
      "http: headers", 16'384, [](std::size_t n) { return "GET / HTTP/1.1\r\n" + filled(n - 64, "a:b\r\n") + "\r\n"; },
      [](const std::string& text) {
        http::servers::request_parser parser({});
        std::string held;
        for (const char c : text) {
          held += c;
          std::size_t used = 0;
          if (parser.put(held, used) != http::servers::request_parser::verdict::need_more) break;
          held.erase(0, used);
        }
      });
  add(
      "feed: deltas that nobody reads", 262'144, [](std::size_t n) { return n; },
      [](std::size_t n) {
        const auto feed = std::make_shared<daemon::run::run_feed>("r", daemon::run::run_feed::options{.keep = true});
        for (std::size_t i = 0; i < n; ++i) feed->push({daemon::run::run_event::kind::text, "", "some text", {}});
      });
  add(
      "feed: progress of one call and of many", 65'536, [](std::size_t n) { return n; },
      [](std::size_t n) {
        const auto feed = std::make_shared<daemon::run::run_feed>("r", daemon::run::run_feed::options{.keep = true});
        segments body;
        body.append_literal(R"({"type":"tool_progress"})");
        for (std::size_t i = 0; i < n; ++i)
          feed->push({daemon::run::run_event::kind::tool_progress, "c" + std::to_string(i % 4096), "", body});
      });
  add(
      "feed: logs that nobody reads", 65'536, [](std::size_t n) { return n; },
      [](std::size_t n) {
        const auto feed = std::make_shared<daemon::run::run_feed>("r", daemon::run::run_feed::options{.keep = true});
        segments body;
        body.append_literal(R"({"type":"tool_log"})");
        for (std::size_t i = 0; i < n; ++i) feed->push({daemon::run::run_event::kind::tool_log, "c", "", body});
      });
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view only = argc > 1 ? argv[1] : "";
  if (only == "--help") {
    std::puts(
        "usage: work_per_byte [WORD [TIMES]]      with a word, only the rows whose name has it; TIMES as much of each");
    return 0;
  }
  const std::size_t times = argc > 2 ? std::max(1, std::atoi(argv[2])) : 1;
  std::printf("%-52s %9s %9s %9s %9s %7s\n", "input", "4n", "n, ms", "2n, ms", "4n, ms", "4n : n");
  for (const row& r : rows()) {
    if (!r.name.contains(only)) continue;
    std::array<double, 3> ms{};
    for (std::size_t i = 0; i < 3; ++i) {
      ms[i] = 1e9;
      for (int again = 0; again < 2; ++again) {
        const auto work = r.make(times * r.largest >> (2 - i));
        const double begin = cpu_ms();
        work();
        ms[i] = std::min(ms[i], cpu_ms() - begin);
      }
    }
    const char* const mark = ms[2] > 50 ? "  over 50 ms" : "";
    const char* const steep = ms[2] > 2 && ms[2] > 6 * ms[0] ? "  steep" : "";
    std::printf("%-52s %9zu %9.2f %9.2f %9.2f %7.1f%s%s\n", r.name.c_str(), times * r.largest, ms[0], ms[1], ms[2],
                ms[2] / std::max(ms[0], 0.001), mark, steep);
    std::fflush(stdout);
  }
}
