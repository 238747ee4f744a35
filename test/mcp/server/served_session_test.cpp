// The conversation that all servers of this tree share, with a server of one method.
#include "mcp/server/base/served_session.hpp"

#include "mcp/protocol/revisions.hpp"

#include <doctest/doctest.h>

#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace mcpbx::mcp;
using mcpbx::json::json_writer;
using mcpbx::json::raw_json;
using mcpbx::json::segments;

namespace {

class sent_lines final : public server::reply_outbox {
 public:
  void send(const server::answered& what, const segments& text) override {
    errors.push_back(what.error);
    lines.push_back(text.str());
  }
  void send_nothing(std::uint64_t about) override { silent.push_back(about); }
  std::vector<std::string> lines;
  std::vector<int> errors;
  std::vector<std::uint64_t> silent;
};

/// Has one method, "wait", which is answered only when the test says so.
class waiting_server final : public server::served_session {
 public:
  waiting_server(sent_lines& out, bool both_eras, const rules& r = {}) : served_session(out, r) {
    const auto wait = [](waiting_server& s, const raw_json&, const server::reply_once& reply) {
      reply.on_cancel([&s] { ++s.cancelled; });
      s.waiting.push_back(reply);
    };
    add_legacy_opening(tables.legacy);
    tables.legacy.add("wait", wait);
    if (!both_eras) return;
    add_modern_opening(tables.modern);
    tables.modern.add("wait", wait);
  }
  void say(std::string_view text) {
    auto m = rpc::parse_message(raw_json::own(text));
    REQUIRE(m.has_value());
    on_message(std::move(*m));
  }
  void open(std::string_view revision = "2025-11-25") {
    say(R"({"jsonrpc":"2.0","id":"o","method":"initialize","params":{"protocolVersion":")" + std::string(revision) +
        "\"}}");
  }

  server::method_tables<waiting_server> tables;
  std::vector<server::reply_once> waiting;
  int cancelled = 0;

 private:
  void dispatch(const rpc::message& m, server::reply_once reply) override {
    if (!call_handler(*this, tables, m, reply)) reply.error(rpc::rpc_error{rpc::code::method_not_found, "none", {}});
  }
  std::expected<std::string, rpc::rpc_error> read_opening(const raw_json& params) override {
    return mcpbx::json::member_text(params, "protocolVersion");
  }
  void write_capabilities(json_writer& out, std::string_view revision) const override {
    out.member("capabilities", raw_json::own(mcpbx::json::json_object("seen", revision)));
  }
  raw_json make_server_info() const override { return raw_json::literal(R"({"name":"waiter"})"); }
  std::string instructions() const override { return "Wait."; }
  bool take_broken_response(const rpc::envelope_fault& f) override { return f.answers; }
};

std::string modern_request(std::string_view method) {
  return R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) +
         R"(","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
         R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
}

}  // namespace

TEST_CASE("served_session: initialize agrees on a revision and says what the server is") {
  sent_lines out;
  waiting_server s(out, true);
  CHECK_FALSE(s.initialized());
  s.open("2025-06-18");
  REQUIRE(out.lines.size() == 1);
  CHECK(out.lines[0] ==
        R"({"jsonrpc":"2.0","id":"o","result":{"protocolVersion":"2025-06-18","capabilities":{"seen":"2025-06-18"},)"
        R"("serverInfo":{"name":"waiter"},"instructions":"Wait."}})");
  CHECK(s.revision() == "2025-06-18");
  s.open("1999-01-01");
  CHECK(s.revision() == protocol::revision::latest_legacy);
}

TEST_CASE("served_session: server/discover needs no session") {
  sent_lines out;
  waiting_server s(out, true);
  s.say(modern_request("server/discover"));
  REQUIRE(out.lines.size() == 1);
  CHECK(out.lines[0].find(R"("supportedVersions":["2026-07-28"],"capabilities":{"seen":"2026-07-28"})") !=
        std::string::npos);
  CHECK(out.lines[0].find("waiter") != std::string::npos);
  CHECK_FALSE(s.initialized());
}

TEST_CASE("served_session: a server without modern methods does not read _meta") {
  sent_lines out;
  waiting_server s(out, false);
  s.say(modern_request("wait"));
  REQUIRE(out.lines.size() == 1);
  CHECK(out.lines[0].find("send initialize first") != std::string::npos);
  s.open();
  s.say(modern_request("wait"));
  REQUIRE(s.waiting.size() == 1);
  CHECK(s.waiting[0].modern() == nullptr);
  s.waiting[0].result(raw_json::literal("{}"));
  CHECK(out.lines.back() == R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

TEST_CASE("served_session: a cancelled request is not answered and its work ends") {
  sent_lines out;
  waiting_server s(out, false);
  s.open();
  s.say(R"({"jsonrpc":"2.0","id":1,"method":"wait"})");
  CHECK(s.served_session::open() == 1);
  s.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}})");  // another id
  CHECK(s.cancelled == 0);
  s.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  CHECK(s.cancelled == 1);
  CHECK(s.served_session::open() == 0);
  CHECK(out.silent == std::vector<std::uint64_t>{2});
  s.waiting[0].result(raw_json::literal("{}"));
  CHECK(out.lines.size() == 1);
}

TEST_CASE("served_session: ids in use and too many open requests are refused in the server's words") {
  sent_lines out;
  waiting_server s(out, false, {.max_open = 2, .words = {.invalid_request = "No: ", .end = "!"}});
  s.open();
  s.say(R"({"jsonrpc":"2.0","id":1,"method":"wait"})");
  s.say(R"({"jsonrpc":"2.0","id":1,"method":"wait"})");
  CHECK(out.lines.back().find("No: the id 1 is in use by a request that is still open!") != std::string::npos);
  s.say(R"({"jsonrpc":"2.0","id":2,"method":"wait"})");
  s.say(R"({"jsonrpc":"2.0","id":3,"method":"wait"})");
  CHECK(out.errors.back() == rpc::code::overloaded);
  CHECK(s.counts().requests == 5);
  CHECK(s.counts().overloaded == 1);
  s.waiting.clear();  // each that was forgotten is answered with an error
  CHECK(out.errors.back() == rpc::code::internal_error);
}

TEST_CASE("served_session: replies that outlive it go nowhere") {
  sent_lines out;
  server::reply_once reply;
  {
    waiting_server s(out, false);
    s.open();
    s.say(R"({"jsonrpc":"2.0","id":1,"method":"wait"})");
    reply = s.waiting[0];
    reply.on_cancel(nullptr);
  }
  CHECK_FALSE(reply.open());
  reply.result(raw_json::literal("{}"));
  CHECK(out.lines.size() == 1);
}
