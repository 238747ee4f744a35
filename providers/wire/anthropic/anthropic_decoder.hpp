// Push decoder of Messages answers. Blocks are opened, continued and closed by index, and assembled in the form in
// which they are sent back. It gives a whole reply or an error, as every decoder.
#pragma once
#include "providers/wire/answer_decoder.hpp"
#include "providers/wire/string_joiner.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::providers::anthropic {

/// Returns true for the types of blocks that hold reasoning.
bool is_thought(std::string_view type);

class anthropic_decoder final : public wire::event_decoder {
 public:
  /// `request` as for codec::make_decoder().
  anthropic_decoder(std::string content_type, wire::wire_options options, const model_request* request);

 private:
  struct content_block {
    std::int64_t index = 0;
    std::string type;
    std::string start;      // the block as it was opened
    std::string text;       // content of text and thinking
    std::string input;      // JSON text of a call's arguments
    std::string signature;  // the last one received
    std::string citations;  // elements, each with a comma before it
    wire::string_joiner joiner;
    bool ended = false, has_input = false, has_signature = false;
    bool is_call() const { return type == "tool_use"; }
  };

  std::size_t kept_bytes() const override;
  void take_event(std::string_view name, std::string_view json, wire::decoder_sink& sink) override;
  void take_body(std::string_view json, wire::decoder_sink& sink) override;
  void take_stream_end(bool mark, wire::decoder_sink& sink) override;
  std::string partial_text(wire::decoder_sink&) override { return text_; }

  content_block* find(std::string_view index);
  void open(std::string_view index, std::string_view block, wire::decoder_sink& sink);
  // Takes blocks that came as one list, whose calls are complete.
  void open_all(std::string_view content, wire::decoder_sink& sink);
  void go_on(content_block& block, std::string_view delta, wire::decoder_sink& sink);
  void add_text(content_block& block, std::string_view text, wire::decoder_sink& sink);
  void take_stop(std::string_view holder);
  void take_usage(std::string_view usage);
  void end(wire::decoder_sink& sink);
  // Returns the block in the form to send back. `call` is the call that was made of a tool_use block.
  static std::string assembled(const content_block& block, const tool_call_block* call);

  std::vector<content_block> blocks_;
  std::string text_, stop_reason_, refusal_;
  usage usage_;
  std::int64_t fresh_input_ = 0;  // input tokens neither read from the cache nor written to it
  bool begun_ = false, usage_seen_ = false, too_many_ = false;
};

}  // namespace mcpbx::providers::anthropic
