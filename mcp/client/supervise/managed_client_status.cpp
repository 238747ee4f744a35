// The state of one tool server for people: its status and its sentences.
#include "mcp/client/supervise/managed_client.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::supervise {
namespace {

/// Time for which a server must be ready until its last end is no longer shown as an error.
constexpr milliseconds well_after{60'000};

}  // namespace

std::string wait_in_words(duration wait) {
  const auto ms = std::chrono::duration_cast<milliseconds>(wait).count();
  if (ms < 1000) return std::to_string(std::max<std::int64_t>(ms, 0)) + " ms";
  return std::to_string((ms + 500) / 1000) + " s";
}

void managed_client::failed(std::string why, recovery by) {
  last_error_ = std::move(why);
  last_error_ms_ = context_.time.wall_ms();
  recovers_by_ = by;
}

void managed_client::recovered(recovery how) {
  if (recovers_by_ != how) return;
  last_error_.clear();
  last_error_ms_ = -1;
}

// Returns true if the last error was an end or a failed start and the server has been ready for long since.
bool managed_client::well_again() const {
  return recovers_by_ == recovery::ready && up() && context_.time.now() - up_since_ >= well_after;
}

std::string managed_client::with_last_words(std::string text) const {
  const std::string last = connector_ ? connector_->last_words() : "";
  return last.empty() ? text : text + "; " + last;
}

std::string managed_client::junk() const {
  const std::string text = session_ && session_->core() ? session_->core()->junk_text() : std::string();
  return text.empty() ? text : "; " + text;
}

std::string managed_client::down_text(time_point now) const {
  if (options_.disabled) return who() + " is disabled in the configuration";
  if (!options_.unusable.empty() && !stopping_) return last_error_;
  if (stopping_ || core_.ended()) return who() + " takes no new calls: " + stop_why_;
  std::string text = last_error_.empty() ? who() + " is down" : last_error_;
  if (core_.next_try() != never) text += "; next start in " + wait_in_words(core_.next_try() - now);
  return text;
}

clients::server_status managed_client::status() const {
  clients::server_status s;
  const auto* session = session_ ? session_->core() : nullptr;
  s.name = options_.name;
  s.command = options_.command;
  s.state = core_.state();
  s.era = era_;
  s.revision = revision_;
  s.offers = offers_;
  const auto listed = [this](protocol::kind_id kind) { return listed_items_[static_cast<std::size_t>(kind)]; };
  s.tools = listed(protocol::kind_id::tools);
  s.prompts = listed(protocol::kind_id::prompts);
  s.resources = listed(protocol::kind_id::resources);
  s.resource_templates = listed(protocol::kind_id::resource_templates);
  s.restarts = core_.restarts();
  if (!well_again()) {
    s.last_error = last_error_;
    s.last_error_ms = last_error_ms_;
  }
  if (connector_) {
    s.process = connector_->process();
    s.remote = connector_->remote();
  }
  if (core_.next_try() != never)
    s.next_try_ms =
        std::max<std::int64_t>(0, std::chrono::ceil<milliseconds>(core_.next_try() - context_.time.now()).count());
  s.start_failed = core_.start_failed();
  s.open_calls = running_;
  s.queued_calls = waiting_.size();
  s.calls = meter_->counts(context_.time.now());
  s.noise_lines = noise_before_ + (session ? session->noise_lines() : 0);
  s.dropped_answers = dropped_before_ + (session ? session->dropped_answers() : 0);
  s.suspect = suspect_;
  return s;
}

}  // namespace mcpbx::mcp::supervise
