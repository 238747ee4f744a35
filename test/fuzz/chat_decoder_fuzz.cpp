// The chat-completions decoder: whatever comes and however it is cut, the same is told, and it ends exactly once.
#include "providers/wire/openai_chat.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

struct sink final : mcpbx::providers::decoder_sink {
  std::string told;
  int ends = 0;
  void on_text(std::string_view d) override { told += "t" + std::string(d); }
  void on_reasoning(std::string_view d) override { told += "r" + std::string(d); }
  void on_end(mcpbx::providers::model_reply r) override {
    ++ends;
    told += "|end " + std::string(to_string(r.reason)) + std::string(r.message->raw.text());
    if (!mcpbx::raw_json::parse(r.message->raw.text(), 1024)) std::abort();
  }
  void on_error(mcpbx::providers::model_error e) override {
    ++ends;
    told += "|error " + e.message + e.partial_text;
  }
};

std::string run(std::string_view bytes, std::size_t step) {
  mcpbx::providers::wire_options options;
  options.model = "m";
  sink s;
  const auto decoder = mcpbx::providers::find_codec("openai-chat")->make_decoder("text/event-stream", options);
  for (; !bytes.empty() && !decoder->done(); bytes.remove_prefix(std::min(step, bytes.size())))
    decoder->feed(bytes.substr(0, step), s);
  if (!decoder->done()) decoder->finish(s);
  if (s.ends != 1) std::abort();
  return s.told;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto whole = run(bytes, bytes.size() + 1);
  if (run(bytes, 1) != whole || run(bytes, 1 + data[0] % 32) != whole) std::abort();
  return 0;
}
