// How a conversation begins: probe, handshake, first list; and how the list is kept afterwards.
#include "mcp/client/session/session_core.hpp"
#include "mcp/protocol/eras.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/support/log.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp {
namespace {

/// For requests that other rules end: the start time-out, or the server itself.
constexpr call_limits no_limits{milliseconds::max(), milliseconds::max()};
constexpr call_limits page_limits{milliseconds(60'000), milliseconds(60'000)};
constexpr milliseconds longest_probe{5'000};
constexpr milliseconds longest_ttl{86'400'000};
constexpr milliseconds first_listen_gap{1'000}, most_listen_gap{60'000};

bool same_definitions(const tool_list& a, const std::vector<tool_view>& b) {
  return a && std::ranges::equal(*a, b, [](const tool_view& x, const tool_view& y) {
           return x.definition.text() == y.definition.text();
         });
}

}  // namespace

void session_core::begin(time_point now) {
  now_ = now;
  if (revision::is_legacy(options_.protocol)) return initialize(options_.protocol);
  if (options_.skip_probe && options_.protocol == "auto") return initialize(revision::latest_legacy);
  discover();
}

void session_core::discover() {
  phase_ = phase::probing;
  ++probes_;
  // The era is not known yet, but the question is one of the modern era.
  era_ = era::modern;
  revision_ = revision::modern;
  probe_ = request("server/discover", {}, no_limits, [this](call_outcome o) { on_discover(std::move(o)); });
  era_ = era::unknown;
  revision_.clear();
  if (options_.protocol == "auto") fallback_at_ = now_ + std::min(longest_probe, options_.start_timeout / 3);
}

void session_core::on_discover(call_outcome outcome) {
  probe_ = 0;
  if (phase_ == phase::probing) {
    fallback_at_ = never;
    decide(read_probe(outcome, options_.protocol));
  } else if (phase_ == phase::initializing) {
    // Too late, but before the answer to initialize: a server that was slow to start, not one of the other era. A
    // verdict of a modern one counts at once; another one only if initialize fails as well.
    const auto verdict = read_probe(outcome, options_.protocol);
    const bool modern = verdict.type == probe_verdict::kind::modern || verdict.type == probe_verdict::kind::ask_again;
    if (!modern) {
      late_probe_ = std::move(outcome);
      return;
    }
    phase_ = phase::probing;
    // Not cancelled, which the handshake does not allow: whatever comes for it is late.
    pending_.close(std::exchange(initialize_, 0), call_outcome::failed(errc::cancelled, "the server is a modern one"));
    decide(verdict);
  }
}

void session_core::decide(const probe_verdict& verdict) {
  switch (verdict.type) {
    case probe_verdict::kind::modern:
      return opened(era::modern, verdict.revision, verdict.capabilities);
    case probe_verdict::kind::ask_again:
      if (probes_ < 2) return discover();
      return refuse("refuses revision " + verdict.revision + " and lists it as supported");
    case probe_verdict::kind::legacy:
      if (!handshake_failure_.empty()) return refuse(handshake_failure_);
      return initialize(verdict.revision);
    case probe_verdict::kind::refused:
      return refuse(verdict.why);
  }
}

void session_core::initialize(std::string_view revision) {
  phase_ = phase::initializing;
  fallback_at_ = never;
  const auto params =
      raw_json::own("{\"protocolVersion\":" + json_quoted(revision) +
                    ",\"capabilities\":{},\"clientInfo\":" + std::string(options_.own_info.text()) + "}");
  initialize_ = request("initialize", params, no_limits, [this](const call_outcome& o) { on_initialize(o); });
}

void session_core::on_initialize(const call_outcome& outcome) {
  initialize_ = 0;
  if (phase_ != phase::initializing) return;
  if (outcome.type != call_outcome::kind::result) {
    if (late_probe_) {
      const auto verdict = read_probe(*late_probe_, options_.protocol);
      if (verdict.type != probe_verdict::kind::legacy) return decide(verdict);
    }
    handshake_failure_ = "answered initialize with " + failure_text(outcome);
    if (probes_ != 0 || options_.protocol != "auto") return refuse(handshake_failure_);
    // It was a legacy server in an earlier life, but no life lasts for ever.
    return discover();
  }
  const auto agreed = find_member(outcome.value, "protocolVersion").as_string();
  if (!agreed) return refuse("answered initialize without a protocolVersion");
  if (!revision::is_legacy(*agreed))
    return refuse("wants to speak MCP revision \"" + cut_for_people(*agreed, 32) +
                  "\" after initialize, which mcpbx does not know");
  if (revision::is_legacy(options_.protocol) && *agreed != options_.protocol)
    return refuse("speaks MCP revision " + *agreed + ", but its entry insists on " + options_.protocol);
  if (probe_ != 0) pending_.close(probe_, call_outcome::failed(errc::cancelled, "the server is a legacy one"));
  output_.session_send(make_notification("notifications/initialized", raw_json()), outgoing());
  opened(era::legacy, *agreed, find_member(outcome.value, "capabilities"));
}

void session_core::opened(mcp::era e, std::string revision, const raw_json& capabilities) {
  era_ = e;
  revision_ = std::move(revision);
  phase_ = phase::listing;
  late_probe_.reset();
  const raw_json tools = find_member(capabilities, "tools");
  has_tools_ = tools.is_object();
  offers_listen_ = e == era::modern && find_member(tools, "listChanged").is_true();
  if (!has_tools_) {
    publish({});
    return;
  }
  if (offers_listen_) open_listen();  // before the list, so that no change falls between the two
  gate_.begin();
  begin_list();
}

void session_core::probe_was_silent() {
  if (!handshake_failure_.empty()) return refuse(handshake_failure_);
  initialize(revision::latest_legacy);
}

void session_core::refuse(std::string what) {
  phase_ = phase::closed;
  events_.session_refused({errc::unavailable, "tool server \"" + options_.server + "\" " + std::move(what)});
}

std::string_view session_core::waits_for() const {
  switch (phase_) {
    case phase::probing:
      return "server/discover";
    case phase::initializing:
      return "initialize";
    case phase::listing:
      return "tools/list";
    default:
      return "";
  }
}

void session_core::begin_list() {
  lister_.emplace(options_.listing);
  ask_page();
}

void session_core::ask_page() {
  page_ = request("tools/list", lister_->params(), phase_ == phase::listing ? no_limits : page_limits,
                  [this](const call_outcome& o) { on_page(o); });
}

void session_core::on_page(const call_outcome& outcome) {
  page_ = 0;
  if (phase_ == phase::closed) return;
  if (outcome.type != call_outcome::kind::result) return list_failed(failure_text(outcome));
  const auto more = lister_->take_page(outcome.value);
  if (!more) return list_failed("a result of the wrong shape: " + more.error().message);
  if (*more) return ask_page();
  list_ended();
}

void session_core::list_ended() {
  auto notices = lister_->notices();
  const bool others = notices != list_notices_;
  if (others)
    for (const std::string& n : notices) log::warn("tool server \"" + options_.server + "\": " + n);
  if (others || phase_ == phase::listing) events_.session_dropped(notices);
  list_notices_ = std::move(notices);
  auto tools = lister_->take_tools();
  stale_at_ = now_ + std::min(lister_->ttl(), longest_ttl);
  lister_.reset();
  list_problem_.clear();
  const bool differs = !same_definitions(tools_, tools);
  gate_.finished(now_, differs);
  if (differs || phase_ == phase::listing) publish(std::move(tools));
  pump();
}

void session_core::list_failed(const std::string& why) {
  lister_.reset();
  gate_.failed(now_);
  const std::string text = "tool server \"" + options_.server + "\" answered tools/list with " + why;
  if (text != list_problem_) log::warn(text);
  list_problem_ = text;
  events_.session_problem(text);
  // A server whose list is broken is up all the same; the list is asked for again.
  if (phase_ != phase::listing) return;
  events_.session_dropped({});
  publish({});
}

void session_core::publish(std::vector<tool_view> tools) {
  tools_ = std::make_shared<const std::vector<tool_view>>(std::move(tools));
  events_.session_tools(tools_);
  if (phase_ != phase::listing) return;
  phase_ = phase::ready;
  events_.session_ready();
}

void session_core::list_wanted(time_point now) {
  now_ = now;
  if (phase_ != phase::ready || era_ != era::modern || offers_listen_ || stale_at_ > now) return;
  stale_at_ = never;
  gate_.changed(now);
  pump();
}

void session_core::pump() {
  if (phase_ == phase::ready && has_tools_ && gate_.start(now_)) begin_list();
}

void session_core::open_listen() {
  listen_at_ = never;
  listen_since_ = now_;
  listen_ = request("subscriptions/listen", raw_json::literal(R"({"notifications":{"toolsListChanged":true}})"),
                    no_limits, [this](const call_outcome& o) { listen_ended(o); });
}

void session_core::listen_ended(const call_outcome& outcome) {
  listen_ = 0;
  if (phase_ == phase::closed) return;
  if (outcome.type == call_outcome::kind::error) {
    const auto refused = find_member(outcome.value, "code").as_integer();
    if (refused == code::method_not_found || refused == code::invalid_params) {
      offers_listen_ = false;
      return log_sometimes("refuses subscriptions/listen, so changes of its tools go unnoticed");
    }
  }
  if (now_ - listen_since_ >= most_listen_gap) listens_failed_ = 0;
  listen_at_ = now_ + std::min(most_listen_gap, first_listen_gap * (1 << std::min(listens_failed_++, 6)));
}

}  // namespace mcpbx::mcp
