// Which APIs there are.
#include "providers/wire/codec.hpp"

#include "providers/wire/anthropic.hpp"
#include "providers/wire/openai_chat.hpp"
#include "providers/wire/openai_responses.hpp"

namespace mcpbx::providers {

const codec* find_codec(std::string_view api) {
  static const openai_chat chat;
  static const openai_responses responses;
  static const anthropic messages;
  if (api == openai_chat::api) return &chat;
  if (api == openai_responses::api) return &responses;
  if (api == anthropic::api) return &messages;
  return nullptr;
}

}  // namespace mcpbx::providers
