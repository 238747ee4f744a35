// Lanes: work leaves the speaking thread and its answer comes back to it.
#include "mcp/async/lane.hpp"

#include "mcp/async/scope.hpp"
#include "test/mcp/async/pump.hpp"

#include <boost/asio/io_context.hpp>
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
using namespace mcpbx::test;

TEST_CASE("work runs on the lane and its answer comes back on the speaking thread") {
  asio::io_context io(1);
  lane work("test", 1);
  scope s(io.get_executor());
  const auto here = std::this_thread::get_id();
  std::thread::id there, back;
  std::string answer;
  bool done = false;
  s.spawn("asker", [&]() -> asio::awaitable<void> {
    auto job = [&there] {
      there = std::this_thread::get_id();
      return std::string("forty-two");
    };
    answer = co_await work.run(job);
    back = std::this_thread::get_id();
    done = true;
  });
  run_until(io, [&] { return done; });
  CHECK(answer == "forty-two");
  CHECK(there != here);
  CHECK(back == here);
}

TEST_CASE("an exception of the work comes out of the await") {
  asio::io_context io(1);
  lane work("test", 1);
  scope s(io.get_executor());
  std::string caught;
  s.spawn("asker", [&]() -> asio::awaitable<void> {
    try {
      auto job = [] { throw std::runtime_error("no such file"); };
      co_await work.run(job);
    } catch (const std::runtime_error& e) {
      caught = e.what();
    }
  });
  run_until(io, [&] { return !caught.empty(); });
  CHECK(caught == "no such file");
}

TEST_CASE("a lane's threads block every signal") {
  lane work("test", 2);
  std::atomic<int> blocked{-1};
  work.post([&] {
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, nullptr, &now);
    blocked = sigismember(&now, SIGTERM) == 1 && sigismember(&now, SIGCHLD) == 1 && sigismember(&now, SIGHUP) == 1;
  });
  work.join();
  CHECK(blocked == 1);
  sigset_t here;
  pthread_sigmask(SIG_SETMASK, nullptr, &here);
  CHECK(sigismember(&here, SIGTERM) == 0);
}

TEST_CASE("join waits for what was posted, and an exception ends nothing else") {
  lane work("test", 1);
  std::atomic<int> ran = 0;
  work.post([] { throw std::runtime_error("lost"); });
  for (int i = 0; i < 100; ++i) work.post([&] { ++ran; });
  work.join();
  CHECK(ran == 100);
  work.post([&] { ++ran; });  // a lane that was joined starts again when it is used
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
  work.post([] {});
  CHECK(threads() == before + 3);
}

TEST_CASE("a thread that lingers does what comes, and nobody waits for it") {
  constexpr std::chrono::hours long_time{1};
  asio::io_context io(1);
  lane work("test", 1);
  std::atomic<int> ran = 0;
  work.post([&] { ++ran; }, long_time);
  work.post([&] { ++ran; }, long_time);
  scope s(io.get_executor());
  bool done = false;
  s.spawn("asker", [&]() -> asio::awaitable<void> {
    auto job = [&] { return ++ran; };
    CHECK(co_await work.run(job) == 3);
    done = true;
  });
  run_until(io, [&] { return done; });
  work.post([&] { ++ran; }, long_time);
  work.join();
  CHECK(ran == 4);
}
