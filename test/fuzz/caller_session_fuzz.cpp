// A caller's session in both eras: whatever lines a caller sends, and however its tool servers and the clock go on,
// each request has one answer at most, and nothing is left when the session closes.
#include "test/mcp/server/fake_session.hpp"

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;

void require(bool holds) {
  if (!holds) std::abort();
}

/// One conversation. A line of the input is a message of the caller; one that begins with '!' is an event.
struct conversation {
  explicit conversation(bool only_modern)
      : options{.version = "1", .only_modern = only_modern}, session(host, options) {
    host.table = &held;
    legacy->declared.extensions = raw_json::literal(R"({"x":{}})");
    modern->declared.extensions = raw_json::literal(R"({"o":{}})");
    host.catalog = make_catalog({.tools = {make_tool(legacy, "l", "t"), make_tool(modern, "m", "t")},
                                 .prompts = {make_feature(legacy, "p", "q")},
                                 .resources = {make_feature(legacy, "a:1", "a:1")},
                                 .extensions = {{"s", legacy, {{"x", {"x/*", "notifications/x/*"}}}, {}},
                                                {"n", modern, {{"bare", {}}}, {"o"}}}});
  }

  void event(std::string_view what) {
    for (const auto& server : {legacy, modern})
      for (std::size_t i = 0; i < server->calls.size(); ++i) {
        auto& call = server->calls[i];
        if (!call.done) continue;
        if (what.starts_with("!ask"))
          call.questions->ask({"s", "elicitation/create", {}}, [](mcp::rpc::call_outcome&&) {});
        if (what.starts_with("!which"))
          call.questions->ask({"s", "x/which", {}, {}, {"x"}}, [](mcp::rpc::call_outcome&&) {});
        if (what.starts_with("!note") && call.extension_note)
          call.extension_note({server == legacy ? "x" : "o"}, "notifications/x/hit", raw_json::literal("{}"));
        if (what.starts_with("!log") && call.log) call.log(raw_json::literal(R"({"level":"info"})"));
        if (what.starts_with("!end"))
          std::exchange(call.done, nullptr)({mcp::rpc::call_outcome::kind::result, raw_json::literal("{}"), {}});
      }
    if (what.starts_with("!hit"))
      for (const auto& server : {legacy, modern})
        for (const auto& weak : std::vector(server->heard_by))
          if (const auto told = weak.lock())
            (*told)({server == legacy ? "x" : "o"}, "notifications/x/hit", raw_json::literal("{}"));
    if (what.starts_with("!tick")) host.clock.advance(milliseconds(1000));
    if (what.starts_with("!late")) host.clock.advance(milliseconds(700'000));
    if (what.starts_with("!settle")) host.settle();
    if (what.starts_with("!changed")) session.list_changed(mcp::protocol::tool_kind());
    if (what.starts_with("!updated")) fake_client::tell(legacy->watching, "a:1", R"({"uri":"a:1"})");
    // The state that the caller was given last, in place of it.
    if (what.starts_with("!state"))
      for (const auto& line : std::vector(host.sent))  // each answer is one more
        if (const auto state = at(line, {"result", "requestState"}); !state.empty())
          line_of(request("\"again\"", "tools/call",
                          modern_params(R"("name":"l","requestState":)" + state + R"(,"inputResponses":{"q1":{}},)",
                                        R"({"elicitation":{}})")));
  }
  void line_of(std::string_view text) {
    struct sink final : mcp::rpc::message_sink {
      explicit sink(mcp::callers::caller_session& s) : to(s) {}
      void on_message(mcp::rpc::message&& m) override { to.on_message(std::move(m)); }
      void on_fault(mcp::rpc::message_fault f) override { to.on_fault(f); }
      mcp::callers::caller_session& to;
    } into(session);
    framer.feed(std::string(text) + "\n", into);
  }

  std::shared_ptr<fake_client> legacy = std::make_shared<fake_client>("s");
  std::shared_ptr<fake_client> modern = std::make_shared<fake_client>("n", mcp::clients::era::modern);
  fake_host host;
  mcp::callers::held_calls::options held_options{.max_calls = 4};
  mcp::callers::held_calls held{host.clock, held_options};
  mcp::callers::caller_session::options options;
  mcp::callers::caller_session session;
  mcp::rpc::line_framer framer{mcp::rpc::line_framer::options{.max_message_bytes = 4096}};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 || size > 8192) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  conversation c(data[0] % 4 == 3);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with('!'))
      c.event(line);
    else
      c.line_of(line);
  }
  for (const auto& server : {c.legacy, c.modern}) {
    // A requestState of ours never reaches a server.
    for (const auto& call : server->calls) require(!c.held.is_own(member_text(call.params, "requestState")));
    // A method of an extension goes where the entry names it; any other one to the server with an open extension.
    const auto fits = [&](std::string_view method) {
      return server == c.legacy ? method.starts_with("x/") || method.starts_with("notifications/x/")
                                : !mcp::protocol::is_reserved_method(method);
    };
    for (const auto& call : server->calls)
      require(!call.name.starts_with('(') || fits(call.method) || call.method.starts_with("tasks/"));
    for (const auto& method : server->notified) require(fits(method) && mcp::protocol::is_notification_name(method));
  }
  c.session.close();
  require(c.session.open() == 0);
  require(fake_client::held(c.legacy->watching, "a:1") == 0);
  const std::size_t sent = c.host.sent.size();
  c.event("!late");
  c.event("!end");
  require(c.host.sent.size() == sent);
  require(c.held.size() == 0);
  return 0;
}
