// Output of the tagged parser: passes on text for people, collects calls, drops marks.
#include "providers/text/marks/dsml_marks.hpp"
#include "providers/text/marks/harmony_marks.hpp"
#include "providers/text/marks/json_calls.hpp"
#include "providers/text/marks/marks.hpp"
#include "providers/text/marks/markup_marks.hpp"
#include "providers/text/marks/minimax_marks.hpp"
#include "providers/text/marks/text_scan.hpp"
#include "providers/text/tagged/tagged_parser.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers::text::tagged {
void tagged_parser::visible(std::string_view text, marks::parse_sink& sink) {
  auto end = text.size();
  while (end > 0 && marks::is_blank(text[end - 1])) --end;
  const auto blanks = text.substr(end);
  text = text.substr(0, end);
  if (!text.empty()) {
    alone_.clear();
    alone_in_fence_ = false;
    // Behind a call, marks for the end of a turn are dropped.
    auto before = pending_.take();
    if (any_calls() && pending_fence_ == marks::npos) before = pending_blanks_;
    pending_blanks_.clear();
    if (std::exchange(parted_, false) && before.empty() && !marks::is_blank(text.front())) before = "\n";
    if (pending_fence_ != marks::npos) in_code_ = fence_opens_;
    pending_fence_ = marks::npos;
    if (!shown_ && (any_calls() || skipped_)) {
      before.erase(0, marks::skip_blanks(before, 0));
      if (before.empty()) text.remove_prefix(marks::skip_blanks(text, 0));
    }
    shown_ = true;
    note_first(before);
    note_first(text);
    said_ = said_ || text.find_first_not_of('`') != marks::npos;
    last_shown_ = text.back();
    if (quoted_ && text.find('\n') != marks::npos) quoted_ = false;
    if (before.empty())
      sink.on_text(text);
    else
      sink.on_text(before.append(text));
  }
  if (quoted_ && blanks.find('\n') != marks::npos) quoted_ = false;
  pending_ += blanks;
  pending_blanks_ += blanks;
}

// Keeps the first bytes of all that is shown. Blanks before them do not count, those between them do.
void tagged_parser::note_first(std::string_view text) {
  if (first_shown_.empty()) text.remove_prefix(marks::skip_blanks(text, 0));
  if (first_shown_.size() < marks::bare_reasoning.size())
    first_shown_ += text.substr(0, marks::bare_reasoning.size() - first_shown_.size());
}

void tagged_parser::control(std::string_view token) {
  if ((token.starts_with("<|") || token.ends_with("|>")) && !in_example()) {
    // Text on both sides of the token must stay apart.
    parted_ = parted_ || (shown_ && pending_.empty());
    return;
  }
  // Drop the token at the beginning of an answer; keep it later only if more text follows.
  if (shown_ || !alone_.empty()) pending_ += token;
}

bool tagged_parser::at_line_start() const {
  return (!shown_ && pending_fence_ == marks::npos && alone_.empty()) || pending_.holds_line_end() ||
         (last_shown_ == '\n' && pending_.empty());
}

bool tagged_parser::in_plain_text() const {
  return state_ == state::text && at_ == held_.size() && !in_code_ && !quoted_ && pending_fence_ == marks::npos &&
         alone_.empty() && !any_calls() && !reply_.incomplete;
}

void tagged_parser::end_with(tool_call_block call, marks::form how) {
  ++found_;
  reply_.calls.push_back(std::move(call));
  reply_.forms |= how;
}

// Returns false for code in another language, which is no call beside native ones.
bool tagged_parser::fence_may_hold_call() const {
  // Only blanks have come behind the fence; there may be many.
  auto language = pending_.view().substr(pending_fence_ + marks::fence_mark.size());
  const auto end = std::ranges::find_if(language, marks::is_blank);
  language = language.substr(0, static_cast<std::size_t>(end - language.begin()));
  return language.empty() || language == "json" || language == "tool_call";
}

void tagged_parser::call_found() {
  if (pending_fence_ != marks::npos) {
    pending_.cut(pending_fence_);
    pending_fence_ = marks::npos;
    fenced_ = true;
  }
}

// Drops the calls from `from` on: they were drafts, because the text around them turned out to be reasoning.
void tagged_parser::forget_drafts(std::size_t from) {
  reply_.calls.resize(std::min(from, reply_.calls.size()));
  if (reply_.calls.empty()) reply_.forms = 0;
  found_ = object_first_ = reply_.calls.size();
  if (first_markup_ >= reply_.calls.size()) first_markup_ = marks::npos;
  proof_ = {};
  alone_.clear();
  in_code_ = quoted_ = alone_in_fence_ = false;
}

// Passes on a part of the reasoning.
void tagged_parser::think(std::string_view text, marks::parse_sink& sink) {
  if (text.empty()) return;
  look_for_call(text, false);
  sink.on_reasoning(text);
}

void tagged_parser::end_thoughts() {
  thought_.clear();
  thinks_call_ = false;
  state_ = state::text;
}

// Turns all text so far into reasoning: a closing mark came without an opening one, which may have been in the prompt.
void tagged_parser::was_reasoning(marks::parse_sink& sink) {
  forget_drafts(0);
  sink.on_text_was_reasoning();
  if (!trimmed(pending_.view()).empty()) sink.on_reasoning(pending_.view());
  pending_.clear();
  pending_blanks_.clear();
  pending_fence_ = marks::npos;
  shown_ = said_ = false;
  skipped_ = true;  // drops the blanks before the answer
  last_shown_ = 0;
}

void tagged_parser::take(std::vector<tool_call_block> calls, marks::parse_sink& sink) {
  const auto first = reply_.calls.size();
  for (auto& call : calls) {
    ++found_;
    check_tag(call);
    // A call without a name may be the arguments of the one before it, which seemed to have none.
    if (call.name == nameless_call && !call.problem.empty() && !reply_.calls.empty() &&
        reply_.calls.back().arguments.text() == "{}" && !marks::takes_nothing(tools_.find(reply_.calls.back().name)))
      withdraw(reply_.calls.size() - 1, sink);
    if (!call.problem.empty() && options_.show_unreadable)
      visible((marks::attributes_of(tag_).empty() ? std::string() : tag_) + call.arguments_text + "\n", sink);
    else
      reply_.calls.push_back(std::move(call));
  }
  object_first_ = std::min(first, reply_.calls.size());
  reply_.forms |= form_;
  if (reply_.calls.size() <= max_reply_calls) return;
  reply_.calls.resize(max_reply_calls);
  reply_.too_many = true;
}

// Refuses a call if attributes of the mark around it may be some of its arguments.
void tagged_parser::check_tag(tool_call_block& call) const {
  if (!call.problem.empty()) return;
  for (const auto& [key, value] : marks::attributes_of(tag_)) {
    const bool harmless = key == "id" || key == "type";
    if (harmless && !marks::has_property(tools_.find(call.name), key)) continue;
    call.problem = marks::unreadable_call({}, "an argument stands in its opening mark").problem;
    call.arguments = {};
  }
}

// Turns the calls from `from` on into unreadable ones: later text showed that they are incomplete.
void tagged_parser::withdraw(std::size_t from, marks::parse_sink& sink) {
  if (options_.show_unreadable) {
    for (auto i = from; i < reply_.calls.size(); ++i)
      visible(reply_.calls[i].name + " " + reply_.calls[i].arguments_text + "\n", sink);
    return reply_.calls.resize(std::min(from, reply_.calls.size()));
  }
  for (auto i = from; i < reply_.calls.size(); ++i) {
    auto& call = reply_.calls[i];
    if (!call.problem.empty()) continue;
    call.problem = marks::unreadable_call({}, "what follows it may be some of its arguments").problem;
    call.arguments = {};
  }
}

// Handles a reply that ends inside a call.
void tagged_parser::cut(std::string_view body, marks::parse_sink& sink) {
  call_found();
  reply_.forms |= form_;
  reply_.incomplete = true;
  if (options_.show_unreadable) visible(body, sink);
}

// Handles a reply that ends inside a mark. Shows nothing of it, except a bracket and a few letters before any call,
// which may be anything.
bool tagged_parser::cut_mark(bool of_call, marks::parse_sink& sink) {
  const auto rest = std::string(from(at_));
  const bool special = rest.starts_with("<|") || rest.starts_with("<\xEF");
  const std::size_t least = any_calls() ? 1 : special ? 3 : 6;
  if (rest.size() < least) return false;
  at_ = held_.size();
  if (of_call) cut(rest, sink);
  return true;
}

// Handles a reply that ends inside brackets. The complete calls of a list are kept.
void tagged_parser::cut_json(marks::parse_sink& sink) {
  std::vector<tool_call_block> calls;
  std::size_t done = 0;
  if (use_ == use::calls || use_ == use::untagged)
    done = marks::read_cut_list(from(begin_), use_ == use::untagged, tools_, calls);
  if (done == 0) return cut(std::string(from(again_ ? begin_ : mark_)), sink);
  call_found();
  take(std::move(calls), sink);
  cut(std::string(from(begin_ + done)), sink);
}

void tagged_parser::open(state s, std::size_t mark_size) {
  mark_ = at_;
  at_ += mark_size;
  state_ = s;
  in_tag_ = false;
  tag_.clear();
}

// Passes on the text from the mark to `end`, which is no call. A special token is seen by nobody.
void tagged_parser::release(std::size_t end, marks::parse_sink& sink) {
  state_ = state::text;
  at_ = end;
  const auto text = std::string_view(held_).substr(mark_, end - mark_);
  const auto special = marks::match_special(text);
  const auto dsml = marks::match_dsml(text);
  const auto minimax = marks::match_minimax(text);
  auto hidden = std::size_t{0};
  if (dsml.is == marks::match::yes) hidden = dsml.size;
  if (special.is == marks::match::yes) hidden = std::max(hidden, special.size);
  if (minimax.is == marks::match::yes) hidden = minimax.size;
  if (hidden > 0) control(text.substr(0, hidden));
  visible(text.substr(hidden), sink);
}

}  // namespace mcpbx::providers::text::tagged
