// The state machine behind make_react_parser(): marks stand at the beginning of a line.
#pragma once
#include "providers/text/marks/brackets.hpp"
#include "providers/text/marks/parser.hpp"
#include "providers/text/marks/react_marks.hpp"
#include "providers/text/tagged/tagged_parser.hpp"

#include <string>
#include <string_view>

namespace mcpbx::providers::text::react {

class react_parser final : public marks::text_parser {
 public:
  react_parser(marks::offered_tools tools, marks::parser_options options);
  void feed(std::string_view bytes, marks::parse_sink& sink) override;
  marks::parsed_reply finish(marks::parse_sink& sink) override;
  bool stopped() const override { return stopped_; }
  std::size_t counted() const override { return counted_; }
  std::span<const marks::input_part> left_out() const override {
    // The tagged parser has read all of it: the reply had no mark of ReAct.
    return fed_ == before_.size() ? whole_.left_out() : std::span<const marks::input_part>();
  }

 private:
  enum class state : unsigned char { before, thinking, thought, action, input, answer, over };
  /// Position inside an action or its input. quoted: behind a string; behind: behind an input in brackets, on its line.
  enum class inside : unsigned char { start, words, brackets, string, quoted, behind, done };

  bool step(bool last, marks::parse_sink& sink);
  bool at_line_start(bool last, marks::parse_sink& sink);
  void take_mark(marks::react_mark mark, std::size_t size, marks::parse_sink& sink);
  /// Returns the number of bytes consumed.
  std::size_t take_text(std::string_view text, marks::parse_sink& sink);
  std::size_t take_action(std::string_view text);
  bool opens_brackets(char c) const;
  std::size_t take_input(std::string_view text);
  void think(std::string_view text, marks::parse_sink& sink);
  void over(std::size_t before);
  void end_call(marks::parse_sink& sink);
  void show_action(marks::parse_sink& sink) const;
  tool_call_block read_call() const;
  tool_call_block read_action(std::string_view& beside) const;
  bool looks_for_marks() const;
  bool no_action() const;
  bool cut() const { return inside_ == inside::brackets || inside_ == inside::string; }
  std::string_view from(std::size_t at) const { return std::string_view(held_).substr(at); }

  marks::offered_tools tools_;
  marks::parser_options options_;
  state state_ = state::before;
  inside inside_ = inside::start;
  std::string held_;
  std::size_t at_ = 0, fed_ = 0, counted_ = 0;
  bool line_start_ = true, stopped_ = false, marked_ = false, escaped_ = false, answering_ = false;
  bool answered_ = false;  // an answer has ended, and further text does not count
  marks::bracket_scanner brackets_;
  std::string before_;                    // text before any mark
  std::string thought_, action_, input_;  // as written
  std::string behind_;                    // text on the line of the input, behind its brackets
  std::size_t input_end_ = 0;             // end of the input, in bytes fed, while behind_ is read
  std::size_t open_ = 0;                  // position of the brackets in action_
  tagged::tagged_parser answer_, thoughts_, whole_;
  marks::parsed_reply reply_;
};

}  // namespace mcpbx::providers::text::react
