// Checks a property of every API's decoder: any input in any pieces gives the same events, exactly one end, and JSON to
// send back.
#pragma once
#include "providers/wire/registry/registry.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace mcpbx::test {

struct fuzz_sink final : providers::wire::decoder_sink {
  std::string told;
  int ends = 0;
  void on_text(std::string_view d) override { told += "t" + std::string(d); }
  void on_reasoning(std::string_view d) override { told += "r" + std::string(d); }
  void on_end(providers::model_reply r) override {
    ++ends;
    told += "|end " + std::string(providers::to_string(r.reason)) + std::string(r.message->raw.text());
    if (r.message->raw && !json::raw_json::parse(r.message->raw.text(), 1024)) std::abort();
    for (const auto* c : r.message->calls()) told += " " + c->id + " " + c->name + " " + c->arguments_text + c->problem;
  }
  void on_error(providers::model_error e) override {
    ++ends;
    told += "|error " + e.message + e.partial_text;
  }
};

inline std::string fuzz_run(std::string_view api, std::string_view type, std::string_view bytes, std::size_t step) {
  providers::wire::wire_options options;
  options.model = "m";
  fuzz_sink s;
  const auto decoder = providers::registry::find_codec(api)->make_decoder(type, options);
  for (; !bytes.empty() && !decoder->done(); bytes.remove_prefix(std::min(step, bytes.size())))
    decoder->feed(bytes.substr(0, step), s);
  if (!decoder->done()) decoder->finish(s);
  if (s.ends != 1) std::abort();
  return s.told;
}

/// The first byte chooses a step and what the answer is said to be.
inline int fuzz_decoder(std::string_view api, const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string_view type = data[0] < 128 ? "text/event-stream" : "application/json";
  const auto whole = fuzz_run(api, type, bytes, bytes.size() + 1);
  if (fuzz_run(api, type, bytes, 1) != whole || fuzz_run(api, type, bytes, 1 + data[0] % 32) != whole) std::abort();
  return 0;
}

}  // namespace mcpbx::test
