// Knowledge about servers of chat completions: sets the switches of wire_options by a server's address. The
// configuration of a model wins over them.
#pragma once
#include "providers/wire/codec.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::providers {

/// Returns the default address of an API; "" if it has none.
std::string_view usual_base_url(std::string_view api);

/// Returns the largest number of tools in a request of an API; 0: unknown.
std::size_t usual_max_tools(std::string_view api);

/// Sets the switches for the API and `options.base_url`. Call it when base_url and model are set.
void apply_dialect(std::string_view api, wire_options& options);

/// Returns a call's id in the form that the endpoint accepts: itself, or nine letters and digits derived from it.
std::string dialect_id(std::string_view id, const wire_options& options);

/// Returns the address for chat completions: below `base_url`, or below the deployment for azure and dial.
std::string chat_url(std::string_view api, const wire_options& options);

}  // namespace mcpbx::providers
