// Push decoder of Responses answers. Output items are added, continued and done; the answer ends with
// response.completed, .incomplete or .failed, and gives a whole reply or an error. Items are identified by id, then by
// call_id, then by output_index, because some servers and proxies count from 1, give 0 to all, or change the ids.
#pragma once
#include "providers/wire/answer_decoder.hpp"
#include "providers/wire/string_joiner.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mcpbx::providers::openai {

class responses_decoder final : public wire::event_decoder {
 public:
  /// `request` as for codec::make_decoder().
  responses_decoder(std::string content_type, wire::wire_options options, const model_request* request);

 private:
  struct output_item {
    std::int64_t index = -1;  // output_index as sent; -1: none
    std::string id;           // id of the item, not of a call
    std::string call_id;
    std::string json;  // the item as it was added; once done, as it goes back
    std::string type;
    std::string text, refusal, arguments, thought;  // joined deltas
    wire::string_joiner joiner;
    bool done = false;
    bool ended = false;          // all arguments of a call have come
    std::int64_t in_final = -1;  // position in the list of the terminal event; -1: not listed
  };
  struct pieces;
  struct item_name;

  std::size_t kept_bytes() const override;
  void take_event(std::string_view name, std::string_view json, wire::decoder_sink& sink) override;
  void take_body(std::string_view json, wire::decoder_sink& sink) override;
  void take_stream_end(bool mark, wire::decoder_sink& sink) override;
  std::string partial_text(wire::decoder_sink&) override { return text_; }

  // Returns the item of an event, a new one if necessary; null: there would be too many.
  output_item* item_at(const pieces& p, std::string_view type, bool added = false);
  static item_name name_of(std::string_view item);
  output_item* new_item();
  void remember(output_item& item, item_name name);
  // Finds the item called `name`, unless its type or call_id differ.
  output_item* find_named(const item_name& name);
  output_item* find_indexed(const item_name& name, std::int64_t index, bool added);
  // Takes the list of a terminal event.
  void take_final(std::string_view output, wire::decoder_sink& sink);
  void sort_items();
  void take_item(output_item& item, std::string_view json, bool done, wire::decoder_sink& sink);
  static void take_arguments(output_item& item);
  void add_text(output_item& item, std::string_view text, wire::decoder_sink& sink);
  void add_thought(output_item& item, std::string_view text, wire::decoder_sink& sink);
  void take_usage(std::string_view usage);
  // Takes the object of a terminal event, or a whole body.
  void take_response(std::string_view response, std::string_view event, wire::decoder_sink& sink);
  void end(end_reason reason, std::string raw_reason, wire::decoder_sink& sink);
  // Completes an item that was never done. Returns false if nothing of it is worth keeping.
  static bool complete(output_item& item);
  tool_call_block read_call(output_item& item, std::string id) const;

  std::vector<output_item> items_;
  std::unordered_map<std::string, std::size_t> by_id_, by_call_id_;  // last item of each id
  std::string text_;
  usage usage_;
  bool usage_seen_ = false, too_many_ = false;
};

}  // namespace mcpbx::providers::openai
