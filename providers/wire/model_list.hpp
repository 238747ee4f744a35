// Lists of an endpoint's models: parts of the request, and a reader for the answers of many APIs. No I/O.
#pragma once
#include "mcp/support/error.hpp"
#include "providers/wire/codec.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::wire {

struct offered_model {
  std::string id;    ///< value for `model` of an entry
  std::string name;  ///< a name for people, or ""
};

struct model_list {
  std::vector<offered_model> models;  ///< in the endpoint's order, each id once
  bool more = false;                  ///< the endpoint has further models, which later answers would give
};

/// Returns a GET of `path` below the base address. Leaves `version`, the beginning of the path, out where the base
/// address ends with it.
wire_request model_list_request(const wire_options& options, std::string_view version, std::string_view path,
                                std::string_view query = "");

/// Reads a list of models whose members have the names that OpenAI, Anthropic, Gemini or Ollama use.
result<model_list> read_model_list(std::string_view body);
/// Reads the same, and takes `id_prefix` off the ids, for APIs whose ids are paths.
result<model_list> read_model_list(std::string_view body, std::string_view id_prefix);

}  // namespace mcpbx::providers::wire
