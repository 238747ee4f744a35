// Finds calls that begin in text without a mark: a call that lost its mark, or one in a code block.
#include "providers/text/marks/harmony_marks.hpp"
#include "providers/text/marks/marks.hpp"
#include "providers/text/marks/text_scan.hpp"
#include "providers/text/tagged/tagged_parser.hpp"

#include <algorithm>

namespace mcpbx::providers::text::tagged {

bool tagged_parser::at_name(bool last) {
  const auto rest = from(at_);
  std::size_t end = 0;
  while (end < rest.size() && marks::is_name_char(rest[end])) ++end;
  if (end == rest.size() && end <= 128 && !last) return false;
  first_word_ = false;
  // The name may be lost as well; an object must follow then.
  if (end == rest.size() || (end > 0 && tools_.find(rest.substr(0, end)) == nullptr)) return true;
  const auto arguments = marks::begins(rest.substr(end), marks::arguments_mark);
  const auto next =
      end == 0 && arguments == marks::match::yes ? marks::skip_blanks(rest, marks::arguments_mark.size()) : end;
  if ((arguments == marks::match::maybe || (next == rest.size() && next <= 128)) && !last) {
    first_word_ = true;
    return false;
  }
  if ((arguments != marks::match::yes || end == 0) && (next == rest.size() || rest[next] != '{')) return true;
  form_ = marks::form_mistral;
  open(state::mistral, 0);
  return true;
}

bool tagged_parser::at_fence(bool last, marks::parse_sink& sink) {
  const auto rest = from(at_);
  const auto found = marks::begins(rest, marks::fence_mark);
  if (found == marks::match::maybe && !last) return false;
  if (found != marks::match::yes) {
    // A quotation in a sentence is only mentioned. A call that is the whole reply may be in quotes.
    const auto behind = rest.substr(1);
    const auto token = marks::begins(behind, marks::minimax_mark), header = marks::begins_bare_header(behind, true);
    if (!behind.empty() && !last && (token == marks::match::maybe || header == marks::match::maybe)) return false;
    const bool begins_call = token == marks::match::yes || header == marks::match::yes ||
                             (!behind.empty() && std::string_view("<{[").find(behind.front()) != marks::npos);
    const bool quotes = !in_code_ && !quoted_ && said_ && begins_call;
    visible(rest.substr(0, 1), sink);
    quoted_ = quotes;
    ++at_;
    return true;
  }
  if (in_code_) {
    visible(marks::fence_mark, sink);
    in_code_ = false;
    at_ += marks::fence_mark.size();
    return true;
  }
  if (alone_in_fence_) {
    alone_in_fence_ = false;
    pending_fence_ = marks::npos;
    pending_ += marks::fence_mark;
    at_ += marks::fence_mark.size();
    return true;
  }
  auto end = marks::fence_mark.size();
  while (end < rest.size() && marks::is_name_char(rest[end]) && end < 24) ++end;
  if (end == rest.size() && !last) return false;
  if (pending_fence_ != marks::npos) {
    // Two fences without anything between them.
    visible(rest.substr(0, end), sink);
    in_code_ = false;
  } else {
    // A fence inside a sentence is only mentioned.
    fence_opens_ = at_line_start() || (end < rest.size() && (rest[end] == '\n' || rest[end] == '\r'));
    pending_fence_ = pending_.size();
    pending_ += rest.substr(0, end);
  }
  at_ += end;
  return true;
}

// Handles `{` or `[` without a mark.
bool tagged_parser::at_untagged(bool last, marks::parse_sink& sink) {
  using bare = marks::parser_options::bare;
  const auto rest = from(at_);
  const bool fenced = pending_fence_ != marks::npos;
  const bool alone = !shown_ && !any_calls() && alone_.empty() && (!fenced || fence_may_hold_call());
  const bool looked_for = options_.untagged == bare::anywhere ? !in_code_ && !quoted_ && alone_.empty()
                                                              : options_.untagged == bare::alone && alone;
  auto guess =
      !looked_for || tools_.none() ? marks::untagged_guess{} : marks::guess_untagged(rest, tools_, at_line_start());
  // Beside native calls it must be JSON, and stays text until its fence is closed.
  const bool waits = fenced && options_.untagged == bare::alone;
  if (waits && guess.python) guess = {};
  if (guess.is == marks::match::maybe && !last) return false;
  if (guess.is != marks::match::yes) {
    alone_.clear();
    visible(rest.substr(0, 1), sink);
    ++at_;
    return true;
  }
  form_ = guess.python ? marks::form_llama : marks::form_bare;
  mark_ = at_;
  in_tag_ = false;
  tag_.clear();
  named_ = guess.named && !waits;
  begin_json(at_, at_, use::untagged);
  return true;
}

}  // namespace mcpbx::providers::text::tagged
