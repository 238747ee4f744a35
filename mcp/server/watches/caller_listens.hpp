// The subscriptions/listen requests of one modern caller: streams of notifications that stay open until the caller or
// mcpbx ends them (2026-07-28, subscriptions). Knows no I/O.
#pragma once
#include "mcp/client/client.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/server/base/caller_host.hpp"
#include "mcp/server/base/reply_once.hpp"
#include "mcp/server/watches/watched_uris.hpp"
#include "mcp/support/shared_bytes.hpp"
#include "mcp/support/small_queue.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::mcp::watches {

class caller_listens {
 public:
  /// Time that an acknowledgement waits for tool servers to accept subscriptions.
  static constexpr milliseconds longest_wait{5'000};
  struct options {
    std::size_t max_open = 64;    ///< streams at the same time
    std::size_t max_uris = 1024;  ///< resources that all of them watch together (bytes: uri_count)
  };

  /// All arguments must outlive this object. `settle` is the time that a stream waits for servers that are starting.
  caller_listens(server::caller_host& host, const options& o, protocol::feature_table kinds, milliseconds settle)
      : host_(host), options_(o), kinds_(kinds), settle_(settle), searches_(host, [this] { return search(); }) {}

  /// Opens a stream, or answers with an error. The acknowledgement comes first, once the servers of all resources have
  /// been looked for, which may take several turns. README.md says what happens to each resource.
  void open(const json::raw_json& params, const server::reply_once& reply);
  /// Takes a changed catalog: watches resources where they are now, those that are many in later turns.
  void refresh();
  /// Tells the streams that asked for changes of this kind.
  void list_changed(const protocol::feature_kind& kind);
  /// Ends all streams with their results. `tell`: sends notifications/cancelled for each as well, which a transport
  /// without a stream of its own for each request needs.
  void end(bool tell);
  /// Forgets all streams; nothing is sent any more.
  void close();
  std::size_t size() const noexcept { return listens_.size(); }

 private:
  struct watched_resource {
    shared_bytes uri;
    catalogs::resource_route route = {};
    clients::watch held = nullptr;  // null: no server has it
    bool stale = false;             // the catalog has changed
    bool task = false;
    bool waits = false;  // for the server's answer
    bool refused = false;
  };
  struct listen {
    server::reply_once reply;
    std::vector<std::string_view> changes;  // listen_member of kinds
    std::size_t bytes = 0;                  // of its URIs
    std::vector<shared_bytes> wanted = {};  // their servers have not been looked for; the next one is last
    std::vector<shared_bytes> tasks = {};   // the same for tasks
    std::vector<watched_resource> watches = {};
    bool acknowledged = false;
    bool settled = false;   // servers that are starting have been waited for
    bool searched = false;  // it waits for answers of servers only
    time_point waits_until = never;
    std::size_t waiting = 0;  // resources whose servers have not answered
    watched_resource* find(const shared_bytes& uri);
  };
  struct filter {
    std::vector<std::string_view> changes;
    std::vector<std::string> uris, tasks;
  };
  std::optional<filter> read(const json::raw_json& params, const server::reply_once& reply) const;
  std::size_t search();
  bool waits_for_servers(std::uint64_t serial, listen& l);
  clients::watch watched_at(std::uint64_t serial, const shared_bytes& uri, const catalogs::resource_route& route);
  watched_resource* find(std::uint64_t serial, const shared_bytes& uri);
  void decided(std::uint64_t serial, const shared_bytes& uri, const rpc::call_outcome& answer);
  void wait_for_answers(listen& l);
  void stop_waiting();
  bool read_list(const json::raw_json& list, std::string_view member, std::size_t longest,
                 std::vector<std::string>& out, const server::reply_once& reply) const;
  void watch_task(std::uint64_t serial, const shared_bytes& id);
  void keep(std::uint64_t serial, const shared_bytes& uri, clients::watch held);
  void task_told(std::uint64_t serial, const shared_bytes& id, const json::raw_json& params);
  void watch_uri(std::uint64_t serial, const shared_bytes& uri);
  void watch_again(std::uint64_t serial, const shared_bytes& uri);
  void acknowledge(listen& l);
  void updated(std::uint64_t serial, const shared_bytes& uri, const json::raw_json& params);
  void forget(std::uint64_t serial);
  std::size_t watched() const;

  server::caller_host& host_;
  const options& options_;
  protocol::feature_table kinds_;
  milliseconds settle_;
  std::map<std::uint64_t, listen> listens_;  // by the serial of the request
  uri_count uris_;
  small_queue<std::uint64_t> opening_;                           // listens that are not acknowledged
  small_queue<std::pair<std::uint64_t, shared_bytes>> changed_;  // stale resources
  paced_searches searches_;
  std::unique_ptr<timer> timer_;  // of listens that wait for answers
  bool closed_ = false;
};

}  // namespace mcpbx::mcp::watches
