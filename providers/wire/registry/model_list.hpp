// What models an endpoint offers: the request of each API, and its answer. Pure.
#pragma once
#include "mcp/support/error.hpp"
#include "providers/wire/codec.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers {

struct offered_model {
  std::string id;    ///< what `model` of an entry takes
  std::string name;  ///< a name for people, or ""
};

struct model_list {
  std::vector<offered_model> models;  ///< in the endpoint's order, each id once
  bool more = false;                  ///< there are others, which the endpoint would give in further answers
};

/// A GET without credentials. errc::invalid_argument, with a sentence for people, for an API that has no such request.
result<wire_request> encode_model_list(std::string_view api, const wire_options& options);

/// The body of a 2xx answer. errc::parse when it is no list of models.
result<model_list> decode_model_list(std::string_view api, std::string_view body);

}  // namespace mcpbx::providers
