// Runs in memory: a scripted model, servers that answer on request, a manual clock, and a caller that keeps all events.
#pragma once
#include "daemon/loop/results/read_result.hpp"
#include "daemon/loop/run/runner.hpp"
#include "daemon/loop/run/status_writer.hpp"
#include "providers/model/names.hpp"
#include "test/daemon/loop/core/core_script.hpp"
#include "test/daemon/loop/core/wire_history.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::test {

namespace asio = boost::asio;

/// An effect of a live run, with the number of its records in the journal at that time.
struct effect {
  std::string what;
  std::size_t records = 0;
};

/// Returns a call of the tool `lookup` of the fixture's server.
inline providers::tool_call_block lookup(std::string id, std::string arguments = "") {
  return call(std::move(id), "srv__lookup", std::move(arguments));
}

/// One answer of the scripted model.
struct step {
  std::vector<std::string> deltas;
  std::optional<stored::record::assistant> reply;
  std::optional<providers::model_error> error;  ///< without reply and error the model stays silent until the run ends
};
inline step says(std::string text, std::vector<providers::tool_call_block> calls = {}) {
  step s;
  if (!text.empty()) s.deltas = {text};
  s.reply = test::reply(std::move(text), std::move(calls));
  return s;
}
inline step calls(std::vector<providers::tool_call_block> c) {
  return says("", std::move(c));
}
inline step silent() {
  return {};
}
inline step breaks(providers::model_error e) {
  step s;
  s.error = std::move(e);
  return s;
}

class scripted_model final : public providers::model {
 public:
  scripted_model(asio::io_context& context, std::function<void(std::string)> note)
      : context_(context), note_(std::move(note)) {}
  const std::string& name() const override { return name_; }
  const std::string& id() const override {
    if (broken) throw std::runtime_error("a broken model");
    return id_;
  }
  const std::string& api() const override { return api_; }
  std::string_view default_system() const override { return system; }
  std::size_t max_tools() const override { return most_tools; }

  std::unique_ptr<providers::model_call> prepare(providers::model_request request,
                                                 providers::model_events& events) override {
    return std::make_unique<running>(*this, std::move(request), events);
  }

  bool broken = false;         ///< id() throws
  std::string system;          ///< returned by default_system()
  std::size_t most_tools = 0;  ///< returned by max_tools()
  std::deque<step> script;
  std::function<step(std::size_t)> endless;  ///< answers once the script is over, by the request's index
  std::vector<providers::model_request> requests;
  std::vector<std::uintptr_t> stack;  ///< address of the stack frame at the start of each call
  int open = 0;
  providers::usage spent;  ///< usage that each call reports while it is open

 private:
  void asked(providers::model_request request, const std::shared_ptr<bool>& alive, providers::model_events& events) {
    // No record commands a status line, so it is not noted as an effect.
    if (request.settings.max_output_tokens != run::status_writer::max_tokens) note_("model");
    // The address of a local would not do: the address sanitizer keeps locals elsewhere.
    stack.push_back(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
    requests.push_back(std::move(request));
    step next = silent();
    if (!script.empty()) {
      next = std::move(script.front());
      script.pop_front();
    } else if (endless) {
      next = endless(requests.size() - 1);
    }
    if (next.reply || next.error || !next.deltas.empty())
      asio::post(context_, [alive, next = std::move(next), &events] {
        for (const auto& d : next.deltas)
          if (*alive) events.on_text(d);
        if (!*alive) return;
        if (next.error) return events.on_error(*next.error);
        if (!next.reply) return;
        events.on_reply({next.reply->message, next.reply->reason, "", next.reply->usage});
      });
  }

  struct running final : providers::model_call {
    running(scripted_model& m, providers::model_request r, providers::model_events& e)
        : owner(m), request(std::move(r)), events(e) {
      ++owner.open;
    }
    ~running() override {
      *alive = false;
      --owner.open;
    }
    void begin() override {
      begun = true;
      owner.asked(std::move(request), alive, events);
    }
    providers::usage spent() const override { return begun ? owner.spent : providers::usage{}; }
    bool begun = false;
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);
    scripted_model& owner;
    providers::model_request request;
    providers::model_events& events;
  };
  asio::io_context& context_;
  std::function<void(std::string)> note_;
  std::string name_ = "scripted", id_ = "scripted-1", api_ = "openai-chat";
};

/// A tool server. Each tool behaves as its entry in `tools` says; without one it answers "fine".
class scripted_client final : public mcp::clients::client {
 public:
  using behaviour = std::function<mcp::rpc::call_outcome(const mcp::clients::server_call&)>;
  scripted_client(asio::io_context& context, std::string name, std::function<void(std::string)> note)
      : context_(context), name_(std::move(name)), note_(std::move(note)) {}
  const std::string& name() const override { return name_; }
  mcp::clients::era era() const override { return mcp::clients::era::legacy; }

  ticket call(mcp::clients::server_call&& c) override {
    const auto t = ++last_;
    params.emplace_back(c.params.text());
    note_("call " + json::find_member(c.params, "name").as_string().value_or("?"));
    const auto tool = json::find_member(c.params, "name").as_string().value_or("");
    auto& kept = open.emplace(t, std::move(c)).first->second;
    if (hold.contains(tool)) return t;
    const auto found = tools.find(tool);
    finish_later(t, found == tools.end()
                        ? mcp::rpc::call_outcome{mcp::rpc::call_outcome::kind::result, text_result("fine"), {}}
                        : found->second(kept));
    return t;
  }
  void cancel(ticket t, std::string_view) override {
    if (!open.contains(t)) return;
    ++cancelled;
    finish_later(t, mcp::rpc::call_outcome::failed(errc::cancelled, "cancelled"));
  }
  time_point next_start() const override { return starts_at; }
  std::string_view instructions() const override { return instructed; }
  void finish_later(ticket t, mcp::rpc::call_outcome outcome) {
    asio::post(context_, [this, t, outcome = std::move(outcome)]() mutable {
      auto node = open.extract(t);
      if (!node.empty()) node.mapped().done(std::move(outcome));
    });
  }
  void release(std::string_view text = "fine") {
    for (auto& [t, c] : open) finish_later(t, {mcp::rpc::call_outcome::kind::result, text_result(text), {}});
  }

  std::map<std::string, behaviour> tools;
  std::map<std::string, bool> hold;  ///< tools that answer only on release()
  std::vector<std::string> params;
  std::map<ticket, mcp::clients::server_call> open;
  int cancelled = 0;
  time_point starts_at = never;  ///< returned by next_start()
  std::string instructed;        ///< returned by instructions()

 private:
  asio::io_context& context_;
  std::string name_;
  std::function<void(std::string)> note_;
  ticket last_ = 0;
};

class fake_tools final : public tools::tool_source {
 public:
  explicit fake_tools(asio::io_context& context) : context_(context) {}
  mcp::catalogs::catalog_ptr snapshot() const override { return catalog; }
  void when_settled(milliseconds at_most, std::function<void()> then) override {
    waited = at_most;
    if (settled)
      asio::post(context_, std::move(then));
    else
      waiting = std::move(then);
  }
  std::vector<tools::waiting_server> waiting_for_login() const override { return want_login; }
  std::vector<tools::waiting_server> want_login;
  mcp::catalogs::catalog_ptr catalog =
      std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>{}, 1);
  bool settled = true;
  milliseconds waited{-1};
  std::function<void()> waiting;

 private:
  asio::io_context& context_;
};

/// Keeps the records and effects of each run. A run acts only right after an append, so an effect belongs to the run
/// that appended last.
class noted_journal final : public daemon::store::journal {
 public:
  struct run {
    std::vector<stored::run_record> records;
    std::vector<bool> synced;  ///< for each record: its append was to survive a loss of power
    std::vector<effect> effects;
  };
  std::unique_ptr<daemon::store::run_journal> open_run(const std::string&) override {
    runs_.push_back(std::make_shared<run>());
    return std::make_unique<one>(*this, runs_.back());
  }
  void note(std::string what) {
    if (acting_) acting_->effects.push_back({std::move(what), acting_->records.size()});
  }
  /// Returns the runs in order of opening.
  const std::vector<std::shared_ptr<run>>& runs() const { return runs_; }

 private:
  struct one final : daemon::store::run_journal {
    one(noted_journal& o, std::shared_ptr<run> r) : owner(o), mine(std::move(r)) {}
    asio::awaitable<result<void>> append(std::vector<stored::run_record> records, bool synced) override {
      for (auto& r : records) mine->records.push_back(std::move(r));
      mine->synced.resize(mine->records.size(), synced);
      owner.acting_ = mine;
      co_return result<void>{};
    }
    noted_journal& owner;
    std::shared_ptr<run> mine;
  };
  std::vector<std::shared_ptr<run>> runs_;
  std::shared_ptr<run> acting_;
};

/// Returns the effects that the state machine commands for these records, in order, each with the number of records
/// that lead to it.
inline std::vector<effect> commanded(const std::vector<stored::run_record>& records) {
  std::vector<effect> all;
  std::map<std::string, std::string> meant;
  core::run_core core;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (const auto* reply = std::get_if<stored::record::assistant>(&records[i]))
      for (const auto& tool : reply->tools) meant[tool.name] = tool.tool;
    core.apply(records[i]);
    for (const auto& c : core.commands()) {
      if (std::holds_alternative<core::command::call_model>(c)) all.push_back({"model", i + 1});
      const auto* run = std::get_if<core::command::run_call>(&c);
      const auto* name = run ? &core.find_call(run->call_id)->name : nullptr;
      if (name && *name != results::read_result::name) all.push_back({"call " + meant[*name], i + 1});  // no server's
    }
  }
  return all;
}

/// Returns the first difference between the effects of a run and those that its records command, else a fault of its
/// records or of its messages when they are sent back, else "".
inline std::string fault_of(const noted_journal::run& run) {
  const auto expected = commanded(run.records);
  for (std::size_t i = 0; i < std::max(expected.size(), run.effects.size()); ++i) {
    if (i >= run.effects.size()) return expected[i].what + " was commanded and not started";
    if (i >= expected.size()) return run.effects[i].what + " was started and not commanded";
    if (run.effects[i].what != expected[i].what)
      return run.effects[i].what + " was started where " + expected[i].what + " was commanded";
    if (run.effects[i].records < expected[i].records)
      return run.effects[i].what + " was started before its record was in the journal";
  }
  const auto fault = fault_of(run.records);
  return fault.empty() ? resent_fault_of(fold(run.records, run.records.size())) : fault;
}

class failing_journal final : public daemon::store::journal {
 public:
  std::unique_ptr<daemon::store::run_journal> open_run(const std::string&) override {
    return std::make_unique<one>(*this);
  }
  std::string fail_at;  ///< name of the record whose append fails

 private:
  struct one final : daemon::store::run_journal {
    explicit one(failing_journal& o) : owner(o) {}
    asio::awaitable<result<void>> append(std::vector<stored::run_record> records, bool) override {
      for (const auto& r : records)
        if (stored::name_of(r) == owner.fail_at) co_return fail(errc::io, "no space left on device");
      co_return result<void>{};
    }
    failing_journal& owner;
  };
};

/// Reads the feeds of its runs to their ends, as soon as events arrive.
class caller final : public run::run_feed::listener {
 public:
  /// Attaches to the feed and reads the events that are there already.
  void read(run::run_feed& feed, run::run_feed::wish w = {}) {
    last_run = feed.run();
    readers.push_back(feed.attach(*this, w));
    on_ready(run::run_event::kind::snapshot);
  }
  void leave(const std::string& why = "the caller went away") {
    for (auto& r : std::exchange(readers, {})) r->leave(why);
  }
  /// Behaves like a caller that closes its sending half.
  void answer_no_more() {
    for (auto& r : readers) r->answer_no_more();
  }
  void on_ready(run::run_event::kind) override {
    for (std::size_t i = 0; i < readers.size(); ++i) {  // `then` may add readers
      auto& r = *readers[i];
      while (const auto* e = r.peek()) {
        take(*e);
        r.pop();
      }
      if (!r.ended()) continue;
      if (r.refusal()) {
        refused.push_back(*r.refusal());
      } else {
        done.push_back(r.result());
        CHECK(json::raw_json::parse(done.back().text()).has_value());
      }
      readers.erase(readers.begin() + static_cast<std::ptrdiff_t>(i--));
      if (then) then();
    }
  }
  /// Returns the events of this type.
  lines of(const std::string& type) const {
    lines found;
    for (const auto& e : events)
      if (e.starts_with("{\"type\":\"" + type + "\"") || e.starts_with(type + " ")) found.push_back(e);
    return found;
  }
  std::string member(std::string_view key) const {
    REQUIRE(done.size() == 1);
    const auto value = json::find_member(done.front(), key);
    return value.as_string().value_or(std::string(value.text()));
  }
  lines events;
  std::vector<std::uint64_t> numbers;  ///< sequence numbers of the events, `done` included
  std::vector<json::raw_json> done;
  std::vector<error> refused;
  std::string last_run;
  std::function<void()> then;
  std::vector<std::unique_ptr<run::feed_reader>> readers;

 private:
  void take(const run::run_feed::entry& e) {
    numbers.push_back(e.seq);
    if (e.event.type == run::run_event::kind::done) return;
    if (e.event.type == run::run_event::kind::text)
      events.push_back("text " + e.event.text);
    else if (e.event.type == run::run_event::kind::reasoning)
      events.push_back("reasoning " + e.event.text);
    else
      events.push_back(e.event.body.str());
    if (e.event.is_delta()) return;
    CHECK(json::raw_json::parse(events.back()).has_value());
    CHECK(events.back().starts_with("{\"type\":\""));
  }
};

/// A runner whose start() also attaches a caller to the run.
class test_runner final : public run::runner {
 public:
  using run::runner::runner;
  using run::runner::start;
  result<std::string> start(run::run_request r, caller& c) {
    const bool deltas = r.stream;
    auto feed = start(std::move(r));
    if (!feed) return std::unexpected(feed.error());
    c.read(**feed, {.deltas = deltas});
    return (*feed)->run();
  }
};

inline std::vector<tools::adapted_tool> plain_adapter(std::span<const mcp::catalogs::entry_ptr> entries,
                                                      std::string_view) {
  std::vector<tools::adapted_tool> all;
  for (std::size_t i = 0; i < entries.size(); ++i)
    all.push_back(
        {i, {providers::model_name(entries[i]->name), entries[i]->description, json::raw_json::literal("{}")}});
  return all;
}

struct fixture {
  asio::io_context context{1};
  mcpbx::test::manual_time time;
  mcpbx::test::counting_random random;
  noted_journal kept;
  failing_journal failing;
  std::function<void(std::string)> note = [this](std::string what) { kept.note(std::move(what)); };
  fake_tools tools{context};
  std::shared_ptr<scripted_model> model = std::make_shared<scripted_model>(context, note);
  std::shared_ptr<scripted_model> quick = std::make_shared<scripted_model>(context, [](const std::string&) {});
  std::shared_ptr<scripted_client> server = std::make_shared<scripted_client>(context, "srv", note);
  caller caller_;
  std::shared_ptr<const std::string> origin = std::make_shared<std::string>("a command");  ///< of tools offered next
  std::unique_ptr<test_runner> runs;
  std::int64_t most_rounds = 1'000;  ///< ceiling for the rounds of runs that resume
  std::vector<stored::server_terms> servers{
      {"srv", {}, {"locked"}, {"precious", "guarded"}}};  ///< kept with runs that begin in this process
  std::shared_ptr<run::run_configuration> configured;     ///< used by runs that begin next
  /// Applies the present limits to a run of an earlier process before it resumes.
  std::function<result<void>(run::run_request&)> hold = [this](run::run_request& r) {
    r.limits.max_rounds = std::min(r.limits.max_rounds, most_rounds);
    return result<void>();
  };
  std::vector<std::size_t> active_at_ends;  ///< number of active runs at each report that a run has ended
  /// The reason why this test's runs are not checked against their records. Empty: the destructor checks them.
  std::string unproven;

  /// Own answers to servers, of which runs are told if `answers` is set before the first start.
  std::shared_ptr<answers::answer_settings> answering = std::make_shared<answers::answer_settings>();
  answers::own_answers own{{context.get_executor(), time, nullptr, [this] { return answering; }}};

  explicit fixture(bool store_fails = false, daemon::store::journal* other = nullptr, std::size_t awake_runs = 0) {
    if (store_fails) unproven = "what a store that fails has not kept cannot be folded";
    offer({"lookup", "other"});
    configured = configure();
    runs = std::make_unique<test_runner>(
        context.get_executor(), time, random, tools, [this] { return configured; },
        other         ? *other
        : store_fails ? static_cast<daemon::store::journal&>(failing)
                      : kept,
        run::runner::options{.adapt = plain_adapter,
                             .keep_to_present_terms = [this](run::run_request& r) { return hold(r); },
                             .run_ended = [this] { active_at_ends.push_back(runs->active()); },
                             .answers = &own,
                             .awake_runs = awake_runs});
  }
  /// Returns a configuration with both models and the present value of `servers`.
  std::shared_ptr<run::run_configuration> configure() {
    return std::make_shared<run::run_configuration>(
        [this](std::string_view name) -> result<std::shared_ptr<providers::model>> {
          if (name == "quick") return quick;
          if (!name.empty() && name != "scripted")
            return fail(errc::not_found, "there is no model \"" + std::string(name) + "\"");
          return model;
        },
        policy::present_terms(std::make_shared<const std::vector<stored::server_terms>>(servers)));
  }
  ~fixture() {
    bool joined = false;
    asio::co_spawn(
        context, [this]() -> asio::awaitable<void> { co_await runs->shut_down(); },
        [&](std::exception_ptr e) { joined = !e; });
    settle();
    CHECK(joined);
    CHECK(runs->active() == 0);
    CHECK(model->open == 0);
    CHECK(quick->open == 0);
    runs.reset();
    CHECK(kept.runs().empty() == !unproven.empty());
    for (const auto& run : kept.runs()) CHECK(fault_of(*run) == "");
  }

  mcp::catalogs::entry_ptr entry(const std::string& name, std::string title = {}) {
    auto e = std::make_shared<mcp::catalogs::catalog_entry>();
    e->name = "srv__" + name;
    e->server = "srv";
    e->tool = name;
    e->definition = json::raw_json::own("{\"name\":" + json::json_quoted(name) + "}");
    e->exposed = e->definition;
    e->annotations.title = std::move(title);
    e->owner = server;
    e->hash = 7;
    e->origin = origin;
    return e;
  }
  /// Returns the tool as its server lists it after an update.
  mcp::catalogs::entry_ptr changed(const std::string& name) {
    auto e = std::make_shared<mcp::catalogs::catalog_entry>(*entry(name));
    e->definition = json::raw_json::own("{\"name\":" + json::json_quoted(name) + R"(,"description":"new"})");
    e->exposed = e->definition;
    e->hash = 8;
    return e;
  }
  void offer(const std::vector<std::string>& names) {
    std::vector<mcp::catalogs::entry_ptr> entries;
    for (const auto& n : names) entries.push_back(entry(n));
    tools.catalog = std::make_shared<mcp::catalogs::catalog>(std::move(entries), tools.catalog->revision() + 1);
  }
  /// Offers tools under any names: pairs of the server's own name and the name in the catalog.
  void list(const std::vector<std::pair<std::string, std::string>>& named) {
    std::vector<mcp::catalogs::entry_ptr> entries;
    for (const auto& [own, name] : named) {
      auto e = std::make_shared<mcp::catalogs::catalog_entry>(*entry(own));
      e->name = name;
      entries.push_back(std::move(e));
    }
    tools.catalog = std::make_shared<mcp::catalogs::catalog>(std::move(entries), tools.catalog->revision() + 1);
  }
  /// Returns the server's own names of the tools that were called, in order.
  lines called() const {
    lines all;
    for (const auto& p : server->params) all.push_back(json::member_text(*json::raw_json::parse(p), "name"));
    return all;
  }
  /// Returns the records of the run that was started last.
  const std::vector<stored::run_record>& written() const { return kept.runs().back()->records; }

  /// Runs everything that can happen without the clock.
  void settle() {
    context.restart();
    while (context.poll() > 0) {
    }
  }
  static run::run_request ask(stored::run_limits limits = {}) {
    run::run_request r;
    r.system = "be brief";
    r.messages = {providers::user_message("go")};
    limits.status = stored::status_mode::off;
    limits.guidance.on = false;
    r.limits = std::move(limits);
    return r;
  }
  std::string start(run::run_request r) {
    auto name = runs->start(std::move(r), caller_);
    REQUIRE(name.has_value());
    CHECK(caller_.done.empty());
    return *name;
  }
  /// Starts a run and lets it go on until it needs the clock or an answer from outside.
  std::string run(run::run_request r = ask()) {
    auto name = start(std::move(r));
    settle();
    return name;
  }
};

}  // namespace mcpbx::daemon::test
