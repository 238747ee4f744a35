// Reads text and finds marks that begin in it. The text behind an opening mark is read in tagged_bodies.cpp,
// tagged_after.cpp and tagged_skipped.cpp; the output is in tagged_output.cpp.
#include "providers/text/tagged/tagged_parser.hpp"

#include "providers/text/marks/harmony_marks.hpp"
#include "providers/text/marks/json_calls.hpp"
#include "providers/text/marks/marks.hpp"
#include "providers/text/marks/minimax_marks.hpp"
#include "providers/text/marks/text_scan.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace mcpbx::providers::text::tagged {
namespace {

// Returns true if the character behind a square or curly bracket rules out a call and a mark.
bool is_plain(char bracket, char behind) {
  if (marks::is_blank(behind)) return false;
  return bracket == '{' ? behind != '"' && behind != '\'' : behind != '{' && !marks::is_name_char(behind);
}

constexpr std::size_t min_dsml = 6;  // bytes of a mark of DeepSeek's form that are no other token

// Returns true if a header of Harmony without its special tokens may begin here.
bool may_be_header(std::string_view text, bool in_line) {
  const char c = text.front();
  if (in_line ? c != 'a' : std::string_view("atcf \t").find(marks::lower(c)) == marks::npos) return false;
  return marks::begins_bare_header(text, in_line) != marks::match::no;
}

// Returns the number of bytes before a possible mark or call. Most angle brackets begin neither.
std::size_t plain_text(std::string_view text, bool last) {
  for (std::size_t at = 0;; ++at) {
    while (at < text.size() && text[at] != '<' && text[at] != '[' && text[at] != '{' && text[at] != '`') {
      if (text[at] == ']' && at > 0 && marks::begins(text.substr(at), marks::minimax_mark) != marks::match::no)
        return at;
      const bool line_end = text[at++] == '\n';
      if (at < text.size() && may_be_header(text.substr(at), !line_end)) return at;
    }
    if (at == text.size() || text[at] == '`') return at;
    if (text[at] != '<') {
      if (at + 1 == text.size() || !is_plain(text[at], text[at + 1])) return at;
      continue;
    }
    const auto some = marks::begins_some_mark(text.substr(at));
    if (some == marks::match::yes || (some == marks::match::maybe && !last)) return at;
  }
}

std::string_view end_of_reasoning(std::string_view mark) {
  if (mark == "<|channel>") return "<channel|>";
  return mark == "<mm:think>" ? "</mm:think>" : "</think>";
}

bool is_opening(marks::mark_kind k) {
  return k == marks::mark_kind::tag || k == marks::mark_kind::list || k == marks::mark_kind::markup ||
         k == marks::mark_kind::pair || k == marks::mark_kind::python || k == marks::mark_kind::think;
}

}  // namespace

tagged_parser::tagged_parser(marks::offered_tools tools, marks::parser_options options)
    : tools_(std::move(tools)),
      options_(options),
      markup_(&tools_),
      pairs_(&tools_),
      gemma_(&tools_),
      minimax_(&tools_),
      dsml_(&tools_),
      harmony_(&tools_) {}

void tagged_parser::feed(std::string_view bytes, marks::parse_sink& sink) {
  if (state_ == state::dropped) return;
  counted_ += bytes.size();
  // Release the text that is decided. Inside a call all of it is needed.
  if (state_ == state::text || state_ == state::think || state_ == state::spoiled) {
    if (at_ == held_.size()) {
      held_.clear();
      at_ = 0;
    } else if (at_ > 65536) {
      held_.erase(0, at_);
      at_ = 0;
    }
  }
  held_ += bytes;
  while (step(false, sink)) {
  }
}

marks::parsed_reply tagged_parser::finish(marks::parse_sink& sink) {
  while (step(true, sink)) {
  }
  switch (state_) {
    case state::text:
      visible(from(at_), sink);
      break;
    case state::think:
      think(from(at_), sink);
      look_for_call({}, true);
      if (thinks_call_ && !shown_ && !any_calls() && !options_.show_unreadable)
        reply_.calls.push_back(marks::unreadable_call({}, "it stands in reasoning that has no end"));
      break;
    case state::opened:
    case state::python:
    case state::mistral:
    case state::markup:
    case state::pairs:
    case state::gemma:
    case state::minimax:
    case state::dsml:
    case state::harmony:
      cut(std::string(from(mark_)), sink);
      break;
    case state::json:
      if (use_ == use::untagged && !named_) {
        const auto text = std::string(from(begin_));
        visible(text, sink);
      } else {
        cut_json(sink);
      }
      break;
    default:
      break;
  }
  if (alone_in_fence_) alone_.clear();
  if (!alone_.empty()) take(std::exchange(alone_, {}), sink);
  // Show blanks and marks at the end only if the answer consists of nothing else.
  if (!any_calls() && !reply_.incomplete && (shown_ || !skipped_)) {
    const auto rest = pending_fence_ != marks::npos ? pending_.view() : std::string_view(pending_blanks_);
    if (!rest.empty()) sink.on_text(rest);
  }
  return std::move(reply_);
}

bool tagged_parser::step(bool last, marks::parse_sink& sink) {
  if (reply_.too_many && state_ != state::dropped) {
    counted_ -= held_.size() - at_;
    state_ = state::dropped;
  }
  switch (state_) {
    case state::text:
      return in_text(last, sink);
    case state::think:
      return in_think(last, sink);
    case state::opened:
      return in_opened(last, sink);
    case state::unread:
      return in_unread(last, sink);
    case state::python:
      return in_python(last);
    case state::mistral:
      return in_mistral(last, sink);
    case state::markup:
      return in_markup(last, sink);
    case state::pairs:
      return in_pairs(last, sink);
    case state::minimax:
      return in_minimax(last, sink);
    case state::gemma:
      return in_gemma(last, sink);
    case state::dsml:
      return in_dsml(last, sink);
    case state::harmony:
      return in_harmony(last, sink);
    case state::json:
      return in_json(sink);
    case state::result:
      return in_result(last, sink);
    case state::proving:
      return in_proof(last, sink);
    case state::after:
      return in_after(last, sink);
    case state::spoiled:
      return in_spoiled(last, sink);
    case state::dropped:
      return false;
  }
  return false;
}

bool tagged_parser::in_text(bool last, marks::parse_sink& sink) {
  const auto rest = from(at_);
  if (rest.empty()) return false;
  if (first_word_) {
    // Hold a word back until it is known to be no tool's name.
    const auto at = marks::skip_blanks(rest, 0);
    if (!options_.bare_names || tools_.none() || shown_ || any_calls()) {
      first_word_ = false;
    } else if (at > 0) {
      visible(rest.substr(0, at), sink);
      at_ += at;
      return true;
    } else if (marks::is_name_char(rest.front()) || rest.front() == '[') {
      return at_name(last);
    } else {
      first_word_ = false;
    }
    return true;
  }
  if (!in_example() && may_be_header(rest, !at_line_start())) return at_bare_header(last, sink);
  if (marks::begins(rest, marks::minimax_mark) != marks::match::no) return at_minimax(last, sink);
  if (const auto plain = plain_text(rest, last && !any_calls()); plain != 0) {
    visible(rest.substr(0, plain), sink);
    at_ += plain;
    return true;
  }
  switch (rest.front()) {
    case '<':
      return at_angle(last, sink);
    case '[':
      return at_square(last, sink);
    case '`':
      return at_fence(last, sink);
    default:
      return at_untagged(last, sink);
  }
}

bool tagged_parser::at_angle(bool last, marks::parse_sink& sink) {
  const auto rest = from(at_);
  const auto possible = marks::marks_at(rest);
  if (possible.is == marks::match::maybe) {
    if (last) cut_mark(false, sink);
    return false;
  }
  const auto parameter = at_parameter(last, sink);
  if (parameter == marks::match::yes) return true;
  bool maybe = parameter == marks::match::maybe;
  for (auto bits = possible.closing; bits != 0; bits &= bits - 1) {
    const auto& mark = marks::closing_marks[static_cast<std::size_t>(std::countr_zero(bits))];
    const bool closes = any_calls() || (!alone_.empty() && !alone_in_fence_);
    if (!closes && !mark.outer) continue;
    const auto found = marks::match_mark(rest, mark);
    maybe = maybe || found.is == marks::match::maybe;
    if (found.is != marks::match::yes) continue;
    if (!alone_.empty()) {
      call_found();  // drops the waiting fence as well
      alone_in_fence_ = false;
      pending_.clear();
      pending_blanks_.clear();
      take(std::exchange(alone_, {}), sink);
    }
    if (!mark.outer) refuse_markup(at_, sink);
    at_ += found.size;
    // A closing mark of a call that was none. In the middle of text it is only mentioned.
    if (closes) {
      extra_ = after_json_ = false;
      state_ = state::after;
    } else {
      control(rest.substr(0, found.size));
    }
    return true;
  }
  const bool example = in_code_ || quoted_;
  bool maybe_call = false;
  for (auto bits = possible.opening; bits != 0; bits &= bits - 1) {
    const auto& mark = marks::angle_marks[static_cast<std::size_t>(std::countr_zero(bits))];
    if (example && is_opening(mark.kind)) continue;
    const auto found = marks::match_mark(rest, mark);
    maybe = maybe || found.is == marks::match::maybe;
    maybe_call = maybe_call ||
                 (found.is == marks::match::maybe && is_opening(mark.kind) && mark.kind != marks::mark_kind::think);
    if (found.is != marks::match::yes) continue;
    switch (mark.kind) {
      case marks::mark_kind::tag:
      case marks::mark_kind::list:
        form_ = mark.kind == marks::mark_kind::tag ? marks::form_tool_call : marks::form_invoke;
        begins_line_ = at_line_start();
        open(state::opened, found.size);
        tag_ = rest.substr(0, found.size);
        return true;
      case marks::mark_kind::markup:
        form_ = mark.text.ends_with("invoke ") ? marks::form_invoke : marks::form_function;
        open(state::markup, 0);
        begin_ = at_;
        markup_ = markup_call(&tools_);
        return true;
      case marks::mark_kind::pair:
        form_ = marks::form_glm;
        begins_line_ = at_line_start();
        open(state::opened, mark.text.size());
        no_call(at_, sink);
        return true;
      case marks::mark_kind::python:
        form_ = marks::form_llama;
        open(state::python, mark.text.size());
        return true;
      case marks::mark_kind::think:
        end_think_ = end_of_reasoning(mark.text);
        if (mark.text == "<think>" && !at_line_start()) {
          // The mark is only mentioned, unless a closing one follows: then the text between is reasoning.
          thinks_from_ = std::min(thinks_from_, reply_.calls.size());
          break;
        }
        at_ += mark.text.size();
        state_ = state::think;
        return true;
      case marks::mark_kind::end_think: {
        // The opening mark may be in the prompt. In quotes, or before a comma or the like, the mark is only mentioned.
        const auto next = rest.substr(mark.text.size());
        if (next.empty() && !last) return false;
        const auto is_quoted = [&](char behind) {
          constexpr std::string_view signs = "`'\"().,;:!?-/";
          const bool opened =
              pending_.empty() && last_shown_ != 0 && signs.substr(0, 4).find(last_shown_) != marks::npos;
          return example || opened || signs.find(behind) != marks::npos;
        };
        const bool mentioned = thinks_from_ != marks::npos;
        if (mentioned) forget_drafts(std::exchange(thinks_from_, marks::npos));
        if (!next.empty() && !marks::is_blank(next.front()) && !at_line_start() &&
            (mentioned || is_quoted(next.front())))
          break;
        at_ += mark.text.size();
        if (!mentioned) was_reasoning(sink);
        return true;
      }
      case marks::mark_kind::role: {
        auto end = mark.text.size();
        while (end < rest.size() && marks::is_name_char(rest[end]) && end < 64) ++end;
        if (end == rest.size() && !last) return false;
        const auto close = marks::begins(rest.substr(end), marks::end_header);
        if (close == marks::match::maybe && !last) return false;
        if (close == marks::match::yes)
          end += marks::end_header.size();
        else if (end < rest.size() && rest[end] != '\n')
          end = mark.text.size();
        control(rest.substr(0, end));
        at_ += end;
        return true;
      }
      case marks::mark_kind::control:
        // A string of Gemma's that goes on behind its call was cut at a mark within it.
        if (mark.text == gemma_call::string_mark && (reply_.forms & marks::form_gemma) != 0) withdraw(0, sink);
        control(mark.text);
        at_ += mark.text.size();
        return true;
      case marks::mark_kind::result:
        if (at_result(mark.text, found.size, sink)) return true;
        break;
    }
  }
  if (at_special(last, maybe, sink)) return true;
  if (maybe && (!last || cut_mark(maybe_call, sink))) return false;
  visible(rest.substr(0, 1), sink);
  ++at_;
  return true;
}

// Handles a special token of no table.
bool tagged_parser::at_special(bool last, bool& maybe, marks::parse_sink& sink) {
  const auto rest = from(at_);
  if (const auto mark = in_code_ || quoted_ ? marks::dsml_mark() : marks::match_dsml(rest);
      mark.is == marks::match::yes) {
    at_dsml(mark, sink);
    return true;
  } else if (mark.is == marks::match::maybe) {
    maybe = true;
    if (!last || rest.size() < min_dsml) return false;
    form_ = marks::form_dsml;
    cut_mark(true, sink);
    return true;
  }
  const auto found = marks::match_special(rest);
  maybe = maybe || found.is == marks::match::maybe;
  if (found.is != marks::match::yes || in_example()) return false;
  const auto header = marks::read_harmony_header(rest);
  if (header.is == marks::match::maybe && !last) {
    maybe = true;
    return false;
  }
  if (header.is == marks::match::no || !at_header(header, sink)) {
    control(rest.substr(0, found.size));
    at_ += found.size;
  }
  return true;
}

bool tagged_parser::at_square(bool last, marks::parse_sink& sink) {
  const auto rest = from(at_);
  if (in_code_ || quoted_) return at_untagged(last, sink);
  const auto calls = marks::match_tag(rest, marks::tool_calls_mark).is,
             results = marks::begins(rest, marks::tool_results_mark);
  if (calls == marks::match::yes) {
    form_ = marks::form_mistral;
    open(state::mistral, marks::tool_calls_mark.size());
    return true;
  }
  if (results == marks::match::yes && at_result(marks::tool_results_mark, marks::tool_results_mark.size(), sink))
    return true;
  const auto think = at_line_start() ? marks::begins(rest, marks::think_mark) : marks::match::no;
  if (think == marks::match::yes) {
    at_ += marks::think_mark.size();
    end_think_ = marks::end_think_mark;
    state_ = state::think;
    return true;
  }
  const auto calling = marks::begins_like(rest, marks::calling_mark);
  if (calling == marks::match::yes) return at_calling(last, sink);
  const bool call = calls == marks::match::maybe || calling == marks::match::maybe;
  const bool maybe = call || results == marks::match::maybe || think == marks::match::maybe;
  if (maybe && (!last || cut_mark(call, sink))) return false;
  return at_untagged(last, sink);
}

bool tagged_parser::in_think(bool last, marks::parse_sink& sink) {
  if (end_think_.empty()) return in_harmony_think(last, sink);
  const auto close = end_think_;
  const auto rest = from(at_);
  const auto end = rest.find(close);
  if (end == marks::npos) {
    // Pass on all but a possible beginning of the closing mark.
    auto known = rest.size();
    for (auto n = std::min(rest.size(), close.size() - 1); n > 0 && known == rest.size() && !last; --n)
      if (rest.ends_with(close.substr(0, n))) known -= n;
    think(rest.substr(0, known), sink);
    at_ += known;
    return false;
  }
  think(rest.substr(0, end), sink);
  at_ += end + close.size();
  end_thoughts();
  return true;
}

}  // namespace mcpbx::providers::text::tagged
