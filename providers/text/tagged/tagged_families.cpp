// Handles the marks of single families that begin in text: DeepSeek's, MiniMax's, and calls as transcripts show them.
#include "providers/text/marks/dsml_marks.hpp"
#include "providers/text/marks/marks.hpp"
#include "providers/text/marks/minimax_marks.hpp"
#include "providers/text/marks/text_scan.hpp"
#include "providers/text/tagged/tagged_parser.hpp"

#include <string>

namespace mcpbx::providers::text::tagged {

// Handles a mark of DeepSeek's form.
void tagged_parser::at_dsml(const marks::dsml_mark& mark, marks::parse_sink& sink) {
  switch (mark.kind) {
    case marks::dsml_kind::section:
      call_found();
      form_ = marks::form_dsml;
      begins_line_ = true;  // it is no mere mention
      open(state::opened, mark.size);
      return;
    case marks::dsml_kind::invoke:
      call_found();
      open(state::dsml, 0);
      open_dsml(at_);
      return;
    default:
      // The rest of a call proves that an earlier one ended too early.
      if (any_calls() && mark.kind != marks::dsml_kind::section_end) refuse_markup(at_, sink);
      at_ += mark.size;
      if (any_calls()) state_ = state::after;
  }
}

void tagged_parser::open_dsml(std::size_t at) {
  form_ = marks::form_dsml;
  at_ = begin_ = at;
  dsml_ = dsml_call(&tools_);
  state_ = state::dsml;
}

bool tagged_parser::at_minimax(bool last, marks::parse_sink& sink) {
  const auto rest = from(at_);
  const bool whole = rest.starts_with(marks::minimax_mark), example = in_code_ || quoted_;
  const auto found = example ? marks::minimax_found() : marks::match_minimax(rest);
  if (found.is == marks::match::maybe) {
    if (!last) return false;
    if (rest.size() > 2) {
      form_ = marks::form_minimax;
      const std::string body(rest);
      at_ = held_.size();
      cut(body, sink);
      return false;
    }
  }
  if (!whole || example) {
    visible(rest.substr(0, 1), sink);
    ++at_;
    return true;
  }
  form_ = marks::form_minimax;
  begins_line_ = true;  // it is no mere mention
  switch (found.kind) {
    case marks::minimax_kind::section:
      call_found();
      open(state::opened, found.size);
      break;
    case marks::minimax_kind::invoke:
      call_found();
      open(state::minimax, 0);
      open_minimax(at_);
      break;
    case marks::minimax_kind::other:
      at_ += marks::minimax_mark.size();
  }
  return true;
}

void tagged_parser::open_minimax(std::size_t at) {
  form_ = marks::form_minimax;
  at_ = begin_ = at;
  minimax_ = minimax_call(&tools_);
  state_ = state::minimax;
}

// Handles a call as transcripts show it: [Calling tool: NAME({…})].
bool tagged_parser::at_calling(bool last, marks::parse_sink& sink) {
  constexpr std::size_t longest_head = 256;
  form_ = marks::form_bare;
  const auto rest = from(at_).substr(0, longest_head);
  const auto at = marks::skip_blanks(rest, marks::calling_mark.size());
  auto end = at;
  while (end < rest.size() && marks::is_name_char(rest[end])) ++end;
  if (end == rest.size() && end < longest_head) {
    if (last) cut_mark(true, sink);
    return false;
  }
  if (end == rest.size() || rest[end] != '(' || tools_.find(rest.substr(at, end - at)) == nullptr) {
    visible(rest.substr(0, 1), sink);
    ++at_;
    return true;
  }
  call_found();
  open(state::json, at);
  begin_json(at_, at_ + (end - at), use::called);
  return true;
}

}  // namespace mcpbx::providers::text::tagged
