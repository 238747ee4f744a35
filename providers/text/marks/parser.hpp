// Interface of the incremental parsers. A model's text goes in as it arrives; text for people, reasoning and finally
// the calls come out. The result does not depend on the pieces of the input. Text that may become a mark is held back,
// so nothing passed on is ever taken back.
#pragma once
#include "providers/model/message.hpp"
#include "providers/text/marks/offered_tools.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace mcpbx::providers::text::marks {

/// The form of a call, as a bit.
enum form : unsigned {
  form_react = 1,
  form_tool_call = 2,  ///< <tool_call>{…}</tool_call>
  form_function = 4,   ///< <function=NAME>…</function>
  form_llama = 8,      ///< <|python_tag|> or [f(a=1)]
  form_mistral = 16,   ///< [TOOL_CALLS]
  form_invoke = 32,    ///< <invoke name="NAME">…</invoke>
  form_bare = 64,      ///< JSON without any mark
  form_glm = 128,      ///< <tool_call>NAME<arg_key>…</arg_key><arg_value>…</arg_value></tool_call>
  form_harmony = 256,  ///< <|channel|>commentary to=functions.NAME<|message|>{…}<|call|>
  form_dsml = 512,     ///< <｜DSML｜invoke name="NAME">…</｜DSML｜invoke>
  form_gemma = 1024,   ///< <|tool_call>call:NAME{…}<tool_call|>
  form_minimax = 2048  ///< <invoke name="NAME"><K>V</K></invoke>, a token before each mark
};

/// Receiver of the text as it is parsed.
class parse_sink {
 public:
  virtual ~parse_sink() = default;
  virtual void on_text(std::string_view delta) = 0;  ///< for people
  virtual void on_reasoning(std::string_view delta) = 0;
  /// Reports that all text passed on so far was reasoning: a closing mark came without an opening one.
  virtual void on_text_was_reasoning() {}
};

/// A receiver that ignores all text, for callers that need only the calls.
struct unheard_words final : parse_sink {
  void on_text(std::string_view) override {}
  void on_reasoning(std::string_view) override {}
};

/// Content of a reply beside its text.
struct parsed_reply {
  /// Calls in order, without ids. A call with `problem` is unreadable and must not be run.
  std::vector<tool_call_block> calls;
  bool incomplete = false;  ///< a call was cut off; it is not among `calls`
  bool too_many = false;    ///< more than max_reply_calls came; the later ones and the text behind were dropped
  unsigned forms = 0;       ///< forms of the calls, as bits of `form`
};

struct parser_options {
  /// Places in which JSON without any mark may be a call. `alone` is for models that got their tools natively; a call
  /// in ReAct's form at the end of the reply then counts as well.
  enum class bare : std::uint8_t { never, alone, anywhere };  // alone: it is the whole reply
  bare untagged = bare::anywhere;
  bool bare_names = false;       ///< NAME[ARGS]{…} and NAME{…} at the beginning are calls (marks were taken out)
  bool show_unreadable = false;  ///< show an unreadable call as text without marks, instead of reporting it
};

/// Range of the input in bytes, from `begin` to before `end`.
struct input_part {
  std::size_t begin = 0, end = 0;
};

class text_parser {
 public:
  virtual ~text_parser() = default;
  virtual void feed(std::string_view bytes, parse_sink& sink) = 0;
  /// Ends the text and returns the result. Nothing may be fed afterwards.
  virtual parsed_reply finish(parse_sink& sink) = 0;
  /// Returns true if further text cannot change the reply, because a stop sequence was passed.
  virtual bool stopped() const = 0;
  /// Returns the length of the reply in bytes of the input. The text behind it is invented and dropped (F7).
  virtual std::size_t counted() const = 0;
  /// Returns invented parts inside the reply, in order.
  virtual std::span<const input_part> left_out() const { return {}; }
};

}  // namespace mcpbx::providers::text::marks
