// Opens a conversation: probe, handshake, and the request for the first lists.
#include "mcp/client/session/session_core.hpp"
#include "mcp/protocol/eras.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/redact/cut_text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::session {
namespace {

constexpr milliseconds longest_probe{5'000};
constexpr std::size_t longest_instructions = 4096;

}  // namespace

void session_core::begin(time_point now) {
  now_ = now;
  if (protocol::revision::is_legacy(options_.protocol)) return initialize(options_.protocol);
  if (options_.skip_probe && options_.protocol == "auto") return initialize(protocol::revision::latest_legacy);
  discover();
}

void session_core::discover() {
  phase_ = phase::probing;
  ++probes_;
  // The era is not known yet, but this request belongs to the modern era.
  era_ = clients::era::modern;
  revision_ = protocol::revision::modern;
  probe_ = request("server/discover", {}, no_limits, [this](rpc::call_outcome o) { on_discover(std::move(o)); });
  era_ = clients::era::unknown;
  revision_.clear();
  // Silence tells nothing where each request has an exchange of its own: an old server answers that one, too.
  if (options_.protocol == "auto" && !options_.mirrors) await_probe();
}

void session_core::await_probe() {
  phase_ = phase::probing;
  fallback_at_ = now_ + std::min(longest_probe, options_.start_timeout / 3);
}

void session_core::on_discover(rpc::call_outcome outcome) {
  probe_ = 0;
  if (phase_ == phase::probing) {
    fallback_at_ = never;
    decide(read_probe(outcome, options_.protocol));
  } else if (phase_ == phase::initializing) {
    // The answer came after the probe's wait but before the answer to initialize: the server was slow to start. It
    // counts only if initialize fails as well, since a server of both eras that accepts it speaks the old one in this
    // process (2026-07-28, versioning). A modern server might not answer initialize at all.
    const auto verdict = read_probe(outcome, options_.protocol);
    if (verdict.type == probe_verdict::kind::modern || verdict.type == probe_verdict::kind::ask_again)
      fallback_at_ = now_ + std::min(longest_probe, options_.start_timeout / 3);
    late_probe_ = std::move(outcome);
  }
}

// Takes a modern server for one that has answered the probe only.
void session_core::initialize_was_silent() {
  fallback_at_ = never;
  phase_ = phase::probing;
  // The handshake does not allow cancelling it, so its answer will be dropped as late.
  pending_.close(std::exchange(initialize_, 0),
                 rpc::call_outcome::failed(errc::cancelled, "the server is a modern one"));
  const auto late = std::exchange(late_probe_, std::nullopt);
  decide(read_probe(*late, options_.protocol));
}

void session_core::decide(const probe_verdict& verdict) {
  switch (verdict.type) {
    case probe_verdict::kind::modern:
      return opened(clients::era::modern, verdict.revision, verdict.capabilities, verdict.instructions);
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
  const auto params = json::raw_json::own("{\"protocolVersion\":" + json::json_quoted(revision) +
                                          ",\"capabilities\":" + std::string(own_capabilities(revision).text()) +
                                          ",\"clientInfo\":" + std::string(options_.own_info.text()) + "}");
  initialize_ = request("initialize", params, no_limits, [this](const rpc::call_outcome& o) { on_initialize(o); });
}

void session_core::on_initialize(const rpc::call_outcome& outcome) {
  initialize_ = 0;
  if (phase_ != phase::initializing) return;
  fallback_at_ = never;
  if (outcome.type != rpc::call_outcome::kind::result) {
    if (late_probe_) {
      const auto verdict = read_probe(*std::exchange(late_probe_, std::nullopt), options_.protocol);
      if (verdict.type != probe_verdict::kind::legacy) return decide(verdict);
    }
    handshake_failure_ = "answered initialize with " + failure_text(outcome);
    if (options_.protocol != "auto") return refuse(handshake_failure_);
    says_modern_ = read_probe(outcome, options_.protocol).type == probe_verdict::kind::ask_again;
    // The server was slow to start and the probe is still open. A modern server may refuse initialize (2026-07-28,
    // versioning), so the answer to the probe decides.
    if (probe_ != 0) return await_probe();
    // An earlier session found a legacy server, but the program may have been replaced.
    if (probes_ == 0 || (says_modern_ && probes_ < 2)) return discover();
    return refuse(handshake_failure_);
  }
  const auto agreed = json::find_member(outcome.value, "protocolVersion").as_string();
  if (!agreed) return refuse("answered initialize without a protocolVersion");
  if (!protocol::revision::is_legacy(*agreed))
    return refuse("wants to speak MCP revision \"" + redact::cut_for_people(*agreed, 32) +
                  "\" after initialize, which mcpbx does not know");
  if (protocol::revision::is_legacy(options_.protocol) && *agreed != options_.protocol)
    return refuse("speaks MCP revision " + *agreed + ", but its entry insists on " + options_.protocol);
  if (probe_ != 0) pending_.close(probe_, rpc::call_outcome::failed(errc::cancelled, "the server is a legacy one"));
  const rpc::message_facts facts{"notifications/initialized", *agreed, false, {}, {}};
  output_.session_send(rpc::make_notification(facts.method, json::raw_json()),
                       {rpc::outgoing::kind::notification, 0, options_.mirrors ? &facts : nullptr});
  opened(clients::era::legacy, *agreed, json::find_member(outcome.value, "capabilities"),
         json::find_member(outcome.value, "instructions"));
}

void session_core::opened(clients::era e, std::string revision, const json::raw_json& capabilities,
                          const json::raw_json& instructions) {
  era_ = e;
  const auto said = instructions.as_string().value_or("");
  const auto mark = " … (cut: the server gave " + std::to_string(said.size()) + " bytes)";
  instructions_ = redact::cut_for_people(said, longest_instructions, {.mark = mark, .keep_lines = true});
  revision_ = std::move(revision);
  phase_ = phase::listing;
  first_lists_until_ = now_ + options_.start_timeout / 2;
  late_probe_.reset();
  for (kept_list& list : lists_) {
    list.declare(capabilities, e == clients::era::modern);
    if (options_.mirrors && e == clients::era::modern && list.kind().id == protocol::kind_id::tools)
      list.check_by(&protocol::check_header_params);
  }
  offers_ = protocol::read_server_offers(capabilities);
  open_extensions_ = protocol::open_extensions(options_.extensions, offers_);
  events_.session_offers(offers_);
  if (phase_ != phase::listing) return;
  if (may_listen()) open_listen();  // before the lists, so that no change is missed between the two
  for (kept_list& list : lists_) {
    if (phase_ != phase::listing) return;
    if (list.offered()) {
      list.begin();
      ask_page(list);
    } else {
      list.clear();
      events_.session_hints(list.kind(), std::nullopt);
      publish(list);
    }
  }
}

void session_core::probe_was_silent() {
  if (says_modern_ && probes_ < 2) {
    phase_ = phase::idle;  // the end of the unanswered probe decides nothing
    pending_.close(std::exchange(probe_, 0),
                   rpc::call_outcome::failed(errc::cancelled, "another probe takes its place"));
    return discover();
  }
  if (!handshake_failure_.empty()) return refuse(handshake_failure_);
  initialize(protocol::revision::latest_legacy);
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
    case phase::listing: {
      const auto waits = std::ranges::find_if(lists_, [](const kept_list& l) { return !l.known(); });
      return waits == lists_.end() ? std::string_view() : waits->kind().list_method;
    }
    default:
      return "";
  }
}

}  // namespace mcpbx::mcp::session
