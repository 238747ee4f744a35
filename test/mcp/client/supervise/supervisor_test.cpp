// Many tool servers: starting, explaining, restarting, stopping.
#include "mcp/client/supervise/supervisor.hpp"

#include "mcp/redact/secret.hpp"
#include "test/mcp/client/supervisor_rig.hpp"

#include <algorithm>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::clients;
using namespace mcpbx::mcp::protocol;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::mcp::supervise;
using namespace mcpbx::redact;
using namespace mcpbx::test;
using box = supervisor_rig::outcome_box;

TEST_CASE("M1 M2: servers of both eras are started at once and their tools can be called") {
  supervisor_rig r;
  r.launcher.add("old", legacy_script({"echo", "list"}));
  r.launcher.add("new", modern_script({"echo"}));
  r.start({server_named("old"), server_named("new")});
  CHECK(r.names() == std::vector<std::string>{"old__echo", "old__list", "new__echo"});
  CHECK(r.status(0).state == server_state::ready);
  CHECK(r.status(0).era == era::legacy);
  CHECK(r.status(0).revision == "2025-11-25");
  CHECK(r.status(0).tools == 2);
  CHECK(r.status(0).process->pid == 1000);
  CHECK(r.status(1).era == era::modern);
  box one, two;
  r.call(*r.owner("old__echo"), one);
  r.call(*r.owner("new__echo"), two);
  CHECK(one.times + two.times == 0);
  r.turn();
  CHECK(one.text() == text_result("old:echo"));
  CHECK(two.answered());
}

TEST_CASE("G7: a server that hangs in its start delays nobody") {
  supervisor_rig r;
  r.launcher.add("slow", script([](scripted_process&, const message&) {}));
  r.launcher.add("good", legacy_script());
  auto slow = server_named("slow");
  slow.start_timeout = milliseconds(9000);
  r.start({slow, server_named("good")});
  CHECK(r.names() == std::vector<std::string>{"good__echo"});
  CHECK(r.status(0).state == server_state::starting);
  CHECK_FALSE(r.supervisor->tried());
  int settled = 0;
  r.supervisor->when_settled(milliseconds(1000), [&] { ++settled; });
  r.turn();
  CHECK(settled == 0);
  r.advance(1000);
  CHECK(settled == 1);
  r.supervisor->when_settled(milliseconds(60'000), [&] { ++settled; });
  CHECK(settled == 1);
  r.advance(8000);
  CHECK(settled == 2);
  CHECK(r.supervisor->tried());
  // The next try is in progress already.
  CHECK(r.status(0).state == server_state::starting);
  CHECK(r.status(0).start_failed);
  CHECK(r.status(0).process->pid > 0);
  CHECK(r.status(0).last_error == "tool server \"slow\" was not ready within 9 s: it did not answer initialize");
  CHECK(r.launcher.spawned[0]->signals == std::vector<int>{SIGTERM});
  CHECK(r.launcher.count("slow") == 2);
}

TEST_CASE("G9: a server that writes only what is no JSON-RPC is told as that, with a quote") {
  supervisor_rig r;
  redactor::add(secret("canary-4711"));
  std::vector<std::string> lines{"Listening, key canary-4711\x1b[0m " + std::string(500, 'x')};
  r.launcher.add("srv", script([&lines](scripted_process& p, const message& m) {
                   if (m.method() != "initialize") return;
                   for (const auto& line : lines) p.say(line);
                   if (lines.size() == 2) p.exit(1);
                 }));
  const auto last_error = [&r] {
    auto o = server_named("srv");
    o.start_timeout = milliseconds(9000);
    r.start({o});
    r.advance(9000);
    return r.status().last_error;
  };
  const std::string quoted = "\"Listening, key ***[0m xxx";
  SUBCASE("one line") {
    const auto told = last_error();
    CHECK(told.starts_with(
        "tool server \"srv\" was not ready within 9 s: it did not answer initialize; it wrote a line to "
        "its stdout that is no JSON-RPC: " +
        quoted));
    CHECK(told.size() < 400);
  }
  SUBCASE("JSON that is no JSON-RPC counts") {
    lines.insert(lines.end(), {R"({"level":"info"})", "{", "12"});
    CHECK(last_error().find("; it wrote 4 lines to its stdout that are no JSON-RPC, the first one: " + quoted) !=
          std::string::npos);
  }
  SUBCASE("an exit before it is ready tells them as well") {
    lines.emplace_back("done");
    CHECK(last_error().find("while it was asked initialize; it wrote 2 lines to its stdout that are no JSON-RPC") !=
          std::string::npos);
  }
  redactor::clear();
}

TEST_CASE("G8: a program that is missing is explained and tried again") {
  supervisor_rig r;
  r.launcher.spawn_failure = "there is no program \"gone\" in PATH";
  r.start({server_named("gone")});
  CHECK(r.status().state == server_state::failed);
  CHECK(r.status().last_error == "tool server \"gone\" cannot be started: there is no program \"gone\" in PATH");
  CHECK(r.status().next_try_ms >= 160);
  CHECK(r.launcher.attempts == 2);
  CHECK(r.supervisor->tried());
  int settled = 0;
  r.supervisor->when_settled(milliseconds(60'000), [&] { ++settled; });
  r.turn();
  CHECK(settled == 1);
  r.advance(5000);
  CHECK(r.launcher.attempts == 6);
  r.launcher.spawn_failure.clear();
  r.launcher.add("gone", legacy_script());
  r.advance(10'000);
  CHECK(r.status().state == server_state::ready);
}

TEST_CASE("G8: an entry that cannot be prepared is explained and harms nobody else") {
  supervisor_rig r;
  auto bad = server_named("bad");
  bad.connect = r.process_of(
      "bad", [](const auto& then) { then(fail(errc::config, "the environment variable TOKEN is not set")); });
  auto never_ready = server_named("never");
  never_ready.connect = r.process_of("never", [](const auto&) {});
  never_ready.start_timeout = milliseconds(1000);
  r.launcher.add("good", legacy_script());
  r.start({bad, never_ready, server_named("good")});
  CHECK(r.status(0).state == server_state::failed);
  CHECK(r.status(0).last_error.find("TOKEN is not set") != std::string::npos);
  CHECK(r.status(2).state == server_state::ready);
  r.advance(1000);
  CHECK(r.status(1).state == server_state::starting);
  CHECK(r.status(1).start_failed);
  CHECK(r.status(1).last_error == "tool server \"never\" was not ready within 1 s");
}

TEST_CASE("G8: a server that exits at its start shows status and stderr") {
  supervisor_rig r;
  r.launcher.add("dies", scripted_launcher::setup([](scripted_process& p) {
                   p.say_stderr("loading\nno licence\n");
                   p.exit(3);
                 }));
  r.start({server_named("dies")});
  r.advance(3000);
  CHECK(r.status().state == server_state::crash_loop);
  CHECK(r.status().process->exit == "exit status 3");
  CHECK(r.status().process->stderr_tail.ends_with("loading\nno licence\n"));
  CHECK(r.status().next_try_ms > 0);
  CHECK(r.status().last_error.find("tool server \"dies\" exited with status 3 before it was ready") == 0);
  CAPTURE(r.status().last_error);
  CHECK(r.status().last_error.ends_with("last stderr: no licence"));
  CHECK(r.launcher.count("dies") <= 6);
  SUBCASE("and a manual restart works in the crash loop") {
    r.launcher.add("dies", legacy_script());
    r.launcher.add("dies", legacy_script());
    CHECK(r.supervisor->restart("dies").has_value());
    r.turn();
    r.advance(1);
    CHECK(r.launcher.count("dies") >= 5);
  }
}

TEST_CASE("G8: the last error has a time and goes away when the server is well again") {
  supervisor_rig r;
  r.launcher.add("srv", legacy_script());
  r.start({server_named("srv")});
  CHECK(r.status().last_error_ms == -1);
  r.launcher.last().say_stderr("Error: no memory\n}\nNode.js v24.21.0\n");
  r.launcher.last().exit(7);
  r.turn();
  const auto died = r.time.wall_ms();
  CHECK(r.status().last_error == "tool server \"srv\" exited with status 7; stderr: Error: no memory");
  CHECK(r.status().last_error_ms == died);
  SUBCASE("an answered call means that it is well") {
    r.advance(1000);
    REQUIRE(r.status().state == server_state::ready);
    CHECK(r.status().last_error_ms == died);
    box b;
    r.call(*r.owner("srv__echo"), b);
    r.turn();
    CHECK(b.answered());
  }
  SUBCASE("so does a minute of being ready") {
    r.advance(1000);
    REQUIRE(r.status().state == server_state::ready);
    r.advance(58'000);
    CHECK_FALSE(r.status().last_error.empty());
    r.advance(2000);
  }
  CHECK(r.status().last_error.empty());
  CHECK(r.status().last_error_ms == -1);
}

TEST_CASE("G8: a list of the wrong shape is an error until a right one comes") {
  supervisor_rig r;
  bool good = false;
  r.start("srv", legacy_script({"echo"}, [&good](scripted_process& p, const message& m) {
            if (m.method() != "tools/list" || good) return false;
            p.answer(m, R"({"tools":1})");
            return true;
          }));
  r.advance(100'000);
  CHECK(r.status().state == server_state::ready);
  CHECK(r.status().last_error.find("wrong shape") != std::string::npos);
  good = true;
  r.advance(100'000);
  CHECK(r.names() == std::vector<std::string>{"srv__echo"});
  CHECK(r.status().last_error.empty());
}

TEST_CASE("G2: a server that dies is restarted at once and works again") {
  supervisor_rig r;
  r.start("srv", legacy_script());
  const auto before = r.supervisor->snapshot();
  r.launcher.last().die(SIGSEGV);
  r.turn();
  CHECK(r.launcher.count("srv") == 2);
  CHECK(r.status().state == server_state::ready);
  CHECK(r.status().restarts == 1);
  CHECK(r.status().process->exit == "signal 11 (SIGSEGV)");
  box b;
  r.call(*r.owner("srv__echo"), b);
  r.turn();
  CHECK(b.answered());
  // The catalog reports no change.
  CHECK(r.supervisor->snapshot() == before);
}

TEST_CASE("G2: a server that exits after the handshake is spawned at most 6 times in 5 s") {
  supervisor_rig r;
  r.start("srv", legacy_script({"echo"}, [](scripted_process& p, const message& m) {
            if (m.method() != "notifications/initialized") return false;
            p.exit(0);
            return true;
          }));
  r.advance(5000);
  CHECK(r.launcher.count("srv") <= 6);
  CHECK(r.status().state == server_state::crash_loop);
}

TEST_CASE("G2: fifty servers that die together come back spread out, each within 2 s") {
  supervisor_rig r;
  std::vector<server_options> servers;
  for (int i = 0; i < 50; ++i) {
    const auto name = "s" + std::to_string(i);
    r.launcher.add(name, legacy_script());
    servers.push_back(server_named(name));
  }
  r.start(std::move(servers));
  CHECK(r.names().size() == 50);
  for (int round = 0; round < 2; ++round) {
    const auto died = r.time.now();
    const auto before = r.launcher.spawned.size();
    for (const auto& p : std::vector(r.launcher.spawned))
      if (!p->exited) p->die(SIGKILL);
    r.advance(2000);
    REQUIRE(r.launcher.spawned.size() == before + 50);
    CHECK(r.launcher.alive() == 50);
    std::vector<time_point> at(r.launcher.spawn_times.begin() + static_cast<std::ptrdiff_t>(before),
                               r.launcher.spawn_times.end());
    std::ranges::sort(at);
    CHECK(at.back() - at.front() > milliseconds(100));
    CHECK(at.back() - died < milliseconds(2000));
  }
  for (const auto& s : r.supervisor->status()) CHECK(s.state == server_state::ready);
}

TEST_CASE("a server that dies of the probe is opened with the handshake the next time") {
  supervisor_rig r;
  r.start("srv", legacy_script({"echo"}, [](scripted_process& p, const message& m) {
            if (m.method() != "server/discover") return false;
            p.exit(1);
            return true;
          }));
  CHECK(r.status().state == server_state::ready);
  CHECK(r.launcher.count("srv") == 2);
  CHECK(r.launcher.last().count("server/discover") == 0);
}

TEST_CASE("a legacy server is not probed again when it is restarted") {
  supervisor_rig r;
  r.start("srv", legacy_script());
  CHECK(r.launcher.last().count("server/discover") == 1);
  r.launcher.last().exit(0);
  r.turn();
  CHECK(r.launcher.last().count("server/discover") == 0);
  CHECK(r.status().state == server_state::ready);
}

TEST_CASE("G20: stopping waits for running calls, then closes stdin, SIGTERM, SIGKILL, within 10 s") {
  supervisor_rig r;
  const auto silent = [](scripted_process& p, const message& m) {
    p.ignores_stdin_end = p.ignores_sigterm = true;
    return m.method() == "tools/call";
  };
  r.launcher.add("stubborn", legacy_script({"echo"}, silent));
  r.launcher.add("good", legacy_script());
  r.start({server_named("stubborn"), server_named("good")});
  box b, refused;
  const auto owner = r.owner("stubborn__echo");
  r.call(*owner, b);
  r.turn();
  const auto begun = r.time.now();
  int stopped = 0;
  r.supervisor->stop([&] { ++stopped; });
  r.turn();
  auto& stubborn = *r.launcher.spawned[0];
  auto& good = *r.launcher.spawned[1];
  CHECK(good.stdin_closed);
  CHECK(good.exited);
  CHECK_FALSE(stubborn.stdin_closed);
  r.call(*owner, refused);
  r.turn();
  CHECK(refused.text() == "tool server \"stubborn\" takes no new calls: mcpbx is stopping");
  r.advance(2999);
  CHECK(b.times == 0);
  r.advance(1);
  CHECK(b.failed());
  CHECK(b.text() == "tools/call echo was cancelled: mcpbx is stopping");
  CHECK(stubborn.count("notifications/cancelled") == 1);
  CHECK(stubborn.stdin_closed);
  CHECK(stubborn.signals.empty());
  r.advance(1000);
  CHECK(stubborn.signals == std::vector<int>{SIGTERM});
  r.advance(2999);
  CHECK(stubborn.signals.size() == 1);
  r.advance(1);
  CHECK(stubborn.signals == std::vector<int>{SIGTERM, SIGKILL});
  CHECK(stopped == 1);
  CHECK(r.time.now() - begun <= std::chrono::seconds(10));
  CHECK(r.launcher.alive() == 0);
  r.advance(120'000);
  CHECK(r.launcher.spawned.size() == 2);
}

TEST_CASE("G20: even a process that survives SIGKILL does not keep the stop from ending") {
  supervisor_rig r;
  r.start("srv", legacy_script({"echo"}, [](scripted_process& p, const message&) {
            p.ignores_stdin_end = p.ignores_sigterm = p.ignores_sigkill = true;
            return false;
          }));
  int stopped = 0;
  r.supervisor->stop([&] { ++stopped; });
  r.advance(10'000);
  CHECK(stopped == 1);
}

TEST_CASE("G20: stopping in the middle of any start ends at once") {
  supervisor_rig r;
  auto preparing = server_named("preparing");
  preparing.connect = r.process_of("preparing", [](const auto&) {});
  auto lazy = server_named("lazy");
  lazy.lazy = true;
  r.launcher.add("hangs", script([](scripted_process&, const message&) {}));
  r.launcher.add("dies", scripted_launcher::setup([](scripted_process& p) { p.exit(1); }));
  r.start({preparing, lazy, server_named("hangs"), server_named("dies")});
  int stopped = 0;
  r.supervisor->stop([&] { ++stopped; });
  r.advance(1000);
  CHECK(stopped == 1);
  CHECK(r.launcher.alive() == 0);
  for (const auto& s : r.supervisor->status()) CHECK(s.state == server_state::stopped);
}

TEST_CASE("M7: a lazy server starts with its first call or when the catalog is wanted") {
  supervisor_rig r;
  auto lazy = server_named("lazy");
  lazy.lazy = true;
  lazy.idle_stop = milliseconds(5000);
  r.launcher.add("lazy", legacy_script());
  r.start({lazy});
  CHECK(r.launcher.spawned.empty());
  CHECK(r.status().state == server_state::lazy);
  int settled = 0;
  r.supervisor->when_settled(milliseconds(1000), [&] { ++settled; });
  r.turn();
  CHECK(settled == 1);
  CHECK(r.names() == std::vector<std::string>{"lazy__echo"});
  r.advance(5000);
  CHECK(r.launcher.alive() == 0);
  CHECK(r.status().state == server_state::lazy);
  // Its tools stay in the catalog, and a call wakes it.
  box b;
  r.call(*r.owner("lazy__echo"), b);
  r.turn();
  CHECK(b.answered());
  CHECK(r.launcher.count("lazy") == 2);
  CHECK(r.status().restarts == 0);
}

TEST_CASE("G8: a server that cannot be started at all is failed from the beginning and never tried") {
  supervisor_rig r;
  auto far = server_named("far");
  far.unusable = "it has a url";
  r.start({far});
  CHECK(r.status().state == server_state::failed);
  CHECK(r.status().last_error == "tool server \"far\" cannot be started: it has a url");
  CHECK(r.status().next_try_ms == -1);
  int settled = 0;
  r.supervisor->when_settled(milliseconds(1000), [&] { ++settled; });
  r.turn();
  CHECK(settled == 1);
  r.advance(600'000);
  CHECK(r.launcher.spawned.empty());
  const auto again = r.supervisor->restart("far");
  REQUIRE_FALSE(again.has_value());
  CHECK(again.error().message == "tool server \"far\" cannot be started: it has a url");
  int stopped = 0;
  r.supervisor->stop([&] { ++stopped; });
  r.turn();
  CHECK(stopped == 1);
}

TEST_CASE("M7: a call whose params are refused does not keep an idle server from being stopped") {
  supervisor_rig r;
  auto s = server_named("srv");
  s.idle_stop = milliseconds(5000);
  r.launcher.add("srv", legacy_script());
  r.start({s});
  box b;
  server_call c;
  c.params = raw_json::own("[]");
  c.done = [&](call_outcome o) {
    ++b.times;
    b.last = std::move(o);
  };
  r.owner("srv__echo")->call(std::move(c));
  r.turn();
  CHECK(b.times == 1);
  CHECK(b.last.type == call_outcome::kind::failed);
  r.advance(5000);
  CHECK(r.launcher.alive() == 0);
}

TEST_CASE("lists that may come are offered until each server has told or never will") {
  supervisor_rig r;
  auto off = server_named("off");
  off.disabled = true;
  auto broken = server_named("broken");
  broken.unusable = "it has no program";
  const auto offers = [&] { return r.supervisor->snapshot()->capabilities(); };
  SUBCASE("a disabled server and one that cannot be started do not count") {
    r.start({off, broken});
    r.turn();
    CHECK_FALSE(offers().prompts);
    CHECK_FALSE(offers().resources);
  }
  SUBCASE("a server that starts counts until it has told") {
    r.launcher.add("srv", legacy_script());
    r.supervisor->apply(r.with_processes({server_named("srv"), off}));
    CHECK(offers().prompts);
    r.turn();
    CHECK(r.status().state == server_state::ready);
    CHECK_FALSE(offers().prompts);
    CHECK_FALSE(offers().resources);
  }
  SUBCASE("a lazy server counts as long as it sleeps") {
    auto lazy = server_named("lazy");
    lazy.lazy = true;
    r.start({lazy});
    r.turn();
    CHECK(offers().prompts);
  }
  SUBCASE("what a server has told counts, and its prompts are listed") {
    r.start(
        "srv", legacy_script({"t"}, [](scripted_process& p, const message& m) {
          if (m.method() == "initialize") {
            p.answer(
                m,
                R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"completions":{}},"serverInfo":{}})");
            return true;
          }
          if (m.method() != "prompts/list") return false;
          p.answer(m, R"({"prompts":[{"name":"p"}]})");
          return true;
        }));
    CHECK(offers().prompts);
    CHECK(offers().completions);
    CHECK_FALSE(offers().resources);
    CHECK(r.supervisor->snapshot()->list(prompt_kind()).text() == R"({"prompts":[{"name":"srv__p"}]})");
    CHECK(r.supervisor->snapshot()->hints(prompt_kind(), r.time.now()).is_private);
  }
}

TEST_CASE("M7: restart names the nearest server and refuses a disabled one") {
  supervisor_rig r;
  auto off = server_named("off");
  off.disabled = true;
  r.launcher.add("github", legacy_script());
  r.start({server_named("github"), off});
  const auto unknown = r.supervisor->restart("gihub");
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().code == errc::not_found);
  CHECK(unknown.error().message ==
        "there is no tool server \"gihub\" (did you mean \"github\"?); `mcpbx servers` lists them");
  CHECK(r.supervisor->restart("off").error().code == errc::invalid_argument);
  CHECK(r.status(1).state == server_state::disabled);
  REQUIRE(r.supervisor->restart("github").has_value());
  r.turn();
  CHECK(r.launcher.count("github") == 2);
  CHECK(r.launcher.spawned[0]->signals.empty());
  CHECK(r.status().state == server_state::ready);
}

TEST_CASE("a replaced keeper brings back what waits") {
  supervisor_rig r;
  r.launcher.spawn_failure = "the keeper is gone";
  r.start({server_named("a"), server_named("b")});
  r.advance(20'000);
  CHECK(r.status(0).next_try_ms > 1000);
  r.launcher.spawn_failure.clear();
  r.launcher.add("a", legacy_script());
  r.launcher.add("b", legacy_script());
  r.supervisor->keeper_replaced();
  r.advance(50);
  CHECK(r.status(0).state == server_state::ready);
  CHECK(r.status(1).state == server_state::ready);
}

TEST_CASE("a change of the catalog is told once per turn and when there is one or a server says so") {
  supervisor_rig r;
  int changes = 0;
  auto tools = std::make_shared<std::vector<std::string>>(std::vector<std::string>{"a"});
  const auto live = [tools](scripted_process& p, const message& m) { legacy_script (*tools)(p, m); };
  r.launcher.add("one", live);
  r.launcher.add("two", legacy_script());
  auto subscription = r.supervisor->on_catalog_change([&](const feature_kind&) { ++changes; });
  r.start({server_named("one"), server_named("two")});
  CHECK(changes >= 1);
  CHECK(changes <= 2);
  const auto before = changes;
  const auto old = r.supervisor->snapshot();
  r.advance(20'000);
  tools->push_back("b");
  r.launcher.spawned[0]->say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  r.turn();
  CHECK(changes == before + 1);
  CHECK(r.names() == std::vector<std::string>{"one__a", "one__b", "two__echo"});
  // A user of the old snapshot keeps a consistent view, and unchanged entries are shared.
  CHECK(old->entries().size() == 2);
  CHECK(r.supervisor->snapshot()->entries()[0] == old->entries()[0]);
  r.advance(20'000);
  r.launcher.spawned[0]->say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  r.turn();
  CHECK(changes == before + 2);
  subscription.reset();
  tools->push_back("c");
  r.advance(20'000);
  r.launcher.spawned[0]->say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  r.turn();
  CHECK(changes == before + 2);
  CHECK(r.names().size() == 4);
}
