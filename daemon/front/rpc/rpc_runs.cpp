// The requests of one caller that start runs, follow, answer and end them.
#include "daemon/front/rpc/opening_reads.hpp"
#include "daemon/front/rpc/rpc_caller.hpp"
#include "daemon/front/rpc/run_lookup.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/server/base/rpc_errors.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::daemon::rpc_door {
namespace {

void answer_started(const run::runner::recorded_run& begun, const mcp::server::reply_once& reply) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().member("run", begun.run).filled("session", begun.session).set("ended", begun.ended).end_object();
  reply.result(w.json());
}

error no_run(const std::string& run, const std::string& near) {
  return {errc::not_found, "no run is named " + json::json_quoted(run) + near + "; it may have ended"};
}

}  // namespace

void rpc_caller::chat(run::run_request r, chat::chat_opening opening, const mcp::server::reply_once& reply) {
  r.principal = principal_;
  r.caller_scope = scope_;
  if (r.run.empty()) return start_run(std::move(r), opening, reply);
  // Results continue an active run. A request without them may mean a run of an earlier daemon, or begin one.
  const bool begins = r.results.empty();
  run_lookup::wish w{.run = r.run, .in_journal = begins, .likeness = r.name_only ? 0 : r.likeness, .begins = begins};
  run_lookup::start(
      door_, std::move(w), reply,
      [this, r = std::move(r), opening = std::move(opening), reply](const found_run& found) mutable {
        if (!found.recalled) return start_run(std::move(r), opening, reply);
        if (!stored::may_have(principal_, found.feed->principal()))
          return reply.error(mcp::server::to_rpc_error(
              {errc::invalid_argument, "a run named " + json::json_quoted(r.run) +
                                           " exists already and belongs to another caller; choose another name"}));
        if (r.detach) return answer_started({r.run, found.session, true}, reply);
        if (has_room_for_stream(reply)) open_stream(*found.feed, {.deltas = r.stream, .answers = r.answers}, reply);
      });
}

std::function<void(result<void>)> answer_when_kept(mcp::server::reply_once reply) {
  return [reply = std::move(reply)](const result<void>& kept) {
    if (kept)
      reply.result(json::raw_json::literal("{}"));
    else
      reply.error(mcp::server::to_rpc_error(kept.error()));
  };
}

void rpc_caller::start_run(run::run_request r, const chat::chat_opening& opening,
                           const mcp::server::reply_once& reply) {
  if (!has_room_for_run(r, reply)) return;
  const bool begins = !exists(r);
  if (begins)
    if (auto usable = check_name(r.run); !usable) return reply.error(mcp::server::to_rpc_error(usable.error()));
  if (!opening.empty() && begins) return open_run(std::move(r), opening, reply);
  if (r.detach) return start_detached(std::move(r), reply);
  const run::run_feed::wish w{.deltas = r.stream, .answers = r.answers};
  const auto feed = door_.daemon.start_run(std::move(r), {});
  if (!feed) return reply.error(mcp::server::to_rpc_error(feed.error()));
  open_stream(**feed, w, reply);
}

void rpc_caller::start_detached(run::run_request r, const mcp::server::reply_once& reply) {
  const bool known = exists(r);
  const auto own = r.feed;  // of a run that others may follow already
  const auto feed = door_.daemon.start_run(std::move(r), [reply](const result<run::runner::recorded_run>& begun) {
    if (begun)
      answer_started(*begun, reply);
    else
      reply.error(mcp::server::to_rpc_error(begun.error()));
  });
  if (own && !(feed && *feed == own)) own->refuse(feed ? begun_meanwhile(own->run()) : feed.error());
  if (!feed) return reply.error(mcp::server::to_rpc_error(feed.error()));
  if (!known) detached_.push_back(*feed);
  if (!reply.open()) return;
  // A caller that leaves early can find the run by its name; one that cancels does not want it.
  reply.on_cancel([weak = weak_from_this(), run = (*feed)->run()] {
    const auto self = weak.lock();
    if (self && !self->closed_) self->door_.daemon.cancel_run(run, "cancelled by its caller", {});
  });
}

// Returns a hint at a run of this caller with a like name, or "".
std::string rpc_caller::near_run(const std::string& run) const {
  const auto names = door_.daemon.run_names(principal_);
  return did_you_mean(run, std::vector<std::string_view>(names.begin(), names.end()));
}

void rpc_caller::attach(const std::string& run, run::run_feed::wish w, const mcp::server::reply_once& reply) {
  if (!has_room_for_stream(reply)) return;
  if (const auto opening = opening_of(run)) return open_stream(*opening->feed(), w, reply);
  run_lookup::start(door_, {.run = run}, reply, [this, run, w, reply](const found_run& found) {
    const bool foreign = found.feed && !stored::may_have(principal_, found.feed->principal());
    if (foreign || (!found.feed && found.why.code == errc::not_found)) {
      const auto near = near_run(run);
      if (!near.empty()) return reply.error(mcp::server::to_rpc_error(no_run(run, near)));
    }
    if (!found.feed) return reply.error(mcp::server::to_rpc_error(found.why));
    if (foreign)
      return reply.error(mcp::server::to_rpc_error(
          {errc::not_found, "no run named " + json::json_quoted(run) + " was begun by this caller"}));
    if (has_room_for_stream(reply)) open_stream(*found.feed, w, reply);
  });
}

void rpc_caller::cancel_run(const std::string& run, const mcp::server::reply_once& reply) {
  if (const auto opening = opening_of(run)) {
    opening->stop("the run was cancelled before it began");
    return reply.result(json::raw_json::literal("{}"));
  }
  run_lookup::start(door_, {.run = run}, reply, [this, run, reply](const found_run& found) {
    if (!found.feed || !stored::may_have(principal_, found.feed->principal()))
      return reply.error(mcp::server::to_rpc_error(no_run(run, near_run(run))));
    if (!found.recalled && door_.daemon.cancel_run(run, "cancelled by a caller", answer_when_kept(reply))) return;
    reply.error(mcp::server::to_rpc_error({errc::not_found, "the run " + json::json_quoted(run) +
                                                                " has ended already; `mcpbx attach " + shell_word(run) +
                                                                "` shows its end"}));
  });
}

bool rpc_caller::has_room_for_stream(const mcp::server::reply_once& reply) const {
  if (streams_.size() < door_.settings.max_runs_per_caller) return true;
  reply.error(mcp::server::to_rpc_error({errc::limit, "this connection has " + std::to_string(streams_.size()) +
                                                          " runs going already; wait for one of them"}));
  return false;
}

bool rpc_caller::exists(const run::run_request& r) const {
  return !r.run.empty() && door_.daemon.find_run(r.run).has_value();
}

// Checks the number of runs for a request that may start one. An existing run is not counted again.
bool rpc_caller::has_room_for_run(const run::run_request& r, const mcp::server::reply_once& reply) {
  if (exists(r)) return r.detach || has_room_for_stream(reply);
  std::erase_if(detached_, [](const auto& one) {
    const auto feed = one.lock();
    return !feed || feed->over();
  });
  const std::size_t detached = detached_.size() + forget_openings();
  if (streams_.size() + detached < door_.settings.max_runs_per_caller) return true;
  if (detached == 0) return has_room_for_stream(reply);
  reply.error(mcp::server::to_rpc_error(
      {errc::limit, "this connection has " + std::to_string(streams_.size() + detached) + " runs going already, " +
                        std::to_string(detached) + " of them detached; wait for one of them, or cancel it"}));
  return false;
}

void rpc_caller::open_stream(run::run_feed& feed, run::run_feed::wish w, const mcp::server::reply_once& reply) {
  const auto serial = reply.serial();
  front::event_stream::owner& told = *this;  // names the private base
  const auto stream = std::make_shared<front::event_stream>(told, reply, feed.run());
  streams_.emplace(serial, stream);
  reply.on_cancel([weak = weak_from_this(), serial] {
    const auto self = weak.lock();
    if (!self || self->closed_) return;  // close() releases all of them
    if (const auto found = self->streams_.extract(serial)) found.mapped()->leave("cancelled by its caller");
    self->end_openings(serial);
  });
  w.answers = w.answers && !input_ended_ && stored::is_person(principal_);
  stream->read(feed, w);
}

void rpc_caller::answer(const std::string& run, std::string question, json::raw_json body,
                        const mcp::server::reply_once& reply) {
  if (std::ranges::none_of(streams_, [&](const auto& one) { return one.second->run() == run; }))
    return run_lookup::start(door_, {.run = run, .in_journal = false}, reply, [run, reply](const found_run&) {
      reply.error(mcp::server::to_rpc_error(
          {errc::not_found, "no run named " + json::json_quoted(run) +
                                " was started by this connection or attached to it, so it cannot answer its "
                                "questions"}));
    });
  if (const auto opening = opening_of(run)) return answer_when_kept(reply)(opening->answer(question, body));
  door_.daemon.answer(run, std::move(question), std::move(body), answer_when_kept(reply));
}

bool rpc_caller::cancel_request(const mcp::rpc::rpc_id& id, std::function<void(result<void>)> done) {
  for (const auto& [serial, stream] : streams_)
    if (stream->reply().id() == id) {
      if (const auto opening = opening_of(stream->run())) {
        opening->stop("the run was cancelled before it began");
        done({});
        return true;
      }
      return door_.daemon.cancel_run(stream->run(), "cancelled by its caller", std::move(done));
    }
  if (!session_.cancel(id, "")) return false;
  done({});
  return true;
}

}  // namespace mcpbx::daemon::rpc_door
