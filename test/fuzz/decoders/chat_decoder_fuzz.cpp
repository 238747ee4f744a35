// The decoder of chat-completions answers.
#include "test/fuzz/decoders/decoder_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return mcpbx::test::fuzz_decoder("openai-chat", data, size);
}
