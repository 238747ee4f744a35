// Description of a model provider's API: all that mcpbx knows of it beside its codec. Each API's folder exports one,
// and the registry is the list of them.
#pragma once
#include "mcp/support/error.hpp"
#include "providers/wire/codec.hpp"
#include "providers/wire/model_list.hpp"
#include "providers/wire/tool_list.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace mcpbx::providers::wire {

/// Header that carries the key of an endpoint.
struct key_header {
  std::string_view name = "Authorization", prefix = "Bearer ";
  std::string_view token_start = {};  ///< keys that begin so go into `Authorization: Bearer`; "": none
  bool replaced_by_token = false;     ///< not sent beside a configured Authorization, because the API refuses both
};

/// Servers that run models of others read calls out of the model's text themselves, and miss some. The APIs of those
/// who make the models do not.
enum class call_loss : std::uint8_t { never, at_other_addresses, always };

/// The schemas of tools that an API accepts. Without any value: all of JSON Schema.
struct schema_rules {
  bool partial = false;  ///< only `type`, `description`, `enum`, `items`, `properties`, `required`, `anyOf`, and these:
  std::span<const std::string_view> kept = {};  ///< further keywords, passed as they are
  bool prefix_items = false;
  bool additional_properties = false;
  bool plain_enums = false;           ///< enums hold texts and numbers only
  bool plain_argument_names = false;  ///< names of arguments are 1 to 64 letters, digits, _ . and -
};

struct api_description {
  std::string_view name;             ///< its word in a model entry and in `mcpbx tools --format`
  std::string_view dialect_of = {};  ///< API with the same format at other addresses; "": none
  std::string_view base_url = {};    ///< usual address; "": none
  std::size_t max_tools = 0;         ///< largest number of tools in a request; 0: unknown
  key_header key = {};
  call_loss lost_calls = call_loss::never;
  const tool_form& tools;
  schema_rules schema = {};
  /// Sets the switches that follow from `base_url` and `model`; null: none do.
  void (*apply_dialect)(wire_options& options) = nullptr;
  /// Makes the request for the list of models, without credentials. errc::invalid_argument, with a sentence for people:
  /// the API has none.
  result<wire_request> (*encode_model_list)(const wire_options& options);
  /// Reads the body of a 2xx answer to it. errc::parse: it is no list of models.
  result<model_list> (*decode_model_list)(std::string_view body) = read_model_list;
  /// Returns the codec, which lives as long as the program.
  const codec& (*get_codec)();
};

/// Returns the one codec of this type.
template <class Codec>
const codec& shared_codec() {
  static const Codec made;
  return made;
}

}  // namespace mcpbx::providers::wire
