// What is known of the servers that speak chat completions, each in its own way: the switches of wire_options as they
// are right for an address. The configuration of a model wins over them.
#pragma once
#include "providers/wire/codec.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::providers {

/// The address of an API when none is configured; "" for those that have no usual one.
std::string_view usual_base_url(std::string_view api);

/// How many tools a request of an API may have, where that is known; else 0.
std::size_t usual_max_tools(std::string_view api);

/// Sets the switches that `options.base_url` and the API ask for; call it once base_url and model are there.
void apply_dialect(std::string_view api, wire_options& options);

/// A call's id as this endpoint takes it: itself, or nine letters and digits made of it, the same every time.
std::string dialect_id(std::string_view id, const wire_options& options);

/// Where chat completions are posted: below `base_url`, or below the deployment for azure and dial.
std::string chat_url(std::string_view api, const wire_options& options);

}  // namespace mcpbx::providers
