// Which APIs there are.
#include "providers/wire/codec.hpp"

#include "providers/wire/anthropic.hpp"
#include "providers/wire/gemini.hpp"
#include "providers/wire/ollama.hpp"
#include "providers/wire/openai_chat.hpp"
#include "providers/wire/openai_responses.hpp"

namespace mcpbx::providers {

const codec* find_codec(std::string_view api) {
  static const openai_chat chat, azure("azure"), dial("dial");
  static const openai_responses responses;
  static const anthropic messages;
  static const gemini google;
  static const ollama local;
  if (api == openai_chat::api) return &chat;
  if (api == "azure") return &azure;
  if (api == "dial") return &dial;
  if (api == openai_responses::api) return &responses;
  if (api == anthropic::api) return &messages;
  if (api == gemini::api) return &google;
  if (api == ollama::api) return &local;
  return nullptr;
}

}  // namespace mcpbx::providers
