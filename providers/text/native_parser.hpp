// For replies of a model whose tools were sent as its API has it: calls in any tagged form, and a last one in ReAct's
// strictest shape, a line `Action: NAME` and behind it `Action Input: {…}`, which nothing follows but what was made up.
#pragma once
#include "providers/text/marks/brackets.hpp"
#include "providers/text/marks/text_scan.hpp"
#include "providers/text/tagged/tagged_parser.hpp"

#include <string>
#include <string_view>

namespace mcpbx::providers::text {

class native_parser final : public text_parser {
 public:
  native_parser(offered_tools tools, parser_options options);
  void feed(std::string_view bytes, parse_sink& sink) override;
  parsed_reply finish(parse_sink& sink) override;
  bool stopped() const override { return made_up_ || tagged_.stopped(); }
  std::span<const input_part> left_out() const override { return tagged_.left_out(); }
  std::size_t counted() const override { return tagged_.counted() + (tagged_.stopped() ? 0 : held_.size() - at_); }

 private:
  void run(bool last, parse_sink& sink);
  /// Whether the line at at_ begins a call, as far as it has come; sets `object_` when it does.
  match judge_head();
  /// Whether what stands behind the object was made up, as far as it has come.
  match judge_behind(bool last) const;
  tool_call_block read_call() const;
  void let_go(std::size_t end, parse_sink& sink);

  offered_tools tools_;
  bool show_unreadable_;
  tagged_parser tagged_;
  std::string held_;  // from at_ on what was not fed to the other: a line that may begin such a call
  std::size_t at_ = 0;
  std::string name_;
  bool line_start_ = true, examples_ = false;
  bool made_up_ = false;                     // what follows the call: all of it is dropped
  std::size_t object_ = 0, object_end_ = 0;  // once it has begun
  std::size_t scanned_ = 0;                  // of it, and of the blanks behind it
  bracket_scanner brackets_;
};

}  // namespace mcpbx::providers::text
