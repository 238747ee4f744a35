// Lanes: work leaves the speaking thread and its answer comes back to it.
#include "mcp/async/lane.hpp"

#include "test/mcp/async/pump.hpp"
#include "test/support/no_threads.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <doctest/doctest.h>

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>

namespace asio = boost::asio;
using namespace mcpbx;
using namespace mcpbx::async;
using namespace mcpbx::test;

TEST_CASE("work runs on the lane and its answer comes back on the speaking thread") {
  asio::io_context io(1);
  lane work("test", 1);
  const auto here = std::this_thread::get_id();
  std::thread::id there, back;
  bool done = false;
  REQUIRE(work.post([&, guard = asio::make_work_guard(io)] {
    there = std::this_thread::get_id();
    asio::post(io, [&] {
      back = std::this_thread::get_id();
      done = true;
    });
  }));
  run_until(io, [&] { return done; });
  CHECK(there != here);
  CHECK(back == here);
}

TEST_CASE("a lane whose thread cannot be started says so, does not run the work, and works later") {
  lane work("test", 2);
  std::atomic<int> ran = 0;
  {
    const no_threads none;
    const auto posted = work.post([&] { ++ran; });
    REQUIRE_FALSE(posted);
    CHECK(posted.error().code == errc::unavailable);
    CHECK(posted.error().message.find("lane \"test\"") != std::string::npos);
  }
  CHECK(work.post([&] { ++ran; }));
  work.join();
  CHECK(ran == 1);
}

TEST_CASE("a lane's threads block every signal") {
  lane work("test", 2);
  std::atomic<int> blocked{-1};
  const auto posted = work.post([&] {
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, nullptr, &now);
    blocked = sigismember(&now, SIGTERM) == 1 && sigismember(&now, SIGCHLD) == 1 && sigismember(&now, SIGHUP) == 1;
  });
  REQUIRE(posted);
  work.join();
  CHECK(blocked == 1);
  sigset_t here;
  pthread_sigmask(SIG_SETMASK, nullptr, &here);
  CHECK(sigismember(&here, SIGTERM) == 0);
}

TEST_CASE("join waits for what was posted, and an exception ends nothing else") {
  lane work("test", 1);
  std::atomic<int> ran = 0;
  REQUIRE(work.post([] { throw std::runtime_error("lost"); }));
  for (int i = 0; i < 100; ++i) REQUIRE(work.post([&] { ++ran; }));
  work.join();
  CHECK(ran == 100);
  REQUIRE(work.post([&] { ++ran; }));  // a lane that was joined starts again when it is used
  work.join();
  CHECK(ran == 101);
}

TEST_CASE("a lane starts its threads at the first use") {
  auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
  };
  std::thread([] {}).join();  // some sanitizers begin a thread of their own with the first
  const auto before = threads();
  lane work("test", 3);
  CHECK(threads() == before);
  REQUIRE(work.post([] {}));
  CHECK(threads() == before + 3);
}

TEST_CASE("a thread that lingers does what comes, and nobody waits for it") {
  constexpr std::chrono::hours long_time{1};
  asio::io_context io(1);
  lane work("test", 1);
  std::atomic<int> ran = 0;
  REQUIRE(work.post([&] { ++ran; }, long_time));
  REQUIRE(work.post([&] { ++ran; }, long_time));
  bool done = false;
  REQUIRE(work.post([&, guard = asio::make_work_guard(io)] {
    ++ran;
    asio::post(io, [&] { done = true; });
  }));
  run_until(io, [&] { return done; });
  CHECK(ran == 3);
  REQUIRE(work.post([&] { ++ran; }, long_time));
  work.join();
  CHECK(ran == 4);
}
