// Table of the words for the end of an answer, grouped by meaning.
#include "providers/wire/end_reasons.hpp"

#include "mcp/support/text.hpp"
#include "providers/wire/api_errors.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace mcpbx::providers::wire {
namespace {

struct known_word {
  std::string_view word;  // in lower case, with `_` for `-`
  end_reason reason;
};

constexpr std::array known_words = {
    known_word{"stop", end_reason::stop},
    known_word{"end", end_reason::stop},
    known_word{"eos", end_reason::stop},
    known_word{"done", end_reason::stop},
    known_word{"complete", end_reason::stop},
    known_word{"completed", end_reason::stop},
    known_word{"finished", end_reason::stop},
    known_word{"end_turn", end_reason::stop},
    known_word{"eos_token", end_reason::stop},
    known_word{"stop_sequence", end_reason::stop},
    known_word{"tool_use", end_reason::stop},
    known_word{"tool_call", end_reason::stop},
    known_word{"tool_calls", end_reason::stop},
    known_word{"function_call", end_reason::stop},
    known_word{"function_calls", end_reason::stop},

    known_word{"length", end_reason::length},
    known_word{"max_tokens", end_reason::length},
    known_word{"max_length", end_reason::length},
    known_word{"model_length", end_reason::length},
    known_word{"max_output_tokens", end_reason::length},
    // Gemini could continue such an answer by its token; we make one request for each reply.
    known_word{"continuation", end_reason::length},

    known_word{"pause_turn", end_reason::pause},
    known_word{"refusal", end_reason::refusal},

    known_word{"content_filter", end_reason::filter},
    known_word{"content_filtered", end_reason::filter},
    known_word{"guardrail_intervened", end_reason::filter},
    known_word{"sensitive", end_reason::filter},
    known_word{"safety", end_reason::filter},
    known_word{"recitation", end_reason::filter},
    known_word{"language", end_reason::filter},
    known_word{"blocklist", end_reason::filter},
    known_word{"prohibited_content", end_reason::filter},
    known_word{"spii", end_reason::filter},
    known_word{"image_safety", end_reason::filter},
    known_word{"image_prohibited_content", end_reason::filter},
    known_word{"image_recitation", end_reason::filter},
    known_word{"image_other", end_reason::filter},
    known_word{"model_armor", end_reason::filter},
    known_word{"other", end_reason::filter},

    known_word{"model_context_window_exceeded", end_reason::context_full},

    known_word{"malformed_function_call", end_reason::malformed_call},
    known_word{"malformed_tool_use", end_reason::malformed_call},
    known_word{"function_call_filter", end_reason::malformed_call},
    known_word{"unexpected_tool_call", end_reason::malformed_call},
    known_word{"too_many_tool_calls", end_reason::malformed_call},
};

end_reason look_up(std::string_view word) {
  auto key = lower(trimmed(word));
  std::ranges::replace(key, '-', '_');
  const auto found = std::ranges::find(known_words, key, &known_word::word);
  return found == known_words.end() ? end_reason::unknown : found->reason;
}

}  // namespace

end_reason read_end_reason(std::string_view word) {
  if (trimmed(word).empty()) return end_reason::stop;
  const auto colon = word.find(':');
  if (colon == std::string_view::npos) return look_up(word);
  const auto kind = look_up(word.substr(0, colon)), own = look_up(word.substr(colon + 1));
  return own == end_reason::unknown || own == end_reason::stop ? kind : own;
}

}  // namespace mcpbx::providers::wire
