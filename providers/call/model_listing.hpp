// Asking an endpoint which models it offers.
#pragma once
#include "mcp/http/client/http_client.hpp"
#include "mcp/support/error.hpp"
#include "providers/call/chat_model.hpp"
#include "providers/wire/registry/model_list.hpp"

#include <functional>
#include <memory>

namespace mcpbx::providers {

/// A listing that goes on; destroying it ends it without a word.
class model_listing {
 public:
  virtual ~model_listing() = default;
};

/// Sends one GET, never again by itself; of `o` the name, the API, the wire's address, limits, trust, headers and
/// credentials count. `done` is called once, never from inside list_models(), with the list or a sentence for people
/// that names the endpoint and the mend. `client` must outlive the listing.
std::unique_ptr<model_listing> list_models(chat_model_options o, http::client& client, time_source& time,
                                           std::function<void(result<model_list>)> done);

}  // namespace mcpbx::providers
