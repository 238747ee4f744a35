// The table of model APIs, and look-ups by name.
#pragma once
#include "providers/wire/api_description.hpp"

#include <span>
#include <string_view>

namespace mcpbx::providers::registry {

/// Returns the descriptions of all APIs, in the order in which people are shown them.
std::span<const wire::api_description* const> all_apis();

/// Returns the API that a model entry names, or null for one without an endpoint.
const wire::api_description* find_api(std::string_view name);

/// Returns the codec of find_api(), or null.
const wire::codec* find_codec(std::string_view api);

/// Sets the switches for the API, `options.base_url` and `options.model`. The configuration of a model wins over them.
void apply_dialect(std::string_view api, wire::wire_options& options);

}  // namespace mcpbx::providers::registry
