// Which APIs there are.
#include "providers/wire/codec.hpp"

#include "providers/wire/openai_chat.hpp"

namespace mcpbx::providers {

const codec* find_codec(std::string_view api) {
  static const openai_chat chat;
  return api == openai_chat::api ? &chat : nullptr;
}

}  // namespace mcpbx::providers
