// The table of model APIs, with one row for each. It is a room of its own, because the configuration, which must not
// depend on codecs, takes the words from it.
#pragma once

// X(NAME, WORD): NAME_api() describes the API in a room of providers/wire, and model entries name it by WORD. People
// are shown the APIs in the order of the rows.
#define MCPBX_MODEL_APIS(X)               \
  X(openai_chat, "openai-chat")           \
  X(openai_responses, "openai-responses") \
  X(anthropic, "anthropic")               \
  X(gemini, "gemini")                     \
  X(ollama, "ollama")                     \
  X(dial, "dial")                         \
  X(azure, "azure")
