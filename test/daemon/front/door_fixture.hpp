// A front door whose callers are scripted transports, on a turned clock.
#pragma once
#include "daemon/front/front_door.hpp"
#include "mcp/json/raw_json.hpp"
#include "test/daemon/front/chat_sources.hpp"
#include "test/daemon/front/fake_backend.hpp"
#include "test/daemon/front/fake_transport.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace front_doors {

using namespace mcpbx;
using namespace mcpbx::daemon::door;
using namespace mcpbx::json;
using namespace mcpbx::test;

struct door_fixture {
  explicit door_fixture(const front_door::options& o = make_options(), front_door::admission admit = {})
      : door(io.get_executor(), time, backend, o, std::move(admit)) {}
  ~door_fixture() {
    door.close();
    run();
  }
  static front_door::options make_options() {
    front_door::options o;
    o.version = "1.2.3";
    o.socket = "/run/x.sock";
    return o;
  }
  void run() {
    io.restart();
    io.poll();
  }
  /// A new caller.
  fake_transport::line& enter(pid_t pid = 100) {
    lines.push_back(std::make_unique<fake_transport::line>());
    door.accept(std::make_unique<fake_transport>(*lines.back()), {1000, pid});
    run();
    return *lines.back();
  }
  /// Says a request and gives the last line that came back.
  std::string ask(fake_transport::line& l, std::string_view text) {
    const std::size_t before = l.sent.size();
    l.say(text);
    run();
    return l.sent.size() == before ? "" : l.sent.back();
  }

  boost::asio::io_context io;
  manual_time time;
  fake_backend backend;
  std::vector<std::unique_ptr<fake_transport::line>> lines;
  front_door door;
};

inline std::string request(int id, const std::string& method, const std::string& params = "{}") {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method + R"(","params":)" + params + "}";
}

inline raw_json result_of(const std::string& line) {
  return find_member(*raw_json::parse(line), "result");
}

}  // namespace front_doors
