// Stands between a journal and its PostgreSQL server and breaks their connection where a test says.
#pragma once
#include "test/daemon/store/store_fixture.hpp"

#include <doctest/doctest.h>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace mcpbx::daemon::test {

class postgres_proxy {
 public:
  enum class fault {
    none,
    begin_dropped,   ///< the connection ends when BEGIN is sent; the server never sees it
    commit_dropped,  ///< the same for COMMIT
    answer_dropped,  ///< it ends when the server answers to COMMIT
    silent,          ///< nothing comes from the server any more
  };

  postgres_proxy() {
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto here = address(folder_.path);
    REQUIRE(::bind(listener_, reinterpret_cast<const sockaddr*>(&here), sizeof here) == 0);
    REQUIRE(::listen(listener_, 8) == 0);
    REQUIRE(::pipe(wake_) == 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~postgres_proxy() {
    ::close(wake_[1]);
    thread_.join();
    ::close(wake_[0]);
    ::close(listener_);
  }
  postgres_proxy(const postgres_proxy&) = delete;
  postgres_proxy& operator=(const postgres_proxy&) = delete;

  std::string url() const { return "postgresql://mcpbx@/postgres?host=" + folder_.path; }
  /// For what comes from now on; one that breaks a connection does so once.
  void set(fault f) { fault_ = f; }

 private:
  struct link {
    int client = -1, server = -1;
    bool committing = false;
  };

  static sockaddr_un address(const std::string& folder) {
    sockaddr_un a{};
    a.sun_family = AF_UNIX;
    const auto path = folder + "/.s.PGSQL.5432";
    REQUIRE(path.size() < sizeof a.sun_path);
    std::memcpy(a.sun_path, path.c_str(), path.size() + 1);
    return a;
  }
  static sockaddr_un real() {
    const std::string url = database();
    return address(url.substr(url.find("host=") + 5));
  }

  // False: the connection is over.
  static bool pass(int to, std::string_view bytes) {
    while (!bytes.empty()) {
      const auto n = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  static bool read(int from, std::string& into) {
    std::array<char, 65536> bytes{};
    const auto n = ::recv(from, bytes.data(), bytes.size(), 0);
    if (n <= 0) return false;
    into.assign(bytes.data(), static_cast<std::size_t>(n));
    return true;
  }
  bool from_client(link& l) {
    std::string bytes;
    if (!read(l.client, bytes)) return false;
    for (const auto& [word, f] : {std::pair("BEGIN", fault::begin_dropped), std::pair("COMMIT", fault::commit_dropped)})
      if (auto set = f; contains(bytes, word) && fault_.compare_exchange_strong(set, fault::none)) return false;
    l.committing = l.committing || contains(bytes, "COMMIT");
    return pass(l.server, bytes);
  }
  bool from_server(link& l) {
    std::string bytes;
    if (!read(l.server, bytes)) return false;
    auto dropped = fault::answer_dropped;
    if (std::exchange(l.committing, false) && fault_.compare_exchange_strong(dropped, fault::none)) return false;
    return fault_ == fault::silent || pass(l.client, bytes);
  }

  void serve() {
    std::vector<link> links;
    for (;;) {
      std::vector<pollfd> watched{{wake_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
      for (const auto& l : links) {
        watched.push_back({l.client, POLLIN, 0});
        watched.push_back({l.server, POLLIN, 0});
      }
      if (::poll(watched.data(), watched.size(), -1) < 0) continue;
      if (watched[0].revents != 0) break;
      for (std::size_t i = links.size(); i-- > 0;) {
        const bool up = (watched[2 + 2 * i].revents == 0 || from_client(links[i])) &&
                        (watched[3 + 2 * i].revents == 0 || from_server(links[i]));
        if (up) continue;
        ::close(links[i].client);
        ::close(links[i].server);
        links.erase(links.begin() + static_cast<std::ptrdiff_t>(i));
      }
      if (watched[1].revents == 0) continue;
      link l{::accept(listener_, nullptr, nullptr), ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
      const auto there = real();
      if (::connect(l.server, reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0) {
        links.push_back(l);
      } else {
        ::close(l.client);
        ::close(l.server);
      }
    }
    for (const auto& l : links) {
      ::close(l.client);
      ::close(l.server);
    }
  }

  folder folder_;
  int listener_ = -1;
  int wake_[2] = {-1, -1};
  std::atomic<fault> fault_ = fault::none;
  std::thread thread_;
};

}  // namespace mcpbx::daemon::test
