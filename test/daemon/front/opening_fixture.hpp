// A front door before one tool server with a prompt and resources, and callers whose runs begin with them.
#pragma once
#include "daemon/front/front_door.hpp"
#include "test/daemon/front/fake_backend.hpp"
#include "test/daemon/front/fake_transport.hpp"
#include "test/mcp/server/fake_host.hpp"
#include "test/support/contains.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::test {

inline mcp::catalogs::feature_entry_ptr opening_item(const std::shared_ptr<mcp::clients::client>& owner,
                                                     const std::string& key, const std::string& own) {
  auto e = std::make_shared<mcp::catalogs::feature_entry>();
  e->key = key;
  e->own_key = own;
  e->server = owner->name();
  e->owner = owner;
  return e;
}

struct opening_fixture {
  /// `of`: the tool server that calls; "": the person does.
  explicit opening_fixture(daemon::door::front_door::options o = {}, const std::string& of = "")
      : door(io.get_executor(), time, backend, std::move(o),
             [of](const mcp::socket::peer_credentials&) -> result<std::string> { return of; }) {
    std::vector<mcp::catalogs::feature_entries_ptr> others;
    for (const auto& kind : mcp::protocol::feature_kinds().subspan(1)) {
      std::vector<mcp::catalogs::feature_entry_ptr> entries;
      if (kind.id == mcp::protocol::kind_id::prompts) entries.push_back(opening_item(server, "s__p", "p"));
      if (kind.id == mcp::protocol::kind_id::resources) {
        entries.push_back(opening_item(server, "x://a", "x://a"));
        entries.push_back(opening_item(server, "x://b", "x://b"));
      }
      others.push_back(std::make_shared<mcp::catalogs::feature_entries>(kind, std::move(entries)));
    }
    auto routes = std::make_shared<mcp::catalogs::resource_routes>(
        std::vector<mcp::catalogs::resource_server>{{"s", "s", server, nullptr}},
        others.at(mcp::protocol::resource_kind().index() - 1), others.at(mcp::protocol::template_kind().index() - 1),
        std::make_shared<mcp::catalogs::seen_uris>());
    mcp::catalogs::catalog_offers offers;
    offers.extensions = json::raw_json::literal(R"({"com.example/find":{},"io.modelcontextprotocol/ui":{}})");
    offers.bare_extensions = json::raw_json::literal(R"({"io.modelcontextprotocol/ui":{}})");
    backend.catalog = std::make_shared<mcp::catalogs::catalog>(
        std::vector<mcp::catalogs::entry_ptr>(), 1, mcp::catalogs::withheld_tools(),
        std::vector<mcp::catalogs::dropped_item>(),
        mcp::catalogs::catalog_rest{
            .others = std::move(others),
            .offers = std::move(offers),
            .routes = std::move(routes),
            .extensions = std::make_shared<const std::vector<mcp::catalogs::extension_route>>(
                1, mcp::catalogs::extension_route{"s", server, {{"com.example/find", {"find/*"}}}})});
    door.accept(std::make_unique<fake_transport>(line), {1000, 100});
    turn();
  }
  ~opening_fixture() {
    door.close();
    turn();
  }
  void turn() {
    io.restart();
    io.poll();
  }
  void chat(std::string_view params, int id = 1) {
    line.say(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"mcpbx/chat","params":)" +
             std::string(params) + "}");
    turn();
  }
  std::string said() const { return line.sent.empty() ? "" : line.sent.back(); }

  boost::asio::io_context io;
  manual_time time;
  fake_backend backend;
  std::shared_ptr<fake_client> server = std::make_shared<fake_client>("s");
  fake_transport::line line, other;  // of this caller, and of second_caller
  daemon::door::front_door door;
};

/// Returns the id of a request in a line.
inline std::string id_in(const std::string& line) {
  const auto m = json::raw_json::parse(line);
  return m ? std::string(json::find_member(*m, "id").text()) : std::string();
}

inline json::segments feed_event(std::string_view body) {
  json::segments s;
  s.append_copy(std::string(body));
  return s;
}

inline constexpr std::string_view go_prompt =
    R"({"messages":[{"role":"user","content":{"type":"text","text":"Go."}}]})";

/// A run that waits for its prompt, whose server asks for input; its caller answers the questions of its runs.
struct asking_fixture : opening_fixture {
  asking_fixture() {
    chat(R"({"run":"mine","answers":true,"prompt":{"name":"s__p"}})");
    REQUIRE(server->calls.size() == 1);
    CHECK(contains(server->calls[0].caller.capabilities.text(), "elicitation"));
    handler = server->calls[0].questions;
    ticket = handler->ask({"s", "elicitation/create", json::raw_json::own(form)},
                          [this](mcp::rpc::call_outcome&& o) { answers.emplace_back(o.value.text()); });
    turn();
  }
  void answer(std::string_view members) {
    line.say(R"({"jsonrpc":"2.0","id":7,"method":"mcpbx/answer","params":{"run":"mine",)" + std::string(members) +
             "}}");
    turn();
  }
  bool was_said(std::string_view what) const {
    return std::ranges::any_of(line.sent, [&](const std::string& one) { return contains(one, what); });
  }
  static constexpr std::string_view form =
      R"({"message":"Which?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}})";
  std::shared_ptr<mcp::clients::question_handler> handler;
  mcp::clients::question_handler::ticket ticket = 0;
  std::vector<std::string> answers;
};

/// A second connection of the same person.
struct second_caller {
  explicit second_caller(opening_fixture& of) : f(of) {
    f.door.accept(std::make_unique<fake_transport>(line), {1000, 100});
    f.turn();
  }
  void say(const std::string& id, const std::string& method, const std::string& params) {
    line.say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":)" + params + "}");
    f.turn();
  }
  bool was_told(std::string_view what) const {
    return std::ranges::any_of(line.sent, [&](const std::string& one) { return contains(one, what); });
  }
  opening_fixture& f;
  fake_transport::line& line = f.other;
};

}  // namespace mcpbx::test
