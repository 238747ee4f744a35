// A scripted server of the deprecated HTTP+SSE.
#pragma once
#include "test/mcp/client/remote/remote_rig.hpp"

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::test {

/// A server of the deprecated HTTP+SSE at one path, which redirects from the path without its slash. Answers of the one
/// stream are queued by the POSTs and sent by the GET.
struct event_stream_server {
  std::mutex guard;
  std::vector<std::string> queued;
  std::atomic<bool> stop = false;
  std::atomic<int> streams = 0;
  std::string path;
  bool has_others;
  remote_server server;

  /// `others`: the era of a server of Streamable HTTP that answers at all other paths but /messages.
  explicit event_stream_server(std::string at, std::optional<remote_server::era> others = std::nullopt)
      : path(std::move(at)),
        has_others(others.has_value()),
        server(others.value_or(remote_server::era::legacy),
               [this](http_peer& peer, const auto& q, const std::string& method) { return answer(peer, q, method); }) {}

  bool answer(http_peer& peer, const http_peer::request& q, const std::string& method) {
    if (q.target + "/" == path)
      return peer.send("HTTP/1.1 307 X\r\nLocation: " + path + "\r\nContent-Length: 0\r\n\r\n");
    if (q.target == path && q.method == "POST") return send_plain(peer, 405, "text/plain", "no");
    if (q.target == path) {
      ++streams;
      remote_server::begin_events(peer);
      peer.send_chunk("event: endpoint\ndata: /messages?session=7\n\n");
      while (!stop && !peer.wait_closed(2)) {
        const std::lock_guard lock(guard);
        for (const auto& text : std::exchange(queued, {})) peer.send_chunk("event: message\ndata: " + text + "\n\n");
      }
      return true;
    }
    if (has_others && !q.target.starts_with("/messages")) return false;
    std::string text;
    if (method == "initialize")
      text =
          remote_server::answer(q, R"({"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{}})");
    if (method == "tools/list")
      text = remote_server::answer(q, R"({"tools":[{"name":"echo","inputSchema":{"type":"object"}}]})");
    if (method == "tools/call") text = remote_server::answer(q, remote_server::said("old"));
    if (!text.empty()) {
      const std::lock_guard lock(guard);
      queued.push_back(text);
    }
    return send_plain(peer, 202, "text/plain", "Accepted");
  }
};

}  // namespace mcpbx::test
