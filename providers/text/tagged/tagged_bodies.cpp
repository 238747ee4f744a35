// Reads the text behind an opening mark. Until a call has begun, the mark may turn out to be text.
#include "providers/text/marks/marks.hpp"
#include "providers/text/marks/minimax_marks.hpp"
#include "providers/text/marks/text_scan.hpp"
#include "providers/text/tagged/tagged_parser.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace mcpbx::providers::text::tagged {
namespace {

constexpr std::size_t max_held = 512;  // largest number of bytes held back behind a mark that may be text

// Returns true if this opening mark is one for a list of calls.
bool holds_list(std::string_view tag) {
  constexpr std::array<std::string_view, 2> lists{"<tool_calls>", "<function_calls>"};
  return std::ranges::any_of(lists,
                             [&](std::string_view list) { return marks::match_tag(tag, list).size == tag.size(); });
}

}  // namespace

void tagged_parser::begin_json(std::size_t at, std::size_t brackets_at, use as) {
  begin_ = at;
  scan_ = brackets_at;
  use_ = as;
  again_ = false;
  brackets_.reset();
  state_ = state::json;
}

bool tagged_parser::in_opened(bool last, marks::parse_sink& sink) {
  const auto at = at_ = marks::skip_blanks(held_, at_);
  const auto rest = from(at);
  if (rest.empty()) return false;
  if (rest.front() == '{' || rest.front() == '[') {
    in_tag_ = true;
    begin_json(at, at, use::calls);
    return true;
  }
  if (const auto found = marks::match_minimax(rest); found.is == marks::match::maybe) {
    return false;
  } else if (found.is == marks::match::yes) {
    switch (found.kind) {
      case marks::minimax_kind::invoke:
        open_minimax(at);
        break;
      case marks::minimax_kind::section:
        at_ = at + found.size;
        break;
      case marks::minimax_kind::other:
        begins_line_ = true;
        no_call(at, sink);
    }
    return true;
  }
  if (rest.front() == '<') {
    const auto dsml = marks::match_dsml(rest);
    if (dsml.is == marks::match::maybe && rest.size() > 1) return false;
    if (dsml.is == marks::match::yes && dsml.kind == marks::dsml_kind::invoke) {
      open_dsml(at);
      return true;
    }
    if (dsml.is == marks::match::yes && dsml.kind == marks::dsml_kind::section) {
      at_ = at + dsml.size;
      return true;
    }
    bool maybe = false;
    // Each call of a list may have a tag of its own, and a mark may be doubled.
    const bool again = tag_.size() <= marks::longest_tag || holds_list(tag_);
    const auto possible = marks::marks_at(rest);
    constexpr auto all = ~std::uint64_t{0} >> (64 - marks::angle_marks.size());
    for (auto bits = possible.is == marks::match::maybe ? all : possible.opening; bits != 0; bits &= bits - 1) {
      const auto& mark = marks::angle_marks[static_cast<std::size_t>(std::countr_zero(bits))];
      if (mark.kind == marks::mark_kind::tag && again) {
        const auto inner = marks::match_mark(rest, mark);
        maybe = maybe || inner.is == marks::match::maybe;
        if (inner.is != marks::match::yes) continue;
        form_ = marks::form_tool_call;
        tag_ += rest.substr(0, inner.size);
        at_ = at + inner.size;
        return true;
      }
      if (mark.kind != marks::mark_kind::markup) continue;
      const auto found = marks::match_mark(rest, mark).is;
      maybe = maybe || found == marks::match::maybe;
      if (found != marks::match::yes) continue;
      if (form_ == marks::form_tool_call) form_ = marks::form_function;
      at_ = begin_ = at;
      markup_ = markup_call(&tools_);
      state_ = state::markup;
      return true;
    }
    if (maybe) return false;
  } else if (rest.front() == '`') {
    const auto found = marks::begins(rest, marks::fence_mark);
    if (found == marks::match::maybe && !last) return false;
    if (found == marks::match::yes) {
      auto end = marks::fence_mark.size();
      while (end < rest.size() && marks::is_name_char(rest[end]) && end < 24) ++end;
      if (end == rest.size()) return false;
      at_ = at + end;
      fenced_ = true;
      return true;
    }
  }
  const auto gemma = marks::match_tag(tag_, marks::gemma_mark).is == marks::match::yes
                         ? marks::begins(rest, gemma_call::opening)
                         : marks::match::no;
  if (gemma == marks::match::maybe) return false;
  if (gemma == marks::match::yes) {
    form_ = marks::form_gemma;
    begin_ = at;
    gemma_ = gemma_call(&tools_);
    state_ = state::gemma;
    return true;
  }
  // A name begins a Python call, or is followed by an object or by pairs of marks.
  std::size_t end = 0;
  while (end < rest.size() && marks::is_name_char(rest[end])) ++end;
  if (end == 0 || form_ == marks::form_dsml) {
    no_call(at, sink);
    return true;
  }
  bool waits = false;
  if (in_named(at, end, waits)) return true;
  if (waits) return false;
  const auto next = marks::skip_blanks(rest, end);
  // A special token cannot be a mere mention of the mark.
  const bool special = marks::match_special(tag_).is == marks::match::yes;
  if (next == rest.size() && next <= max_held && (!last || special)) return false;
  const bool offered = tools_.find(rest.substr(0, end)) != nullptr;
  if (offered && end < rest.size() && rest[end] == '(') {
    in_tag_ = true;
    begin_json(at, at + end, use::python);
  } else if (offered && next < std::min(rest.size(), max_held) && rest[next] == '{') {
    in_tag_ = true;
    name_ = rest.substr(0, end);
    begin_json(at + next, at + next, use::arguments);
  } else {
    begin_ = at;
    pairs_ = glm_call(&tools_);
    state_ = state::pairs;
  }
  return true;
}

// Reads NAME, perhaps :NUMBER, and a mark before the arguments; or a word for the kind of call, the mark, NAME, and the
// arguments in a code block.
bool tagged_parser::in_named(std::size_t at, std::size_t end, bool& waits) {
  const auto rest = from(at);
  const auto name_at = [&](std::size_t from) {
    auto to = from;
    while (to < rest.size() && marks::is_name_char(rest[to])) ++to;
    return rest.substr(from, to - from);
  };
  auto name = rest.substr(0, end);
  const bool numbered = rest.substr(end).starts_with(':');
  if (numbered) end += 1 + name_at(end + 1).size();
  bool maybe = false;
  const auto* mark = marks::first_of(rest.substr(end), marks::argument_marks, maybe);
  waits = mark == nullptr && maybe && (numbered || end < rest.size()) && end <= max_held;
  if (mark == nullptr) return false;
  auto next = marks::skip_blanks(rest, end + mark->size());
  const auto again = name_at(next);
  if (!again.empty()) {
    name = again;
    next = marks::skip_blanks(rest, next + again.size());
  }
  bool block = false;
  if (rest.substr(next).starts_with(marks::fence_mark)) {
    block = true;
    next += marks::fence_mark.size();
    next = marks::skip_blanks(rest, next + name_at(next).size());
  }
  const bool more = next == rest.size() || marks::begins(rest.substr(next), marks::fence_mark) == marks::match::maybe;
  waits = more && next <= max_held;
  if (more || rest[next] != '{') return false;
  in_tag_ = true;
  fenced_ = fenced_ || block;
  name_ = name;
  begin_json(at + next, at + next, use::arguments);
  return true;
}

bool tagged_parser::in_python(bool last) {
  const auto at = at_ = marks::skip_blanks(held_, at_);
  const auto rest = from(at);
  if (rest.empty()) return false;
  if (rest.front() == '{' || rest.front() == '[') {
    begin_json(at, at, use::calls);
    return true;
  }
  std::size_t end = 0;
  while (end < rest.size() && marks::is_name_char(rest[end])) ++end;
  if (end == rest.size() && end <= 128 && !last) return false;
  if (end > 0 && end < rest.size() && rest[end] == '(') {
    begin_json(at, at + end, use::python);
    return true;
  }
  // A program or plain words follow. Drop the mark, which is not for people.
  state_ = state::text;
  at_ = at;
  return true;
}

bool tagged_parser::in_mistral(bool last, marks::parse_sink& sink) {
  const auto at = at_ = marks::skip_blanks(held_, at_);
  const auto rest = from(at);
  if (rest.empty()) return false;
  const auto arguments = marks::begins(rest, marks::arguments_mark), call_id = marks::begins(rest, marks::call_id_mark);
  const bool nameless = arguments == marks::match::yes || call_id == marks::match::yes;
  if (!nameless && (arguments == marks::match::maybe || call_id == marks::match::maybe)) return false;
  if (rest.front() == '[' && !nameless && from(mark_).starts_with('[') &&
      !from(mark_).starts_with(marks::tool_calls_mark)) {
    // A mark in another case may be the text of a link, so a list counts only if objects are in it.
    const auto next = marks::skip_blanks(rest, 1);
    if (next == rest.size() && next <= max_held && !last) return false;
    if (next == rest.size() || rest[next] != '{') {
      release(at, sink);
      return true;
    }
  }
  if (rest.front() == '{' || (rest.front() == '[' && !nameless)) {
    begin_json(at, at, use::calls);
    return true;
  }
  // NAME, perhaps [CALL_ID]ID, perhaps [ARGS], then an object. Without a name it is a call too, which is refused.
  const bool quoted = std::string_view("\"'`").find(rest.front()) != marks::npos;
  auto end = std::size_t{quoted ? 1U : 0U};
  while (end < rest.size() && marks::is_name_char(rest[end])) ++end;
  const auto name = rest.substr(quoted ? 1 : 0, end - (quoted ? 1 : 0));
  if (quoted && end == rest.size() && end <= 128 && (!last || !name.empty())) return false;
  const bool named = !name.empty() && (!quoted || rest.substr(end, 1) == rest.substr(0, 1));
  if (quoted && named) ++end;
  if ((named || nameless) && end <= 128) {
    if (marks::begins(rest.substr(end), marks::call_id_mark) == marks::match::yes) {
      end += marks::call_id_mark.size();
      while (end < rest.size() && marks::is_name_char(rest[end])) ++end;
    }
    const bool marked = marks::begins(rest.substr(end), marks::arguments_mark) == marks::match::yes;
    if (marked) end += marks::arguments_mark.size();
    end = marks::skip_blanks(rest, end);
    const auto next = rest.substr(end);
    if (next.starts_with('{')) {
      name_ = name;
      begin_json(at + end, at + end, use::arguments);
      return true;
    }
    const bool maybe = next.empty() || (!marked && (marks::begins(next, marks::arguments_mark) == marks::match::maybe ||
                                                    marks::begins(next, marks::call_id_mark) == marks::match::maybe));
    if (maybe && end < max_held) return false;
    // A mark with a tool's name and one of these characters is no mere mention. The end of such a call is unknown.
    if (tools_.find(name) != nullptr && next.starts_with('(') && !marked) {
      begin_json(at, at + end, use::python);
      return true;
    }
    const bool begun = marked || (!next.empty() && std::string_view("([:=").find(next.front()) != marks::npos);
    if (tools_.find(name) != nullptr && begun) {
      if (options_.show_unreadable) {
        release(at, sink);
        return true;
      }
      begin_ = at;
      scan_ = at + name.size();
      object_first_ = reply_.calls.size();
      call_found();
      spoil(sink, "it is no call in any form that is known");
      return true;
    }
  }
  release(at, sink);
  return true;
}

bool tagged_parser::in_markup(bool last, marks::parse_sink& sink) {
  return read_call(markup_, last, sink);
}

bool tagged_parser::in_pairs(bool last, marks::parse_sink& sink) {
  form_ = marks::form_glm;
  const bool go_on = read_call(pairs_, last, sink);
  if (state_ == state::unread || state_ == state::text) form_ = marks::form_tool_call;  // it was no call of this form
  return go_on;
}

bool tagged_parser::in_minimax(bool last, marks::parse_sink& sink) {
  const auto now = minimax_.advance(from(begin_), last);
  if (now == markup_call::outcome::complete) end_call(minimax_, sink);
  if (now != markup_call::outcome::none) return now == markup_call::outcome::complete;
  // It is a call of another form behind the token, which its values must not hold.
  const auto at = from(begin_).starts_with(marks::minimax_mark)
                      ? marks::skip_blanks(held_, begin_ + marks::minimax_mark.size())
                      : begin_;
  form_ = marks::form_invoke;
  at_ = begin_ = at;
  markup_ = markup_call(&tools_, marks::minimax_mark);
  state_ = state::markup;
  return true;
}

bool tagged_parser::in_gemma(bool last, marks::parse_sink& sink) {
  return read_call(gemma_, last, sink);
}

bool tagged_parser::in_dsml(bool last, marks::parse_sink& sink) {
  return read_call(dsml_, last, sink);
}

bool tagged_parser::in_harmony(bool last, marks::parse_sink& sink) {
  const bool go_on = read_call(harmony_, last, sink);
  // Without special tokens a line break may end the message.
  if (state_ == state::after) in_tag_ = in_tag_ && harmony_.has_tokens();
  return go_on;
}

template <class Call>
bool tagged_parser::read_call(Call& call, bool last, marks::parse_sink& sink) {
  switch (call.advance(from(begin_), last)) {
    case markup_call::outcome::none:
      no_call(begin_, sink);  // another mark may follow right behind this one
      return true;
    case markup_call::outcome::complete:
      end_call(call, sink);
      return true;
    default:
      return false;
  }
}

template <class Call>
void tagged_parser::end_call(Call& call, marks::parse_sink& sink) {
  const auto whole = from(begin_);
  call_found();
  at_ = begin_ + call.end();
  in_tag_ = mark_ != begin_;
  extra_ = after_json_ = call.holds_json();
  scan_ = at_;
  state_ = state::after;
  if (call.needs_proof()) begin_proof();
  std::vector<tool_call_block> one;
  one.push_back(call.call(whole));
  if (options_.show_unreadable) one.back().arguments_text = whole.substr(0, call.end());
  take(std::move(one), sink);
}

bool tagged_parser::in_json(marks::parse_sink& sink) {
  scan_ += brackets_.feed(from(scan_));
  if (!brackets_.closed()) return false;
  at_ = scan_;
  state_ = state::after;
  end_json(sink);
  return true;
}

void tagged_parser::end_json(marks::parse_sink& sink) {
  const std::string text(std::string_view(held_).substr(begin_, scan_ - begin_));
  std::vector<tool_call_block> calls;
  switch (use_) {
    case use::calls:
      if (!text.starts_with('[') || !marks::read_python_calls(text, tools_, calls))
        marks::read_json_calls(text, tools_, calls);
      break;
    case use::python:
      if (!marks::read_python_calls(text, tools_, calls))
        calls.push_back(marks::unreadable_call(text, "it is no call with literals"));
      break;
    case use::called: {
      const auto at = text.find('(') + 1;
      const auto inner = trimmed(std::string_view(text).substr(at, text.size() - 1 - at));
      if (!inner.empty() && !(inner.starts_with('{') && inner.ends_with('}'))) {
        if (!marks::read_python_calls(text, tools_, calls))
          calls.push_back(marks::unreadable_call(text, "its arguments are no JSON object"));
        break;
      }
      tool_call_block call;
      call.name = tools_.resolve(text.substr(0, at - 1));
      marks::set_arguments(call, tools_.find(call.name), inner);
      calls.push_back(std::move(call));
      break;
    }
    case use::arguments: {
      if (name_.empty()) {
        calls.push_back(marks::unreadable_call(text, "it has no name"));
        break;
      }
      tool_call_block call;
      call.name = tools_.resolve(name_);
      marks::set_arguments(call, tools_.find(name_), text);
      calls.push_back(std::move(call));
      break;
    }
    case use::untagged: {
      if (form_ == marks::form_llama) {
        if (marks::is_python_calls(text, tools_)) marks::read_python_calls(text, tools_, calls);
        break;
      }
      const auto like = marks::likeness_of(text, tools_);
      if (like.named) marks::read_json_calls(text, tools_, calls);
      if (pending_fence_ != marks::npos && options_.untagged == marks::parser_options::bare::alone) {
        // The object is a call only if its fence ends the reply and contains nothing else.
        const bool sure =
            like.with_arguments && std::ranges::all_of(calls, [](const auto& c) { return c.problem.empty(); });
        if (!sure) calls.clear();
        if (calls.empty()) break;
        state_ = state::text;
        alone_in_fence_ = true;
        alone_ = std::move(calls);
        pending_ += text;
        return;
      }
      if (like.named && !like.with_arguments && !calls.empty()) {
        // The object is a call only if it is the whole reply.
        state_ = state::text;
        const bool first = !shown_ && !any_calls();
        if (first && pending_fence_ == std::string::npos) {
          alone_ = std::move(calls);
          pending_ += text;
          return;
        }
        calls.clear();
      }
      break;
    }
  }
  if (use_ == use::untagged && calls.empty()) {
    state_ = state::text;
    visible(text, sink);
    return;
  }
  call_found();
  extra_ = after_json_ = true;
  if (again_ && calls.front().name == nameless_call) withdraw(object_first_, sink);
  take(std::move(calls), sink);
}

void tagged_parser::spoil(marks::parse_sink& sink, std::string_view why) {
  const std::string text(std::string_view(held_).substr(begin_, scan_ - begin_));
  reply_.calls.resize(std::min(object_first_, reply_.calls.size()));
  state_ = state::spoiled;
  std::vector<tool_call_block> one;
  one.push_back(marks::unreadable_call(text, why));
  take(std::move(one), sink);
}

}  // namespace mcpbx::providers::text::tagged
