// An HTTP client on a loop of its own, and a recorder of what an exchange told.
#pragma once
#include "mcp/async/lane.hpp"
#include "mcp/async/system_time.hpp"
#include "mcp/http/client/http_client.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mcpbx::test {

struct http_loop {
  boost::asio::io_context context;
  async::system_time real{context.get_executor()};
  async::lane compute{"compute", 1};
  std::optional<http::clients::client> client;

  explicit http_loop(time_source* time = nullptr, http::clients::client::options o = {}) {
    client.emplace(context.get_executor(), time != nullptr ? *time : real, compute, o);
  }
  ~http_loop() {
    client.reset();
    compute.join();
    context.restart();
    context.poll();
  }
  /// Runs until `done()`; a minute is the watchdog. False: it was hit.
  bool until(const std::function<bool()>& done) {
    const auto watchdog = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done()) {
      if (std::chrono::steady_clock::now() > watchdog) return false;
      context.restart();
      context.run_one_for(std::chrono::milliseconds(20));
    }
    return true;
  }
};

struct recorder : http::clients::response_events {
  int status = 0, ends = 0, heads = 0, pieces = 0;
  std::string body;
  std::vector<http::header> headers;
  std::optional<http::clients::failure> failure;
  std::function<void()> on_piece;

  void on_head(int s, const std::vector<http::header>& h) override {
    ++heads;
    status = s;
    headers = h;
  }
  void on_body(std::string_view b) override {
    ++pieces;
    body += b;
    if (on_piece) on_piece();
  }
  void on_end() override { ++ends; }
  void on_failure(http::clients::failure f) override {
    ++ends;
    failure = std::move(f);
  }
  bool over() const { return ends > 0; }
};

inline http::clients::request ask(const std::string& base, const std::string& model, std::string_view more = "") {
  http::clients::request r;
  r.url = base + "/chat/completions";
  r.headers = {{"Content-Type", "application/json"}};
  r.body.append_copy(R"({"model":)" + json::json_quoted(model) +
                     R"(,"stream":true,"messages":[{"role":"user","content":"hi"}])" + std::string(more) + "}");
  return r;
}

/// Asks for `url` and waits until the answer is over.
inline recorder get(http_loop& loop, const std::string& url, const std::string& ca_file = "") {
  http::clients::request r;
  r.method = "GET";
  r.url = url;
  r.trust.ca_file = ca_file;
  recorder got;
  const auto exchange = loop.client->start(std::move(r), got);
  REQUIRE(loop.until([&] { return got.over(); }));
  return got;
}

}  // namespace mcpbx::test
