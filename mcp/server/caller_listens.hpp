// The subscriptions/listen requests of one modern caller: streams of notifications that stay open until the caller or
// mcpbx ends them (2026-07-28, subscriptions). Knows no I/O.
#pragma once
#include "mcp/client/client.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/server/caller_host.hpp"
#include "mcp/server/reply_once.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp {

class caller_listens {
 public:
  struct options {
    std::size_t max_open = 64;    ///< streams at the same time
    std::size_t max_uris = 1024;  ///< resources that all of them watch together
  };

  /// All arguments must outlive this object.
  caller_listens(caller_host& host, const options& o, feature_table kinds) : host_(host), options_(o), kinds_(kinds) {}

  /// Opens a stream, or answers with what is wrong. The acknowledgement is the first that the caller gets of it.
  void open(const raw_json& params, const reply_once& reply);
  /// Takes a changed catalog: watches resources where they are now.
  void refresh();
  /// Tells the streams that asked for changes of this kind.
  void list_changed(const feature_kind& kind);
  /// Ends all streams with their results. `tell`: sends notifications/cancelled for each as well, which a transport
  /// without a stream of its own for each request needs.
  void end(bool tell);
  /// Forgets all streams; nothing is sent any more.
  void close() {
    closed_ = true;
    listens_.clear();
  }
  std::size_t size() const noexcept { return listens_.size(); }

 private:
  struct watched_resource {
    std::string uri;
    resource_route route;
    watch held;
  };
  struct listen {
    reply_once reply;
    std::vector<std::string_view> changes;  // listen_member of kinds
    std::vector<watched_resource> watches;
  };
  struct filter {
    std::vector<std::string_view> changes;
    std::vector<std::string> uris;
  };
  std::optional<filter> read(const raw_json& params, const reply_once& reply) const;
  watched_resource watched_uri(std::uint64_t serial, const std::string& uri);
  void watch_uri(listen& l, const std::string& uri, std::vector<std::string>& honoured);
  void acknowledge(const listen& l, const std::vector<std::string>& uris);
  void updated(std::uint64_t serial, const std::string& uri, const raw_json& params);
  std::size_t watched() const;

  caller_host& host_;
  const options& options_;
  feature_table kinds_;
  std::map<std::uint64_t, listen> listens_;  // by the serial of the request
  bool closed_ = false;
};

}  // namespace mcpbx::mcp
