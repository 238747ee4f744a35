// Register of active runs. Each is one coroutine in the runner's scope. A run leaves the register before its callers
// get `done`, so that its name is free by then. A detached run then moves to the register of ended runs.
#include "daemon/loop/run/runner.hpp"

#include "daemon/loop/run/ended_runs.hpp"
#include "daemon/loop/run/live_run.hpp"
#include "daemon/loop/run/opening.hpp"
#include "daemon/loop/run_words.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/async/scope.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <exception>
#include <string>
#include <unordered_map>
#include <utility>

namespace mcpbx::daemon::run {
namespace {

// Returns the index in loop_counters::depth.
std::size_t depth_class(int depth) {
  if (depth <= 2) return static_cast<std::size_t>(std::max(depth, 0));
  std::size_t place = 3;
  for (int most : {4, 8, 16, 64}) {
    if (depth <= most) return place;
    ++place;
  }
  return place;
}

void count_end(loop_counters& counters, const core::run_facts& run) {
  ++counters.depth[depth_class(run.depth)];
  const std::string reason(stored::to_string(run.answer.reason));
  auto found = std::ranges::find(counters.stops, reason, &std::pair<std::string, std::uint64_t>::first);
  if (found == counters.stops.end())
    counters.stops.emplace_back(reason, 1);
  else
    ++found->second;
}

}  // namespace

class runner::impl : public std::enable_shared_from_this<impl> {
 public:
  impl(boost::asio::any_io_executor executor, time_source& time, random_source& random, tools::tool_source& tools,
       run_configurations configured, store::journal& store, options o)
      : around_{executor,
                time,
                random,
                tools,
                store,
                limits::room_queue(time),
                tools::round_tools(std::move(o.adapt)),
                {},
                {},
                o.answers,
                o.resume_detached},
        configured_(std::move(configured)),
        keep_to_present_terms_(std::move(o.keep_to_present_terms)),
        run_ended_(std::move(o.run_ended)),
        max_runs_(o.max_runs),
        max_detached_(o.max_detached),
        awake_runs_(o.awake_runs),
        ended_(o.max_ended, o.max_ended_bytes),
        scope_(executor, [](std::string_view name, std::exception_ptr) {
          log::error("bug in mcpbx: an exception left the coroutine of " + std::string(name));
        }) {}

  result<std::shared_ptr<run_feed>> start(run_request r, recorded told) {
    if (!r.results.empty()) return go_on(r);
    if (!r.run.empty()) {
      if (const auto going = runs_.find(r.run); going != runs_.end()) {
        auto joined = join(r, going->second->feed(), going->second->likeness());
        if (joined && told) going->second->when_recorded(std::move(told));
        return joined;
      }
      if (const auto* ended = ended_.find(r.run)) {
        auto joined = join(r, ended->feed, ended->likeness);
        if (joined && told) told(recorded_run{r.run, ended->session, true});
        return joined;
      }
    }
    if (r.name_only) return unknown(r.run, "; send input or messages to start it");
    if (stopping_) return fail(errc::unavailable, "the daemon is stopping and takes no new runs");
    if (runs_.size() >= max_runs_)
      return fail(errc::limit,
                  "the limit of " + std::to_string(max_runs_) + " active runs is reached; try again later");
    if (r.detach && detached() >= max_detached_)
      return fail(errc::limit, "the limit of " + std::to_string(max_detached_) +
                                   " detached runs is reached; wait for one to end, or cancel it");
    const auto before = run_in(r.session);
    if (auto usable = check_session(r.session, r.principal, before); !usable)
      return std::unexpected(std::move(usable.error()));
    if (!r.configured) r.configured = configured_();
    const bool goes_on = !r.session.empty();
    run_models models;
    if (!goes_on || !r.keep_terms) {
      auto found = models_of(r);
      if (!found) return std::unexpected(std::move(found.error()));
      models = std::move(*found);
    }
    if (!goes_on && around_.store.keeps_sessions()) r.session = "ses_" + hex(around_.random.next(), 16);
    while (r.run.empty() || find(r.run)) r.run = "run_" + hex(around_.random.next(), 16);
    ended_.make_room();
    auto feed = std::exchange(r.feed, nullptr);
    if (!feed) feed = std::make_shared<run_feed>(r.run, run_feed::options{.keep = r.detach, .principal = r.principal});
    auto run = std::make_shared<live_run>(around_, std::move(r), goes_on, std::move(models), feed);
    if (before) run->begin_behind(before);
    if (told) run->when_recorded(std::move(told));
    launch(std::move(run));
    return feed;
  }

  void preview(run_request r, std::function<void(result<run_preview>)> then) {
    if (stopping_) return then(fail(errc::unavailable, "the daemon is stopping and takes no new runs"));
    if (runs_.size() + going_previews() >= max_runs_)
      return then(
          fail(errc::limit, "the limit of " + std::to_string(max_runs_) + " active runs is reached; try again later"));
    if (auto usable = check_session(r.session, r.principal, run_in(r.session)); !usable)
      return then(std::unexpected(std::move(usable.error())));
    if (!r.configured) r.configured = configured_();
    const bool goes_on = !r.session.empty();
    run_models models;
    if (!goes_on || !r.keep_terms) {
      auto found = models_of(r);
      if (!found) return then(std::unexpected(std::move(found.error())));
      models = std::move(*found);
    }
    r.run = "preview";
    r.detach = false;
    auto feed = std::make_shared<run_feed>(r.run, run_feed::options{.principal = r.principal});
    auto run = std::make_shared<live_run>(around_, std::move(r), goes_on, std::move(models), std::move(feed));
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines) as in launch()
    scope_.spawn(
        "preview", [run, counted = previews_, then = std::move(then)]() mutable -> boost::asio::awaitable<void> {
          result<run_preview> seen;
          try {
            seen = co_await run->preview();
          } catch (const boost::system::system_error&) {
            throw;  // the daemon stops
          } catch (const std::exception& e) {
            seen = fail(errc::internal, "the look at the run failed by a fault of mcpbx: " + std::string(e.what()));
          }
          counted.reset();
          then(std::move(seen));
        });
  }

  void resume(store::unfinished_run left) {
    if (left.records.empty() || runs_.contains(left.run)) return;
    if (stopping_) {  // then it stays for the next process
      left_.emplace(left.run, std::move(left.journal));
      return;
    }
    const auto* started = std::get_if<stored::record::run_started>(&left.records.front());
    if (!started) return;
    run_request r = request_of(*started, configured_());
    r.run = left.run;
    r.session = left.session;
    const auto refused = [&](const error& why) {
      log::error("run " + left.run + " cannot continue after the restart: " + why.message);
      close(std::move(left), why.message);
    };
    if (keep_to_present_terms_)
      if (const auto held = keep_to_present_terms_(r); !held) return refused(held.error());
    auto models = models_of(r);
    if (!models && r.limits.status == stored::status_mode::model) {  // the model of status lines is not essential
      r.limits.status = stored::status_mode::names;
      models = models_of(r);
    }
    if (!models) return refused(models.error());
    // All numbers that callers have from before are lower, so a caller that attaches again gets a snapshot.
    auto feed = std::make_shared<run_feed>(
        r.run, run_feed::options{.keep = r.detach, .numbers_above = numbers_of_this_life(), .principal = r.principal});
    auto run = std::make_shared<live_run>(around_, std::move(r), false, std::move(*models), feed);
    run->pick_up(std::move(left));
    log::info("run " + run->name() + " continues after the restart");
    launch(std::move(run));
  }

  result<std::shared_ptr<run_feed>> find(std::string_view name) const {
    if (const auto going = runs_.find(std::string(name)); going != runs_.end()) return going->second->feed();
    if (const auto* ended = ended_.find(name)) return ended->feed;
    return unknown(name, "");
  }

  std::vector<std::string> names(std::string_view principal) const {
    std::vector<std::string> all;
    const auto add = [&](const run_feed& feed) {
      if (stored::may_have(principal, feed.principal())) all.push_back(feed.run());
    };
    for (const auto& [name, run] : runs_) add(*run->feed());
    for (const auto& ended : ended_) add(*ended.feed);
    return all;
  }

  void recall(std::string_view name, std::uint64_t likeness, std::function<void(result<recalled_run>)> then) {
    around_.store.find_ended(
        std::string(name), [weak = weak_from_this(), name = std::string(name), likeness,
                            then = std::move(then)](const result<std::vector<stored::run_record>>& records) {
          const auto self = weak.lock();
          if (!self) return;
          if (!records && records.error().code != errc::not_found && !self->knows(name))
            return then(std::unexpected(records.error()));
          const auto core = records ? core::run_core::of(*records) : core::run_core();
          const auto& started = core.facts().started;
          const bool meant =
              core.facts().ended && (likeness == 0 || (started.detached && started.likeness == likeness));
          if (!meant) return then(self->unknown(name, ""));
          then(recalled_run{feed_of(core.facts(), self->numbers_of_this_life()), started.session});
        });
  }

  bool cancel(std::string_view name, std::string text, std::function<void(result<void>)> done) {
    const auto found = runs_.find(std::string(name));
    if (found == runs_.end()) return false;
    found->second->stop(stored::stop_reason::cancelled, std::move(text), std::move(done));
    return true;
  }

  void answer(std::string_view name, std::string question, json::raw_json body,
              std::function<void(result<void>)> done) {
    const auto found = runs_.find(std::string(name));
    if (found != runs_.end())
      return found->second->answer({std::move(question), std::move(body), false, std::move(done)});
    boost::asio::post(around_.executor,
                      [done = std::move(done), why = unknown(name, "").error()] { done(std::unexpected(why)); });
  }

  std::size_t active() const { return runs_.size(); }
  std::size_t going_previews() const { return static_cast<std::size_t>(previews_.use_count()) - 1; }

  const loop_counters& counts() const {
    around_.counters.active = runs_.size();
    around_.counters.dropped_logs = dropped_logs_;
    for (const auto& [name, run] : runs_) around_.counters.dropped_logs += run->feed()->counts().dropped_logs;
    return around_.counters;
  }

  boost::asio::awaitable<void> shut_down(milliseconds grace) {
    stopping_ = true;
    const auto shut_down_runs = [this](bool all) {
      for (auto& [name, run] : runs_)
        if (all || (run->waits_for_its_caller() && around_.store.keeps_sessions())) run->shut_down();
    };
    const auto limit = around_.time.make_timer();
    if (grace.count() > 0) limit->arm(around_.time.now() + grace, [shut_down_runs] { shut_down_runs(true); });
    shut_down_runs(grace.count() == 0);
    co_await scope_.join();
  }

 private:
  // Closes a run that cannot continue: writes the results of its open calls and its end to its own journal.
  void close(store::unfinished_run left, const std::string& why) {
    auto kept = std::make_shared<store::unfinished_run>(std::move(left));
    auto reason = core::run_core::left_by_its_daemon();
    reason.text += ", and could not be continued: " + why;
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines) as in launch()
    scope_.spawn(kept->run, [kept, reason]() -> boost::asio::awaitable<void> {
      auto closing = core::run_core::of(kept->records).recovery(reason);
      if (!closing.empty()) (void)co_await kept->journal->append(std::move(closing), true);
    });
  }

  // Registers a run and starts its coroutine, which also ends the run's feed and takes it out of the register.
  void launch(std::shared_ptr<live_run> run) {
    run->feed()->when_abandoned([weak = std::weak_ptr(run)](std::string why) {
      if (const auto abandoned = weak.lock()) abandoned->stop(stored::stop_reason::cancelled, std::move(why));
    });
    run->feed()->when_mute([weak = std::weak_ptr(run)] {
      if (const auto active = weak.lock()) active->no_answerer_left();
    });
    runs_.emplace(run->name(), run);
    count_runs();
    ++around_.counters.runs;
    // The scope keeps the lambda, and with it what it captures, until the coroutine has ended.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
    scope_.spawn(run->name(), [this, run]() -> boost::asio::awaitable<void> {
      std::string fault;
      try {
        co_await run->live();
      } catch (const std::exception& e) {
        fault = e.what();
        if (fault.empty()) fault = "an exception without a message";
      }
      runs_.erase(run->name());
      count_runs();
      run->release_session();
      run->answer_late_requests();
      if (auto left = run->take_left()) {
        run->deliver();
        left_.emplace(run->name(), std::move(left));
      } else if (fault.empty()) {
        if (run->facts().ended && !run->was_taken_over()) count_end(around_.counters, run->facts());
        run->deliver();
      } else {
        run->deliver_failure(fault);
      }
      dropped_logs_ += run->feed()->counts().dropped_logs;
      // A run whose start was answered with an error is not kept, because nobody can expect to attach to it.
      if (run->feed()->kept() && run->was_recorded() && !run->was_left() && !run->was_taken_over())
        ended_.add(run->feed(), run->likeness(), run->session());
      // In a later turn, when the run has released its reference to the feed.
      if (around_.room.is_waited_for())
        boost::asio::post(around_.executor, [weak = weak_from_this()] {
          if (const auto self = weak.lock()) self->ended_.make_room();
        });
      if (run_ended_) boost::asio::post(around_.executor, run_ended_);
    });
  }

  // Returns a number above all event numbers of earlier processes: the wall clock in µs, because no run sends an event
  // in each microsecond. If the clock was set back the numbers may be lower, but hardly ever the same.
  std::uint64_t numbers_of_this_life() const { return static_cast<std::uint64_t>(around_.time.wall_ms()) * 1'000; }

  void count_runs() { around_.may_watch = runs_.size() <= awake_runs_; }

  std::size_t detached() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(runs_, [](const auto& one) { return one.second->feed()->kept(); }));
  }

  // Returns the last run in this session, for which a new one has to wait; null: none.
  std::shared_ptr<live_run> run_in(const std::string& session) const {
    const auto last = std::ranges::find_if(runs_, [&](const auto& one) {
      return !session.empty() && one.second->session() == session && !one.second->has_next();
    });
    return last == runs_.end() ? nullptr : last->second;
  }

  // Checks that a request may use this session: one run at a time, except that a run that was asked to end (`before`)
  // may still be active. Names the active run only to callers that may have it.
  result<void> check_session(const std::string& session, const std::string& principal,
                             const std::shared_ptr<live_run>& before) const {
    if (session.empty()) return {};
    if (!around_.store.keeps_sessions())
      return fail(errc::config,
                  "sessions are not kept, because store.url is \"none\"; set it to \"sqlite:\", or leave "
                  "session out of the request");
    if (before && !before->is_stopping() && !stored::may_have(principal, before->feed()->principal()))
      return fail(errc::unavailable, loop::words::session_in_use(session));
    if (before && !before->is_stopping())
      return fail(errc::unavailable, loop::words::session_in_use(session, before->name()));
    return {};
  }

  // Returns true if this process has or had the run.
  bool knows(const std::string& name) const { return find(name).has_value() || left_.contains(name); }

  // Returns the error for a name without a run: errc::unavailable if the run was left for the next process, else
  // errc::not_found, with `hint` at the end of its message.
  std::unexpected<error> unknown(std::string_view name, std::string_view hint) const {
    if (left_.contains(std::string(name))) return fail(errc::unavailable, loop::words::goes_on_later(name));
    return fail(errc::not_found,
                "no run is named " + json::json_quoted(name) + "; it may have ended" + std::string(hint));
  }

  // Returns the feed of an existing run, if the request may attach to it: it repeats the run's request or has only the
  // name, and its caller may have the run.
  static result<std::shared_ptr<run_feed>> join(const run_request& r, const std::shared_ptr<run_feed>& feed,
                                                std::uint64_t likeness) {
    const std::string what = "a run named " + json::json_quoted(r.run) + " exists already";
    if (!stored::may_have(r.principal, feed->principal()))
      return fail(errc::invalid_argument, what + " and belongs to another caller; choose another name");
    if (!r.name_only && (r.likeness == 0 || r.likeness != likeness))
      return fail(errc::invalid_argument,
                  what + " and was started by a different request; attach to it (`mcpbx attach " + shell_word(r.run) +
                      "`, or a request with \"run\" and \"stream\" only), or choose another name");
    if (r.detach && !feed->kept())
      return fail(errc::invalid_argument,
                  what + " and is not detached, so it ends when its callers leave; attach to it (`mcpbx attach " +
                      shell_word(r.run) + "`, or the request without \"detach\"), or choose another name");
    return feed;
  }

  // Continues a parked run with the results of the caller's own tools.
  result<std::shared_ptr<run_feed>> go_on(run_request& r) {
    const auto found = runs_.find(r.run);
    if (found == runs_.end() || !stored::may_have(r.principal, found->second->feed()->principal()))
      return unknown(r.run, ", or its results came too late");
    if (r.detach)
      return fail(errc::invalid_argument,
                  "a request with results of the caller's own tools cannot be detached; leave out \"detach\"");
    if (auto taken = found->second->take_results(std::move(r.results)); !taken) return std::unexpected(taken.error());
    return found->second->feed();
  }

  mutable run_surroundings around_;
  run_configurations configured_;
  std::function<result<void>(run_request&)> keep_to_present_terms_;
  std::function<void()> run_ended_;
  std::size_t max_runs_, max_detached_, awake_runs_;
  // Each preview that goes on holds a reference, so that it is counted until it ends in any way.
  std::shared_ptr<const char> previews_ = std::make_shared<const char>();
  bool stopping_ = false;
  std::uint64_t dropped_logs_ = 0;  // of runs that have ended
  // Journals of runs that were left for the next process, by run name. Destroying a journal would close its run.
  std::unordered_map<std::string, std::unique_ptr<store::run_journal>> left_;
  ended_runs ended_;
  std::unordered_map<std::string, std::shared_ptr<live_run>> runs_;
  async::scope scope_;
};

runner::runner(boost::asio::any_io_executor executor, time_source& time, random_source& random,
               tools::tool_source& tools, run_configurations configured, store::journal& store, options o)
    : impl_(std::make_shared<impl>(std::move(executor), time, random, tools, std::move(configured), store,
                                   std::move(o))) {}
runner::~runner() = default;

result<std::shared_ptr<run_feed>> runner::start(run_request r, recorded told) {
  return impl_->start(std::move(r), std::move(told));
}
void runner::preview(run_request r, std::function<void(result<run_preview>)> then) {
  impl_->preview(std::move(r), std::move(then));
}
void runner::resume(store::unfinished_run left) {
  impl_->resume(std::move(left));
}
result<std::shared_ptr<run_feed>> runner::find(std::string_view run) const {
  return impl_->find(run);
}
std::vector<std::string> runner::names(std::string_view principal) const {
  return impl_->names(principal);
}
void runner::recall(std::string_view run, std::uint64_t likeness, std::function<void(result<recalled_run>)> then) {
  impl_->recall(run, likeness, std::move(then));
}
bool runner::cancel(std::string_view run, std::string text, std::function<void(result<void>)> done) {
  return impl_->cancel(run, std::move(text), std::move(done));
}
void runner::answer(std::string_view run, std::string question, json::raw_json body,
                    std::function<void(result<void>)> done) {
  impl_->answer(run, std::move(question), std::move(body), std::move(done));
}
std::size_t runner::active() const {
  return impl_->active();
}
const loop_counters& runner::counts() const {
  return impl_->counts();
}
boost::asio::awaitable<void> runner::shut_down(milliseconds grace) {
  return impl_->shut_down(grace);
}

}  // namespace mcpbx::daemon::run
