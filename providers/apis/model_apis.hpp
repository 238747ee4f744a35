// The table of model APIs, with one row for each. It is a room of its own, because the configuration, which must not
// depend on codecs, takes the words from it.
#pragma once

// X(ROOM, NAME, WORD): ROOM::NAME_api() describes the API in the room providers/wire/ROOM, and model entries name it by
// WORD. People are shown the APIs in the order of the rows.
#define MCPBX_MODEL_APIS(X)                       \
  X(openai, openai_chat, "openai-chat")           \
  X(openai, openai_responses, "openai-responses") \
  X(anthropic, anthropic, "anthropic")            \
  X(gemini, gemini, "gemini")                     \
  X(ollama, ollama, "ollama")                     \
  X(openai, dial, "dial")                         \
  X(openai, azure, "azure")
