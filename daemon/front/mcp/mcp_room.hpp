// All that is open at /mcp: the sessions of older callers, the requests of newer ones, and the places of open streams.
// One timer looks after all of them.
#pragma once
#include "daemon/front/mcp/mcp_session.hpp"
#include "daemon/front/mcp/patience.hpp"
#include "daemon/front/mcp/single_request.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace mcpbx::daemon::mcp_door {

class mcp_room {
 public:
  /// `door` must outlive the room.
  explicit mcp_room(front::door_context& door);
  ~mcp_room() { close(); }
  mcp_room(const mcp_room&) = delete;
  mcp_room& operator=(const mcp_room&) = delete;

  /// Makes a session. If all places are taken, the one that was not used for longest gives way, unless somebody is
  /// connected to it. errc::limit: none does; a tool server may have a sixteenth.
  result<std::shared_ptr<mcp_session>> make_session(const mcp_identity& who, pid_t pid);
  /// Returns the session of this id; null: this identity has none.
  std::shared_ptr<mcp_session> find(std::string_view id, const mcp_identity& who) const;
  /// Closes a session and forgets it.
  void end(const std::shared_ptr<mcp_session>& s);
  /// Makes a request of a newer caller.
  std::shared_ptr<single_request> make_request(const mcp_identity& who, pid_t pid);
  /// Takes the place of a stream that ends only when its caller leaves, until the returned object is released.
  /// errc::limit: on this entrance all are taken, so that streams never keep requests out; a tool server may have a
  /// sixteenth of them.
  result<std::shared_ptr<void>> take_stream_place(const std::string& principal, bool on_port);

  /// Returns the wait after which a request of a session gets the beginning of a stream, and with it an id for its next
  /// connection.
  patience& session_patience() noexcept { return session_patience_; }
  /// Returns the same for a request without a session, for which the stream only shows that the connection lives. It is
  /// long, since an error that comes later has no status.
  patience& request_patience() noexcept { return request_patience_; }

  /// Ends the subscriptions/listen of newer callers with their results, because the daemon is stopping.
  void end_listens();
  /// Drops messages kept for callers that have lost their connection, when memory runs short.
  void relieve();
  /// Adds the totals of all open sessions and requests, and of ended ones.
  void count_into(front::door_counters& counters) const;
  std::size_t sessions() const noexcept { return sessions_.size(); }
  std::size_t streams() const noexcept;
  /// Ends everything. Nothing is made afterwards.
  void close();

 private:
  struct hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  struct places;
  struct kept_scope {
    mcp::clients::call_scope_ptr scope;
    time_point used;
  };
  std::size_t most_sessions() const;
  mcp::clients::call_scope_ptr scope_of(const std::string& principal);
  void forget(const mcp::callers::caller_session::counters& counts);
  template <class T>
  void bury(std::shared_ptr<T> dead);
  void arm();
  void look_after();

  front::door_context& door_;
  const mcp::callers::caller_session::options modern_;  // of newer callers
  const mcp::callers::caller_session::options
      legacy_;  // of sessions, whose requests have no headers of their own to check
  std::unordered_map<std::string, std::shared_ptr<mcp_session>, hash, std::equal_to<>> sessions_;
  std::unordered_map<const single_request*, std::shared_ptr<single_request>> requests_;
  std::unordered_map<std::string, kept_scope> scopes_;  // of newer callers, by principal
  std::shared_ptr<places> on_port_, on_socket_;
  mcp::callers::caller_session::counters past_;  // of what has ended
  patience session_patience_, request_patience_;
  std::unique_ptr<timer> timer_;
  bool armed_ = false, closed_ = false;
};

}  // namespace mcpbx::daemon::mcp_door
