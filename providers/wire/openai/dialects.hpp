// Knowledge about servers of chat completions: sets the switches of wire_options by a server's address. The
// configuration of a model wins over them.
#pragma once
#include "providers/wire/codec.hpp"

#include <string>
#include <string_view>

namespace mcpbx::providers::openai {

/// Set the switches of an API that follow from `options.base_url`.
void apply_chat_dialect(wire::wire_options& options);
void apply_responses_dialect(wire::wire_options& options);
void apply_azure_dialect(wire::wire_options& options);
void apply_dial_dialect(wire::wire_options& options);

/// Returns a call's id in the form that the endpoint accepts: itself, or nine letters and digits derived from it.
std::string dialect_id(std::string_view id, const wire::wire_options& options);

/// Returns the address for chat completions: below `base_url`, or with `deployments` below that of the model.
std::string chat_url(bool deployments, const wire::wire_options& options);

}  // namespace mcpbx::providers::openai
