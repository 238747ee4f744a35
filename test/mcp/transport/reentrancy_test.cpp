// Reentrant use of a connection: its user closes or destroys it, sends, pauses, or ends its side at every event of a
// conversation, over a socket, over pipes and in memory. Meant for the asan preset.
#include "mcp/transport/memory_pair.hpp"
#include "mcp/transport/stream_transport.hpp"
#include "test/support/transport_recorder.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace transport_reentrancy {

namespace asio = boost::asio;
using namespace mcpbx;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::mcp::transports;
using namespace mcpbx::test;

struct acting final : transport_events {
  int at = 0, events = 0, after_leaving = 0, closings = 0;
  bool left = false, stays = false;
  std::unique_ptr<transport> t;
  std::function<void(acting&)> act;
  void event() {
    if (left) ++after_leaving;
    if (++events == at) act(*this);
  }
  void on_message(message&&) override { event(); }
  void on_fault(message_fault) override { event(); }
  void on_drained() override { event(); }
  bool on_input_end() override {
    event();
    return stays;
  }
  void on_closed(const error&) override {
    ++closings;
    event();
  }
};

using action = std::function<void(acting&)>;

const std::vector<action>& actions() {
  static const std::vector<action> all{[](acting& a) {
                                         a.t->close();
                                         a.left = true;
                                       },
                                       [](acting& a) {
                                         a.t.reset();
                                         a.left = true;
                                       },
                                       [](acting& a) {
                                         for (int i = 0; i < 3; ++i)
                                           a.t->send(as_segments(notification_of(100'000)), {});
                                       },
                                       [](acting& a) {
                                         a.t->pause_reading(true);
                                         a.t->send(as_segments(ping), {});
                                         a.t->pause_reading(false);
                                       },
                                       [](acting& a) {
                                         a.t->send(as_segments(ping), {});
                                         a.t->finish_sending();
                                         a.t->send(as_segments(ping), {});
                                       },
                                       [](acting& a) {
                                         a.t->finish_sending();
                                         a.t->close();
                                         a.t->pause_reading(false);
                                         a.t->send(as_segments(ping), {});
                                         a.t.reset();
                                         a.left = true;
                                       }};
  return all;
}

const std::string said = ping + "\nno message\n" + notification_of(70'000) + "\n{\"id\":1}\n" + ping + "\n{\"half\":";

// Runs one conversation for each action and each event. `connect` makes the transport and returns the actions of the
// other side: step 0 sends, 1 ends its side, 2 closes.
template <class Connect>
void at_every_event(Connect&& connect) {
  for (std::size_t what = 0; what < actions().size(); ++what)
    for (const bool stays : {false, true}) {
      bool reached = true;
      for (int at = 1; reached; ++at) {
        CAPTURE(what);
        CAPTURE(at);
        asio::io_context io{1};
        acting a;
        a.at = at;
        a.stays = stays;
        a.act = actions()[what];
        const std::function<void(int)> other = connect(io, a);
        const auto turn = [&] {
          io.restart();
          io.poll();
        };
        a.t->start(a);
        a.t->send(as_segments(ping), {});
        for (int step = 0; step < 3; ++step) {
          turn();
          other(step);
          turn();
          other(3);  // the other side reads
          turn();
        }
        reached = a.events >= at;
        CHECK(a.after_leaving == 0);
        CHECK(a.closings <= 1);
        a.t.reset();
        turn();
      }
    }
}

TEST_CASE("stream transport: in any event its user may close, destroy, send, pause or finish, over a socket") {
  at_every_event([](asio::io_context& io, acting& a) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    a.t = make_stream_transport(io.get_executor(), ends[1], ends[1], {});
    const std::shared_ptr<int> fd(new int(ends[0]), [](int* p) {
      if (*p >= 0) ::close(*p);
      delete p;
    });
    return [fd](int step) {
      std::string got(1 << 20, '\0');
      if (step == 0) (void)!::send(*fd, said.data(), said.size(), MSG_NOSIGNAL);
      if (step == 1) ::shutdown(*fd, SHUT_WR);
      if (step == 2) ::close(std::exchange(*fd, -1));
      if (step == 3 && *fd >= 0) (void)!::recv(*fd, got.data(), got.size(), 0);
    };
  });
}

TEST_CASE("stream transport: in any event its user may close, destroy, send, pause or finish, over pipes") {
  at_every_event([](asio::io_context& io, acting& a) {
    int in[2], out[2];
    REQUIRE(::pipe2(in, O_CLOEXEC | O_NONBLOCK) == 0);
    REQUIRE(::pipe2(out, O_CLOEXEC | O_NONBLOCK) == 0);
    a.t = make_stream_transport(io.get_executor(), in[0], out[1], {});
    struct pipes {
      int to, from;
      ~pipes() {
        if (to >= 0) ::close(to);
        if (from >= 0) ::close(from);
      }
    };
    const auto p = std::make_shared<pipes>(in[1], out[0]);
    return [p](int step) {
      std::string got(1 << 20, '\0');
      if (step == 0) (void)!::write(p->to, said.data(), said.size());
      if (step == 1) ::close(std::exchange(p->to, -1));
      if (step == 2) ::close(std::exchange(p->from, -1));
      if (step == 3 && p->from >= 0) (void)!::read(p->from, got.data(), got.size());
    };
  });
}

TEST_CASE("memory pair: in any event its user may close, destroy, send, pause or finish") {
  at_every_event([](asio::io_context& io, acting& a) {
    auto ends = make_memory_pair(io.get_executor());
    a.t = std::move(ends.first);
    struct peer {
      recorder seen;
      std::unique_ptr<transport> t;
    };
    const auto other = std::make_shared<peer>();
    other->t = std::move(ends.second);
    other->t->start(other->seen);
    return [other](int step) {
      if (step == 0)
        for (const auto& line : {ping, std::string("no message"), notification_of(70'000), ping})
          other->t->send(as_segments(line), {});
      if (step == 1) other->t->finish_sending();
      if (step == 2) other->t->close();
    };
  });
}

}  // namespace transport_reentrancy
