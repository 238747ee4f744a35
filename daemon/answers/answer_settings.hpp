// The part of the configuration that mcpbx's own answers to tool servers depend on, made once for each snapshot.
#pragma once
#include "daemon/policy/past_names.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"
#include "providers/model/message.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::answers {

/// `sampling` of a server's entry.
struct sampling_rule {
  std::string model;  ///< configured name, or NAME/ID
  std::int64_t max_tokens = 0;
  std::int64_t per_minute = 0;
};

/// Own answers to the questions of one server.
struct server_answers {
  std::string server;                     ///< configured name
  std::optional<sampling_rule> sampling;  ///< unset: sampling is refused
  json::raw_json roots;                   ///< the result of roots/list; absent: the entry has none
};

struct answer_settings {
  std::vector<server_answers> servers;
  policy::terms_ptr entries = {};  ///< the servers' `approve`; null: none
  /// Finds a configured model, as model_source does.
  std::function<result<std::shared_ptr<providers::model>>(std::string_view name)> models = {};

  /// Returns what is configured for a server; null: no such server.
  const server_answers* find(std::string_view server) const {
    const auto found = std::ranges::find(servers, server, &server_answers::server);
    return found == servers.end() ? nullptr : &*found;
  }
};

}  // namespace mcpbx::daemon::answers
