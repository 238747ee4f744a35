// Plays disturbed conversations and checks that nothing is left of them.
#include "test/mcp/bridging/matrix.hpp"

#include "mcp/support/shared_bytes.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <set>
#include <utility>

namespace mcpbx::test {
namespace {

using answers = std::map<std::string, std::string>;  // by the id of the request

std::string answer_everything(std::string_view method, const json::raw_json&) {
  if (method == "roots/list") return R"({"roots":[{"uri":"file:///work"}]})";
  if (method == "sampling/createMessage")
    return R"({"role":"assistant","content":{"type":"text","text":"word"},"model":"m"})";
  return R"({"action":"accept","content":{"one":"this"}})";
}

std::unique_ptr<disturbed> prepared(const flow& f, eras e) {
  auto d = std::make_unique<disturbed>(e);
  d->srv = &d->b.add_server("srv");
  d->other = &d->b.add_server("b");
  d->other->capabilities = R"("tools":{"listChanged":true})";
  d->srv->capabilities = R"("tools":{"listChanged":true},"logging":{})";
  if (f.prepare) f.prepare(*d);
  d->b.start();
  return d;
}

bridge_caller& join(disturbed& d, const std::string& name, const std::string& principal) {
  auto& c = d.b.add_caller(name, principal);
  c.capabilities = R"({"roots":{},"sampling":{},"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}})";
  c.answerer = answer_everything;
  c.open();
  d.b.pass(10);
  return c;
}

/// Returns true for a process that still takes and does what it is told.
bool is_well(server_life& l) {
  return !l.process().exited && !l.process().stdin_closed && l.process().reads;
}

/// Every request has one answer, unless its caller has cancelled it.
void check_answers(const bridge_caller& c) {
  for (const auto& wrong : c.wrong) FAIL_CHECK(c.name, ": ", wrong);
  for (const auto& [id, r] : c.requests()) {
    if (c.left() || r.cancelled || r.method == "subscriptions/listen") continue;
    if (r.answers.size() != 1) FAIL_CHECK(c.name, ": request ", id, " ", r.method);
  }
  for (const auto& line : c.received())
    if (contains(line, "bug in mcpbx")) FAIL_CHECK(line);
}

/// Nothing is open at mcpbx, nor at a server that still runs.
void check_closed(disturbed& d) {
  for (const auto& c : d.b.callers()) {
    if (c->left()) continue;
    CHECK_MESSAGE(c->session().open() == c->session().listens(), c->name);
    CHECK_MESSAGE(c->session().asked() == 0, c->name);
  }
  CHECK(d.b.held.size() == 0);
  CHECK(d.b.held.bytes() == 0);
  CHECK(d.b.rig.supervisor->open_calls() == 0);
  for (const auto& s : d.b.rig.supervisor->status()) CHECK(s.queued_calls == 0);
  for (const auto* server : {d.srv, d.other})
    for (const auto& l : server->lives) {
      for (const auto& line : l->stray) FAIL_CHECK(server->name, " got ", line);
      if (!is_well(*l)) continue;
      for (const auto& [id, method] : l->open)
        if (method != "subscriptions/listen") FAIL_CHECK(server->name, ": request ", id, " is open: ", method);
      if (d.b.era.new_caller && !d.b.era.new_server)
        for (const auto& [id, state] : l->tasks)
          if (state == "working") FAIL_CHECK(server->name, ": task ", id, " was left alone");
      for (const auto& [id, times] : l->asked)
        if (times != 1) FAIL_CHECK(server->name, ": question ", id, " ", times);
    }
}

/// Nobody watches any more.
void check_unwatched(const disturbed& d) {
  for (const auto* server : {d.srv, d.other})
    for (const auto& l : server->lives) {
      if (!is_well(*l)) continue;
      CHECK(l->subscribed.empty());
      CHECK(l->listens.size() <= 1);
      for (const auto& [id, filter] : l->listens) CHECK_FALSE(contains(filter, "resourceSubscriptions"));
    }
}

void check_innocent(const disturbed& d, bool refused) {
  const auto& c = *d.innocent;
  for (const auto& [id, r] : c.requests())
    if (r.method == "tools/call") CHECK(contains(c.answer(id), refused ? "mcpbx is stopping" : "b hello"));
  for (const auto& line : c.received()) {
    const std::string method = member_at(line, {"method"});
    if (!method.empty() && !contains(method, "list_changed")) FAIL_CHECK(line);
  }
}

/// Returns the answers in the end to the requests that were sent before this step; retries belong to their first
/// request.
answers answers_of(const bridge_caller& c, int before) {
  answers out;
  std::set<std::string> retries;
  for (const auto& [id, r] : c.requests()) retries.insert(r.retry);
  for (const auto& [id, r] : c.requests()) {
    if (r.cancelled || r.step >= before || retries.contains(id)) continue;
    std::string result = c.result(id);
    // The state differs each time.
    if (const auto asked = member_at(result, {"inputRequests"}); !asked.empty()) result = asked;
    out[id] = result.empty() ? member_at(c.answer(id), {"error"}) : result;
  }
  return out;
}

struct outcome {
  std::vector<bridge_step::way> steps{};
  std::vector<answers> told{};  // to the requests before each step
  std::ptrdiff_t bytes = 0;     // more than before
  std::ptrdiff_t renewed = 0;   // the same after a restart of the server, whose pages are then there a second time
};

/// Every call at a server belongs to a request of a caller, or to one that is held for its caller; every question of a
/// server to such a call.
void check_owned(const disturbed& d) {
  std::size_t most = d.b.held.size();
  for (const auto& c : d.b.callers())
    if (!c->left()) most += c->session().open() - c->session().listens();
  CHECK(d.b.rig.supervisor->open_calls() <= most);
  for (const auto& l : d.srv->lives) {
    if (!is_well(*l)) continue;
    for (const auto& [id, times] : l->asked)
      if (times == 0 && !l->open.contains(l->about[id])) FAIL_CHECK("question ", id, " is open after its call");
  }
}

/// The place of an event: just before a message leaves, or some time after it.
struct moment {
  int step = 0;
  bool after = false;
};

/// Plays a flow on a bridge that is ready, which is not used again unless `keep`.
outcome play(const flow& f, disturbed* d, const event* ev, moment at, const outcome* undisturbed, bool keep) {
  outcome out;
  const eras e = d->b.era;
  for (const auto& l : d->srv->lives) {
    l->tasks.clear();
    l->polls.clear();
  }
  const std::size_t bytes = byte_account::total();
  d->caller = &join(*d, "caller", "uid:1");
  d->innocent = &join(*d, "innocent", "uid:2");
  auto& b = d->b;
  bool happened = false;
  const auto happen = [&](const bridge_step& s) {
    ev->happen(*d, s);
    d->innocent->call("b__echo", R"({"text":"hello"})");
  };
  const auto timer = b.rig.time.make_timer();
  b.on_step = [&](int step, const bridge_step& s) {
    if (ev == nullptr) return out.steps.push_back(s.direction);
    if (step != at.step || std::exchange(happened, true)) return;
    if (at.after)
      timer->arm(b.rig.time.now() + milliseconds(5), [&, s] { happen(s); });
    else
      happen(s);
  };
  b.count_steps();
  for (const auto& act : f.acts) {
    act(*d);
    b.pass(40);
    check_owned(*d);
  }
  b.on_step = {};
  if (ev && ev->aftermath) {
    b.rig.advance(6'500);
    ev->aftermath(*d);
  }
  b.rig.advance(60'000);
  if (ev == nullptr)
    for (std::size_t n = 0; n <= out.steps.size() + 1; ++n)
      out.told.push_back(answers_of(*d->caller, static_cast<int>(n)));
  for (const auto& c : b.callers()) check_answers(*c);
  check_closed(*d);
  check_innocent(*d, ev && ev->refuses_calls);
  if (ev && !undisturbed->told.empty()) {
    if (ev->harmless) CHECK(answers_of(*d->caller, 1'000) == undisturbed->told.back());
    // A request from before goes on; a retry at a new server is a request of its own.
    if (ev->refuses_calls && !(e.new_caller && e.new_server)) {
      const answers now = answers_of(*d->caller, at.step);
      for (const auto& [id, text] : undisturbed->told[static_cast<std::size_t>(at.step)]) {
        const auto found = now.find(id);
        if (found == now.end() || found->second != text)
          FAIL_CHECK("request ", id, " has the answer ", found == now.end() ? "" : found->second, " and not ", text);
      }
    }
  }
  if (d->twin)
    for (const auto& [id, r] : d->twin->requests())
      if (r.method == "tools/call") CHECK(contains(d->twin->answer(id), "srv twin"));
  for (const auto& c : b.callers()) c->leave();
  b.rig.advance(3'000);
  check_unwatched(*d);
  for (const auto& c : b.callers()) c->forget();
  d->twin = nullptr;
  b.rig.advance(70'000);
  const auto more = [bytes] {
    return static_cast<std::ptrdiff_t>(byte_account::total()) - static_cast<std::ptrdiff_t>(bytes);
  };
  out.bytes = more();
  if (ev) {
    const auto most = d->srv->lives.size() > 1 ? undisturbed->renewed : undisturbed->bytes;
    // Items of a list that has changed lie apart, and one of them may be there still.
    CHECK_MESSAGE(out.bytes <= most + (f.changes_lists ? 512 : 0), "bytes: ", out.bytes, " more, and not ", most);
    return out;
  }
  if (keep) return out;
  d->srv->life().process().die(9);
  b.rig.advance(10'000);
  out.renewed = more();
  return out;
}

}  // namespace

int disturb(const flow& f, const event& e) {
  int runs = 0;
  // Some texts are made once for all.
  static const bool warm = [&] {
    const outcome any{.bytes = 1 << 20, .renewed = 1 << 20};
    for (const flow& one : flows()) {
      play(one, prepared(one, {}).get(), &events().front(), {2}, &any, false);
      for (const event& each : events())
        if (each.changes_lists && one.name == "watch")
          for (const eras combination : all_eras) {
            const auto kept = prepared(one, combination);
            for (const int step : {1, 2, 3}) play(one, kept.get(), &each, {step}, &any, true);
          }
    }
    return true;
  }();
  REQUIRE(warm);
  for (const eras combination : all_eras) {
    CAPTURE(combination.sign());
    const outcome undisturbed = play(f, prepared(f, combination).get(), nullptr, {}, nullptr, false);
    REQUIRE_FALSE(undisturbed.steps.empty());
    if (!f.changes_lists) CHECK(undisturbed.bytes == 0);
    std::unique_ptr<disturbed> kept;
    const auto run = [&](moment at) {
      CAPTURE(at.step);
      CAPTURE(at.after);
      if (!kept || !e.spares_servers || f.changes_lists) kept = prepared(f, combination);
      play(f, kept.get(), &e, at, &undisturbed, true);
      ++runs;
    };
    for (int step = 1; step <= static_cast<int>(undisturbed.steps.size()); ++step) {
      if (e.before == event::place::first && step > 1) break;
      if (e.before == event::place::server_speaks &&
          undisturbed.steps[static_cast<std::size_t>(step - 1)] != bridge_step::way::server_out)
        continue;
      run({step, false});
      if (e.also_between) run({step, true});
    }
  }
  return runs;
}

}  // namespace mcpbx::test
