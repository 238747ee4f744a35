// Push decoder of Ollama's answers: lines of JSON, the last one with "done":true. The last newline may be missing.
#pragma once
#include "mcp/json/json_scanner.hpp"
#include "mcp/json/json_writer.hpp"
#include "providers/wire/answer_decoder.hpp"
#include "providers/wire/string_joiner.hpp"
#include "providers/wire/thought_splitter.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::ollama {

class ollama_decoder final : public wire::answer_decoder {
 public:
  /// `api` becomes the api of the reply's origin. `request` as for codec::make_decoder().
  ollama_decoder(std::string api, std::string content_type, wire::wire_options options, const model_request* request)
      : wire::answer_decoder(std::move(api), std::move(content_type), std::move(options), request) {}

  void feed(std::string_view bytes, wire::decoder_sink& sink) override;
  void finish(wire::decoder_sink& sink) override;

 private:
  // Takes bytes up to a line break, or the last ones.
  std::size_t held_bytes() const override {
    return line_.capacity() + content_.capacity() + thinking_.capacity() + text_.capacity() + reasoning_.capacity();
  }
  void take_bytes(std::string_view bytes, bool line_ends, wire::decoder_sink& sink);
  void take_line(std::string_view json, wire::decoder_sink& sink);
  void take_message(std::string_view message, wire::decoder_sink& sink);
  void take_call(std::string_view call);
  void add_pieces(const wire::thought_splitter::pieces& pieces, wire::decoder_sink& sink);
  std::string partial_text(wire::decoder_sink& sink) override;
  void end(std::string_view line, wire::decoder_sink& sink);
  json::raw_json assembled(const std::vector<tool_call_block>& calls) const;

  json::json_scanner scanner_;
  std::string line_;  // text of a value that is not complete yet
  wire::thought_splitter thoughts_;
  wire::string_joiner content_joiner_, thinking_joiner_;
  std::string content_;   // content as sent, thoughts included
  std::string thinking_;  // text of the member `thinking`
  std::string text_, reasoning_;
  std::vector<tool_call_block> calls_;
  bool seen_ = false, too_many_ = false;
};

/// Writes one entry of `tool_calls`; `id` may be "".
void write_ollama_call(json::json_writer& w, const tool_call_block& call, std::string_view id);

}  // namespace mcpbx::providers::ollama
