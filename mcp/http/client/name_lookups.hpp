// Looks up addresses of hosts. A look-up that hangs (a silent name server, a module of the system) delays requests for
// the same host only, and those use an earlier answer if there is a recent one.
#pragma once
#include "mcp/async/keyed_lanes.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/address.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mcpbx::http::clients {

using addresses = std::vector<boost::asio::ip::address>;

/// Asks the system; blocks. errc::not_found: no such name.
result<addresses> look_up_name(const std::string& host);

class name_lookups final : public std::enable_shared_from_this<name_lookups> {
 public:
  using look_up = std::function<result<addresses>(const std::string& host)>;
  using on_found = std::function<void(result<addresses>)>;

  /// `how` runs on a thread of its own for each host; empty: look_up_name().
  name_lookups(boost::asio::any_io_executor executor, time_source& time, look_up how);

  /// Calls `done` once, later, unless `asker` is forgotten before. Requests for one host share one look-up.
  void find(const void* asker, const std::string& host, on_found done);
  void forget(const void* asker);
  /// Returns the number of hosts whose look-up is still running.
  std::size_t pending() const noexcept { return pending_.size(); }

 private:
  struct waiter {
    const void* asker;
    on_found done;
  };
  struct look_up_state {
    std::vector<waiter> waiters;
    std::unique_ptr<timer> patience;  // set if an earlier answer could be used instead
    bool late = false;
  };
  struct known_host {
    addresses found;
    time_point at;
  };

  void begin(const std::string& host);
  void came(const std::string& host, result<addresses> found);
  void remember(const std::string& host, const addresses& found);
  const addresses* known(const std::string& host) const;
  void answer(waiter w, result<addresses> found);

  boost::asio::any_io_executor executor_;
  time_source& time_;
  look_up how_;
  std::map<std::string, look_up_state> pending_;
  std::map<std::string, known_host> known_;
  async::keyed_lanes lanes_;
};

}  // namespace mcpbx::http::clients
