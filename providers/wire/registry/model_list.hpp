// Request for the list of an endpoint's models, and the reader of its answer, for each API. No I/O.
#pragma once
#include "mcp/support/error.hpp"
#include "providers/wire/codec.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers {

struct offered_model {
  std::string id;    ///< value for `model` of an entry
  std::string name;  ///< a name for people, or ""
};

struct model_list {
  std::vector<offered_model> models;  ///< in the endpoint's order, each id once
  bool more = false;                  ///< the endpoint has further models, which later answers would give
};

/// Returns a GET without credentials. errc::invalid_argument, with a sentence for people: the API has no such request.
result<wire_request> encode_model_list(std::string_view api, const wire_options& options);

/// Reads the body of a 2xx answer. errc::parse: it is no list of models.
result<model_list> decode_model_list(std::string_view api, std::string_view body);

}  // namespace mcpbx::providers
