// The table of codecs, one row for each API. A codec is made at its first use.
#include "providers/wire/registry/registry.hpp"

#include "providers/wire/anthropic/anthropic.hpp"
#include "providers/wire/gemini/gemini.hpp"
#include "providers/wire/ollama/ollama.hpp"
#include "providers/wire/openai/openai_chat.hpp"
#include "providers/wire/openai/openai_responses.hpp"

namespace mcpbx::providers {
namespace {

struct row {
  std::string_view api;
  const codec* (*get)();
};
template <class Codec>
const codec* one() {
  static const Codec made;
  return &made;
}

const codec* azure() {
  static const openai_chat made("azure");
  return &made;
}
const codec* dial() {
  static const openai_chat made("dial");
  return &made;
}

constexpr row rows[] = {
    {openai_chat::api, one<openai_chat>},
    {"azure", azure},
    {"dial", dial},
    {openai_responses::api, one<openai_responses>},
    {anthropic::api, one<anthropic>},
    {gemini::api, one<gemini>},
    {ollama::api, one<ollama>},
};

}  // namespace

const codec* find_codec(std::string_view api) {
  for (const row& r : rows)
    if (r.api == api) return r.get();
  return nullptr;
}

}  // namespace mcpbx::providers
