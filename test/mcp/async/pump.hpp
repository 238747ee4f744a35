// Runs an io_context until something has happened, with a watchdog that no passing test comes near.
#pragma once
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <chrono>

namespace mcpbx::test {

template <class Condition>
void run_until(boost::asio::io_context& io, Condition&& condition) {
  const auto watchdog = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (!condition()) {
    REQUIRE(std::chrono::steady_clock::now() < watchdog);
    io.restart();
    io.run_one_for(std::chrono::milliseconds(50));
  }
}

/// Runs what is ready, and what that makes ready, without waiting.
inline void run_ready(boost::asio::io_context& io) {
  io.restart();
  io.poll();
}

}  // namespace mcpbx::test
