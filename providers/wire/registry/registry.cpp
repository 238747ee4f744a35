// The descriptions of all model APIs: the rows of MCPBX_MODEL_APIS, by the functions of the APIs' rooms.
#include "providers/wire/registry/registry.hpp"

#include "providers/apis/model_apis.hpp"

#include <algorithm>
#include <array>

// The functions that describe the APIs, each in the room of its API.
#define MCPBX_DECLARE_API(room, name, word)  \
  namespace mcpbx::providers::room {         \
  const wire::api_description& name##_api(); \
  }
MCPBX_MODEL_APIS(MCPBX_DECLARE_API)
#undef MCPBX_DECLARE_API

namespace mcpbx::providers::registry {

namespace {

// Returns true for OpenAI's reasoning models, also behind a proxy ("openai/o3-mini"): they refuse stop sequences.
bool refuses_stop(std::string_view model) {
  model.remove_prefix(model.rfind('/') + 1);
  return std::ranges::any_of(std::array<std::string_view, 4>{"o1", "o3", "o4", "gpt-5"},
                             [&](std::string_view family) { return model.starts_with(family); });
}

}  // namespace

std::span<const wire::api_description* const> all_apis() {
#define MCPBX_DESCRIBE(room, name, word) &room::name##_api(),
  static const std::array rows{MCPBX_MODEL_APIS(MCPBX_DESCRIBE)};
#undef MCPBX_DESCRIBE
  return rows;
}

const wire::api_description* find_api(std::string_view name) {
  const auto rows = all_apis();
  const auto at = std::ranges::find(rows, name, &wire::api_description::name);
  return at == rows.end() ? nullptr : *at;
}

const wire::codec* find_codec(std::string_view api) {
  const auto* known = find_api(api);
  return known == nullptr ? nullptr : &known->get_codec();
}

void apply_dialect(std::string_view api, wire::wire_options& options) {
  options.stop_sequences = !refuses_stop(options.model);
  if (const auto* known = find_api(api); known != nullptr && known->apply_dialect != nullptr)
    known->apply_dialect(options);
}

}  // namespace mcpbx::providers::registry
