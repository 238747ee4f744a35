// The incremental parser that each text format has: what a model writes goes in as it arrives; out come the text that
// people may see, reasoning, and in the end the calls. The same comes out however the input is cut, and what was told
// is never taken back: text that may become a mark is held back until it is decided.
#pragma once
#include "providers/model/message.hpp"
#include "providers/text/marks/offered_tools.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace mcpbx::providers::text {

/// The form in which a call came; a set of them is a sum.
enum form : unsigned {
  form_react = 1,
  form_tool_call = 2,  ///< <tool_call>{…}</tool_call>
  form_function = 4,   ///< <function=NAME>…</function>
  form_llama = 8,      ///< <|python_tag|> or [f(a=1)]
  form_mistral = 16,   ///< [TOOL_CALLS]
  form_invoke = 32,    ///< <invoke name="NAME">…</invoke>
  form_bare = 64,      ///< JSON without any mark
  form_glm = 128       ///< <tool_call>NAME<arg_key>…</arg_key><arg_value>…</arg_value></tool_call>
};

/// Told while text arrives.
class parse_sink {
 public:
  virtual ~parse_sink() = default;
  virtual void on_text(std::string_view delta) = 0;  ///< for people
  virtual void on_reasoning(std::string_view delta) = 0;
  /// The text that was told so far was reasoning: its closing mark came, and its opening mark never did.
  virtual void on_text_was_reasoning() {}
};

/// For whoever wants the calls only.
struct unheard_words final : parse_sink {
  void on_text(std::string_view) override {}
  void on_reasoning(std::string_view) override {}
};

/// What a reply holds beside its text.
struct parsed_reply {
  /// In order, without ids. Those with `problem` could not be read and must not be run.
  std::vector<tool_call_block> calls;
  bool incomplete = false;  ///< a call was cut off; it is not among `calls`
  bool too_many = false;    ///< more than max_reply_calls came; the later ones, and what stands behind, were dropped
  unsigned forms = 0;       ///< of form: how the calls were written
};

struct parser_options {
  /// Where JSON without any mark may be a call. `alone` is for models that were sent tools natively: with it, one that
  /// ends the reply in ReAct's form is one too.
  enum class bare : std::uint8_t { never, alone, anywhere };  // alone: it is the whole reply
  bare untagged = bare::anywhere;
  bool bare_names = false;       ///< NAME[ARGS]{…} and NAME{…} at the beginning are calls (marks were taken out)
  bool show_unreadable = false;  ///< what cannot be read is shown without its marks instead of becoming a call
};

/// Bytes of the input, from `begin` to before `end`.
struct input_part {
  std::size_t begin = 0, end = 0;
};

class text_parser {
 public:
  virtual ~text_parser() = default;
  virtual void feed(std::string_view bytes, parse_sink& sink) = 0;
  /// The text has ended. Nothing may be fed after it.
  virtual parsed_reply finish(parse_sink& sink) = 0;
  /// Nothing that may still come can change the reply: a stop sequence was passed.
  virtual bool stopped() const = 0;
  /// How many bytes of the input are the reply; what came behind them was made up by the model and is dropped (F7).
  virtual std::size_t counted() const = 0;
  /// What of these was made up as well, and stands before what counts: in order.
  virtual std::span<const input_part> left_out() const { return {}; }
};

}  // namespace mcpbx::providers::text
