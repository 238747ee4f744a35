// A model behind an HTTP endpoint, with retries and time limits. Does the I/O for the codecs of providers/wire.
#pragma once
#include "mcp/http/client/http_client.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"
#include "providers/call/headers.hpp"
#include "providers/call/retry.hpp"
#include "providers/model/message.hpp"
#include "providers/wire/codec.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mcpbx::providers::call {

/// Returns the HTTP limits of a model call. The first byte may take minutes, since reasoning models stay silent;
/// `total` covers the whole call with its retries (docs/guarantees.md, G30).
inline http::clients::limits model_limits() {
  return {.connect = milliseconds(5'000),
          .first_byte = milliseconds(300'000),
          .idle = milliseconds(60'000),
          .total = milliseconds(600'000),
          .max_body = 32u << 20};
}

struct chat_model_options {
  std::string name;                 ///< configured name
  std::string api = "openai-chat";  ///< a name that find_codec() knows
  std::string system;               ///< system prompt for runs that bring none, or ""
  std::size_t max_tools = 0;        ///< of one request; 0: any number
  wire::wire_options wire;
  http::clients::limits limits = model_limits();
  http::clients::trust trust;
  retry_policy retries;
  std::vector<http::header> headers;  ///< further headers without secrets
  credential_source credentials;      ///< may be empty
};

/// Makes a model. errc::config: unknown API or unusable address. `client`, `time` and `random` must outlive the model,
/// and the model its calls.
result<std::unique_ptr<model>> make_chat_model(chat_model_options options, http::clients::client& client,
                                               time_source& time, random_source& random);

}  // namespace mcpbx::providers::call
