// A client of the toolbox for tests: requests as JSON in, answers as JSON out.
#pragma once
#include "daemon/toolbox/server.hpp"
#include "test/daemon/toolbox/folder_fixture.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace mcpbx::toolbox {

class client {
 public:
  explicit client(const std::vector<std::string>& paths = {})
      : core({"9.9.9", [] { return std::int64_t{1785223815123}; }}, open_folders(paths)) {}

  std::string feed(std::string_view line) { return core.feed(std::string(line) + "\n"); }

  /// Feeds one line that must get exactly one line in answer.
  boost::json::value line(std::string_view text) {
    const auto out = feed(text);
    REQUIRE(out.ends_with('\n'));
    REQUIRE(out.find('\n') == out.size() - 1);
    return boost::json::parse(out);
  }

  boost::json::value request(std::string_view method, const boost::json::value& params) {
    boost::json::object r{{"jsonrpc", "2.0"}, {"id", ++id_}, {"method", method}};
    if (!params.is_null()) r["params"] = params;
    auto answer = line(boost::json::serialize(r));
    CHECK(answer.at("id") == id_);
    return answer;
  }

  void open() { request("initialize", boost::json::value{{"protocolVersion", "2025-11-25"}}); }

  struct outcome {
    std::string text;                ///< the first block
    std::vector<std::string> notes;  ///< the others
    boost::json::value structured;
    bool failed = false;
  };
  outcome call(std::string_view tool, const boost::json::value& arguments) {
    const auto result =
        request("tools/call", boost::json::value{{"name", tool}, {"arguments", arguments}}).at("result").as_object();
    outcome out;
    for (const auto& block : result.at("content").as_array()) {
      CHECK(block.at("type") == "text");
      const std::string text(block.at("text").as_string());
      if (&block == &result.at("content").as_array().front())
        out.text = text;
      else
        out.notes.push_back(text);
    }
    if (const auto* s = result.if_contains("structuredContent")) out.structured = *s;
    if (const auto* e = result.if_contains("isError")) out.failed = e->as_bool();
    return out;
  }

 private:
  static folders open_folders(const std::vector<std::string>& paths) {
    auto opened = folders::open(paths);
    REQUIRE(opened.has_value());
    return std::move(*opened);
  }
  int id_ = 0;

 public:
  server core;
};

}  // namespace mcpbx::toolbox
