// A conversation with a tool server that says anything: opened in either era, with lists, calls, questions and watches.
// Each call has one outcome, each question one answer at most, and what is sent is well-formed.
#include "mcp/client/session/session_core.hpp"

#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::catalogs;
using namespace mcpbx::mcp::clients;
using namespace mcpbx::mcp::protocol;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::mcp::session;

void require(bool holds) {
  if (!holds) std::abort();
}

class conversation final : session_output, session_events {
 public:
  conversation()
      : core_({.server = "srv",
               .own_info = raw_json::literal(R"({"name":"mcpbx"})"),
               .protocol = "auto",
               .listing = {},
               .extensions = {.named = {{"x", {"x/*", "notifications/x/*"}}}, .open = true}},
              *this, *this) {
    core_.begin(now_);
  }
  ~conversation() override {
    core_.close(errc::unavailable, "over");
    require(outcomes_ == calls_);
  }
  conversation(const conversation&) = delete;
  conversation& operator=(const conversation&) = delete;

  void hear(std::string_view line) {
    // Some lines stand for what mcpbx does itself.
    if (line == "call") return call();
    if (line == "time") return pass(milliseconds(1'000));
    if (line == "minute") return pass(milliseconds(61'000));
    if (line == "watch") return core_.watch({"a:1", "a:" + std::to_string(++watched_)}, now_);
    if (line == "unwatch") return core_.watch({}, now_);
    if (line == "level") return core_.set_log_level("info", now_);
    if (line == "roots") return core_.tell_roots_changed();
    if (line == "answer") return answer();
    if (line == "rules")
      return core_.set_extensions(
          {.named = {{"x", {"x/*", "notifications/x/*"}}}, .open = (open_rules_ = !open_rules_)});
    if (line == "cancel") {
      core_.cancel(last_, "enough");
      return;
    }
    auto m = parse_message(raw_json::own(line));
    if (m) return core_.on_message(std::move(*m), now_);
    message_fault fault;
    fault.type = m.error().id.empty() ? message_fault::kind::noise : message_fault::kind::malformed;
    fault.envelope = std::move(m.error());
    core_.on_fault(fault, now_);
  }

 private:
  bool passes(std::string_view method) const {
    const bool named = method.starts_with("x/") || method.starts_with("notifications/x/");
    return !is_reserved_method(method) && (open_rules_ || named);
  }
  void call() {
    if (!core_.ready() || calls_ - outcomes_ >= 16) return;
    server_call c;
    c.params = raw_json::literal(R"({"name":"echo"})");
    const auto n = core_.call(c, {}, now_, [this](call_outcome&&) { ++outcomes_; }, {});
    if (!n) return;
    ++calls_;
    last_ = *n;
  }
  void pass(milliseconds by) {
    now_ += by;
    core_.tick(now_);
  }
  void answer() {
    if (open_.empty()) return;
    const auto id = open_.begin()->second;
    open_.erase(open_.begin());
    core_.answer(id, {call_outcome::kind::result, raw_json::literal("{}"), {}});
    const auto before = sent_;
    core_.answer(id, {call_outcome::kind::result, raw_json::literal("{}"), {}});
    require(sent_ == before);
  }

  void session_send(const segments& text, outgoing) override {
    ++sent_;
    require(parse_message(raw_json::own(text.str())).has_value());
  }
  std::size_t session_unsent() const override { return 0; }
  void session_ready() override { require(!std::exchange(ready_, true)); }
  void session_refused(const error& why) override { require(!why.message.empty()); }
  void session_dropped(const feature_kind&, std::vector<std::string>) override {}
  void session_list(const feature_kind&, feature_list list) override { require(list != nullptr); }
  void session_offers(const server_offers& offers) override { require(offers.known); }
  void session_hints(const feature_kind&, const std::optional<told_hints>&) override {}
  void session_list_changed(const feature_kind&) override { require(ready_); }
  void session_extension_note(std::string_view method, const raw_json&) override { require(passes(method)); }
  void session_asks(const rpc_id& id, std::string_view method, raw_json) override {
    require(is_reserved_method(method) || passes(method));
    require(core_.era() == era::legacy || core_.era() == era::unknown);
    require(open_.emplace(id.key(), id).second);
    require(open_.size() <= session_core::most_questions);
  }
  void session_asks_no_more(const rpc_id& id) override { require(open_.erase(id.key()) == 1); }
  void session_updated(const raw_json&) override {}
  void session_note(std::string_view, const raw_json&) override {}
  void session_late_progress(call_number, const raw_json&) override {}
  void session_late_result(call_number, const raw_json&) override {}
  void session_problem(const std::string&) override {}
  void session_log(const raw_json&) override {}
  void session_hangs(const std::string&) override {}

  session_core core_;
  time_point now_ = time_point{} + std::chrono::hours(1);
  std::map<std::string, rpc_id> open_;
  int calls_ = 0, outcomes_ = 0, watched_ = 0;
  std::uint64_t sent_ = 0;
  call_number last_ = 0;
  bool ready_ = false, open_rules_ = true;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The input is what the server says, line by line; a few words stand for what mcpbx does in between.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  conversation c;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    if (end > begin) c.hear(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return 0;
}
