// Parser for models that got their tools natively. It finds calls in any tagged form, and one at the end in ReAct's
// strictest shape: a line `Action: NAME`, then `Action Input: {…}`, then only invented text.
#pragma once
#include "providers/text/marks/brackets.hpp"
#include "providers/text/marks/text_scan.hpp"
#include "providers/text/tagged/tagged_parser.hpp"

#include <string>
#include <string_view>

namespace mcpbx::providers::text {

class native_parser final : public marks::text_parser {
 public:
  native_parser(marks::offered_tools tools, marks::parser_options options);
  void feed(std::string_view bytes, marks::parse_sink& sink) override;
  marks::parsed_reply finish(marks::parse_sink& sink) override;
  bool stopped() const override { return made_up_ || tagged_.stopped(); }
  std::span<const marks::input_part> left_out() const override { return tagged_.left_out(); }
  std::size_t counted() const override { return tagged_.counted() + (tagged_.stopped() ? 0 : held_.size() - at_); }

 private:
  void run(bool last, marks::parse_sink& sink);
  /// Judges whether the part of a line at at_ begins a call. Sets object_ if it does.
  marks::match judge_head();
  /// Judges whether the text behind the object, as far as it has arrived, was made up by the model.
  marks::match judge_behind(bool last) const;
  tool_call_block read_call() const;
  void let_go(std::size_t end, marks::parse_sink& sink);

  marks::offered_tools tools_;
  bool show_unreadable_;
  tagged::tagged_parser tagged_;
  std::string held_;  // text not yet fed to the tagged parser: from at_ on, a line that may begin such a call
  std::size_t at_ = 0;
  std::string name_;
  bool line_start_ = true, examples_ = false;
  bool made_up_ = false;                     // the text behind the call is invented and dropped
  std::size_t object_ = 0, object_end_ = 0;  // bounds of the input object, once it has begun
  std::size_t scanned_ = 0;                  // end of the scanned part of the object and the blanks behind it
  marks::bracket_scanner brackets_;
};

}  // namespace mcpbx::providers::text
