// The state machine behind make_tagged_parser(). It knows the marks of all tagged forms, because models mix them up,
// whichever form they were told to use.
#pragma once
#include "providers/text/marks/brackets.hpp"
#include "providers/text/marks/parser.hpp"
#include "providers/text/marks/text_scan.hpp"
#include "providers/text/tagged/dsml_call.hpp"
#include "providers/text/tagged/gemma_call.hpp"
#include "providers/text/tagged/glm_call.hpp"
#include "providers/text/tagged/harmony_call.hpp"
#include "providers/text/tagged/markup_call.hpp"
#include "providers/text/tagged/minimax_call.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::providers::text::tagged {

/// Text that is held back. It remembers its first line end, so that asking for one at each mark costs no scan.
class waiting_text {
 public:
  void operator+=(std::string_view more) {
    if (const auto found = line_end_ == marks::npos ? more.find('\n') : marks::npos; found != marks::npos)
      line_end_ = text_.size() + found;
    text_ += more;
  }
  void cut(std::size_t size) {
    text_.erase(size);
    if (line_end_ >= size) line_end_ = marks::npos;
  }
  void clear() { cut(0); }
  std::string take() {
    line_end_ = marks::npos;
    return std::exchange(text_, {});
  }
  bool holds_line_end() const { return line_end_ != marks::npos; }
  bool empty() const { return text_.empty(); }
  std::size_t size() const { return text_.size(); }
  std::string_view view() const { return text_; }

 private:
  std::string text_;
  std::size_t line_end_ = marks::npos;  // position of the first line end
};

class tagged_parser final : public marks::text_parser {
 public:
  tagged_parser(marks::offered_tools tools, marks::parser_options options);
  tagged_parser(const tagged_parser&) = delete;
  tagged_parser& operator=(const tagged_parser&) = delete;
  void feed(std::string_view bytes, marks::parse_sink& sink) override;
  marks::parsed_reply finish(marks::parse_sink& sink) override;
  bool stopped() const override { return state_ == state::dropped; }
  std::size_t counted() const override { return counted_; }
  std::span<const marks::input_part> left_out() const override { return left_out_; }
  /// Returns true in plain text: no call, code or reasoning is open, and nothing but blanks is held back.
  bool in_plain_text() const;
  /// Ends the text with a call that was not fed. Call it only in plain text and before finish().
  void end_with(tool_call_block call, marks::form how);

 private:
  enum class state : unsigned char {
    text,     // for people, until a mark begins
    think,    // reasoning, until </think>
    opened,   // behind an opening mark whose call has not begun
    unread,   // behind one where no call can be read: until its closing mark
    result,   // in an invented result before any call, until its closing mark
    python,   // behind <|python_tag|>
    mistral,  // behind [TOOL_CALLS]
    markup,   // in a call that is markup
    pairs,    // in a call whose arguments are pairs of marks
    minimax,  // in a call of MiniMax's
    gemma,    // in a call of Gemma's
    dsml,     // in a call of DeepSeek's
    harmony,  // behind the header of one of Harmony's calls
    json,     // in brackets
    proving,  // behind a call that is markup, where a mark may say that it was read too short
    after,    // behind a call: closing marks, separators, further calls of the same tag
    spoiled,  // in a tag whose calls cannot be trusted, until its end
    dropped   // behind an invented result
  };
  /// Use of the brackets that are being read.
  enum class use : unsigned char { calls, python, arguments, untagged, called };

  bool step(bool last, marks::parse_sink& sink);
  bool in_text(bool last, marks::parse_sink& sink);
  bool at_angle(bool last, marks::parse_sink& sink);
  bool at_square(bool last, marks::parse_sink& sink);
  bool at_calling(bool last, marks::parse_sink& sink);
  bool at_fence(bool last, marks::parse_sink& sink);
  bool at_special(bool last, bool& maybe, marks::parse_sink& sink);
  void at_dsml(const marks::dsml_mark& mark, marks::parse_sink& sink);
  void open_dsml(std::size_t at);
  bool at_header(const marks::harmony_header& header, marks::parse_sink& sink);
  void open_harmony(const marks::harmony_header& header);
  bool at_bare_header(bool last, marks::parse_sink& sink);
  bool at_name(bool last);
  bool at_untagged(bool last, marks::parse_sink& sink);
  marks::match after_harmony(bool last);
  bool line_ends_before(std::size_t at) const;
  bool in_harmony_think(bool last, marks::parse_sink& sink);
  bool in_think(bool last, marks::parse_sink& sink);
  void think(std::string_view text, marks::parse_sink& sink);
  void end_thoughts();
  void look_for_call(std::string_view thoughts, bool last);
  bool in_opened(bool last, marks::parse_sink& sink);
  bool in_unread(bool last, marks::parse_sink& sink);
  bool at_result(std::string_view mark, std::size_t size, marks::parse_sink& sink);
  bool skip_result(std::string end, std::size_t size, marks::parse_sink& sink);
  bool in_result(bool last, marks::parse_sink& sink);
  void leave_out(std::size_t end);
  void no_call(std::size_t at, marks::parse_sink& sink);
  bool names_tool(std::string_view body) const;
  bool in_named(std::size_t at, std::size_t end, bool& waits);
  bool in_python(bool last);
  bool in_mistral(bool last, marks::parse_sink& sink);
  bool in_markup(bool last, marks::parse_sink& sink);
  bool in_pairs(bool last, marks::parse_sink& sink);
  bool in_gemma(bool last, marks::parse_sink& sink);
  bool in_minimax(bool last, marks::parse_sink& sink);
  bool at_minimax(bool last, marks::parse_sink& sink);
  void open_minimax(std::size_t at);
  bool in_dsml(bool last, marks::parse_sink& sink);
  bool in_harmony(bool last, marks::parse_sink& sink);
  template <class Call>
  bool read_call(Call& call, bool last, marks::parse_sink& sink);
  template <class Call>
  void end_call(Call& call, marks::parse_sink& sink);
  bool in_json(marks::parse_sink& sink);
  void begin_proof();
  bool in_proof(bool last, marks::parse_sink& sink);
  void refuse_markup(std::size_t end, marks::parse_sink& sink);
  marks::match at_parameter(bool last, marks::parse_sink& sink);
  bool in_after(bool last, marks::parse_sink& sink);
  bool in_spoiled(bool last, marks::parse_sink& sink);

  void open(state s, std::size_t mark_size);
  void begin_json(std::size_t at, std::size_t brackets_at, use as);
  void end_json(marks::parse_sink& sink);
  void take(std::vector<tool_call_block> calls, marks::parse_sink& sink);
  void check_tag(tool_call_block& call) const;
  void withdraw(std::size_t from, marks::parse_sink& sink);
  void spoil(marks::parse_sink& sink, std::string_view why);
  void release(std::size_t end, marks::parse_sink& sink);
  void visible(std::string_view text, marks::parse_sink& sink);
  void note_first(std::string_view text);
  void control(std::string_view token);
  void call_found();
  void forget_drafts(std::size_t from);
  void was_reasoning(marks::parse_sink& sink);
  void cut(std::string_view body, marks::parse_sink& sink);
  bool cut_mark(bool of_call, marks::parse_sink& sink);
  void cut_json(marks::parse_sink& sink);
  bool at_line_start() const;
  bool fence_may_hold_call() const;
  std::string_view from(std::size_t at) const { return std::string_view(held_).substr(at); }
  bool in_example() const { return in_code_ || quoted_ || pending_fence_ != std::string::npos; }
  bool any_calls() const { return found_ > 0; }

  marks::offered_tools tools_;
  marks::parser_options options_;
  state state_ = state::text;
  std::string held_;                  // undecided input, from at_ on
  std::size_t at_ = 0;                // next byte of held_
  std::size_t counted_ = 0;           // length of the reply in bytes of the input
  std::size_t mark_ = 0;              // beginning of the last opening mark
  std::size_t begin_ = 0, scan_ = 0;  // beginning and scanned end of the JSON, or of the inner mark
  use use_ = use::calls;
  marks::bracket_scanner brackets_;
  markup_call markup_;
  glm_call pairs_;
  gemma_call gemma_;
  minimax_call minimax_;
  dsml_call dsml_;
  harmony_call harmony_;
  std::string name_;  // name of the call whose arguments are read
  std::string tag_;   // opening mark around the present calls
  unsigned form_ = 0;
  std::size_t thinks_from_ = std::string::npos;  // first call behind a <think> in the middle of a line
  std::string_view end_think_;                   // closing mark of the present reasoning; "": a token of Harmony
  std::string thought_;                          // reasoning in which a call may begin
  bool thinks_call_ = false;                     // a call stands in the present reasoning
  std::string end_result_;                       // closing mark of the invented result
  bool in_tag_ = false, extra_ = false, fenced_ = false, named_ = false, gap_ = false, first_word_ = true;
  bool begins_line_ = false;      // the opening mark begins a line
  bool needs_name_ = false;       // an unreadable text is a call only if it names a tool
  bool unclosed_ = false;         // one unreadable call had no end in reach, so no later one is waited for
  bool unclosed_result_ = false;  // the same for invented results
  bool skipped_ = false;          // an invented result was left out
  std::vector<marks::input_part> left_out_;
  std::size_t first_markup_ = std::string::npos;  // first call as markup
  std::size_t open_parameters_ = 0;               // parameters opened in text behind calls
  struct proof {
    bool in_tag = false;         // the mark around the calls is open
    bool closed = false;         // the mark around the calls was closed
    bool words = false;          // words follow the calls
    std::size_t parameters = 0;  // parameters opened in those words
  };
  proof proof_;
  bool parted_ = false;           // a token was left out behind a word
  bool in_code_ = false;          // in a code block that does not begin with a call
  bool quoted_ = false;           // in code within a sentence that began like a call
  std::size_t object_first_ = 0;  // first call of the last object
  bool after_json_ = false;       // behind JSON that no mark has closed yet
  bool again_ = false;            // the present object follows another one of its tag

  // Visible text that waits for more of it: blanks, control tokens, a code fence, JSON that may be a call alone.
  waiting_text pending_;
  std::string pending_blanks_;
  std::size_t pending_fence_ = std::string::npos;
  bool fence_opens_ = false;  // the waiting fence begins a code block
  std::vector<tool_call_block> alone_;
  bool alone_in_fence_ = false;        // the fence around alone_ is not closed yet
  bool shown_ = false, said_ = false;  // any text was shown; any text but backticks
  std::string first_shown_;            // the first bytes that were shown
  char last_shown_ = 0;
  std::size_t found_ = 0;
  marks::parsed_reply reply_;
};

}  // namespace mcpbx::providers::text::tagged
