// Asks an endpoint for the list of its models.
#pragma once
#include "mcp/http/client/http_client.hpp"
#include "mcp/support/error.hpp"
#include "providers/call/chat_model.hpp"
#include "providers/wire/model_list.hpp"

#include <functional>
#include <memory>

namespace mcpbx::providers::call {

/// A listing in progress. Destroying it cancels it silently.
class model_listing {
 public:
  virtual ~model_listing() = default;
};

/// Sends one GET, without retries. Calls `done` once, never from inside list_models(), with the list or a sentence for
/// people that names the endpoint and the fix. `client` must outlive the listing.
std::unique_ptr<model_listing> list_models(chat_model_options o, http::clients::client& client, time_source& time,
                                           std::function<void(result<wire::model_list>)> done);

}  // namespace mcpbx::providers::call
