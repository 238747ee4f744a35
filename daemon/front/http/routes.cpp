// A new route is a row here, and a function in the room of its feature. The order of the rows is that of the sentence
// that a path which is not served is answered with.
#include "daemon/front/http/routes.hpp"

#include "daemon/front/completions/completions_handler.hpp"
#include "daemon/front/models/model_list.hpp"

namespace mcpbx::daemon {
namespace {

constexpr route table[] = {
    {"POST", "/v1/chat/completions", handle_completion, body_kind::json},
    {"GET", "/v1/models", handle_model_list},
    {"GET", "/v1/models/{id}", handle_model},
};
static_assert(is_sound(table));

}  // namespace

std::span<const route> http_routes() {
  return table;
}

}  // namespace mcpbx::daemon
