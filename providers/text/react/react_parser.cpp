// ReAct's state machine. It works line by line, except inside an action's JSON. It takes the first action and drops the
// rest (F7). react_action.cpp reads the action itself.
#include "providers/text/react/react_parser.hpp"

#include "providers/text/marks/marks.hpp"
#include "providers/text/marks/text_scan.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers::text::react {
namespace {

constexpr std::string_view open_think = "<think>", close_think = "</think>";

constexpr const char* says_neither = "it has neither an Action nor a Final Answer";

// Receiver of thoughts that drops the blanks between a thought and the next mark.
struct last_thoughts final : marks::parse_sink {
  explicit last_thoughts(marks::parse_sink& to_sink) : to(to_sink) {}
  void on_text(std::string_view delta) override {
    if (!trimmed(delta).empty()) to.on_reasoning(delta);
  }
  void on_reasoning(std::string_view delta) override { on_text(delta); }
  marks::parse_sink& to;
};

struct reasoning_sink final : marks::parse_sink {
  explicit reasoning_sink(marks::parse_sink& to_sink) : to(to_sink) {}
  void on_text(std::string_view delta) override { to.on_reasoning(delta); }
  void on_reasoning(std::string_view delta) override { to.on_reasoning(delta); }
  marks::parse_sink& to;
};

// Returns the position behind the first "Answer:" at the beginning of a line, or npos.
std::size_t answer_in(std::string_view thought) {
  for (std::size_t at = 0; at < thought.size();) {
    const auto end = std::min(thought.find('\n', at), thought.size());
    if (const auto mark = marks::match_answer_mark(thought.substr(at, end - at)); mark.is == marks::match::yes)
      return at + mark.size;
    at = end + 1;
  }
  return marks::npos;
}

marks::parser_options without_bare(marks::parser_options o) {
  o.untagged = marks::parser_options::bare::never;
  return o;
}

}  // namespace

react_parser::react_parser(marks::offered_tools tools, marks::parser_options options)
    : tools_(std::move(tools)),
      options_(options),
      answer_(tools_, without_bare(options)),
      thoughts_(tools_, without_bare(options)),
      whole_(tools_, options) {}

void react_parser::feed(std::string_view bytes, marks::parse_sink& sink) {
  if (at_ == held_.size() || at_ > 65536) {
    held_.erase(0, at_);
    at_ = 0;
  }
  held_ += bytes;
  fed_ += bytes.size();
  while (step(false, sink)) {
  }
  if (state_ != state::over) counted_ = fed_;
}

bool react_parser::looks_for_marks() const {
  if (state_ == state::thinking) return false;
  return (state_ != state::action && state_ != state::input) || !cut();
}

bool react_parser::step(bool last, marks::parse_sink& sink) {
  if (at_ >= held_.size()) return false;
  if (state_ == state::thinking) {
    const auto rest = from(at_);
    const auto end = rest.find(close_think);
    if (end == marks::npos && !last && rest.size() < close_think.size()) return false;
    const auto known = end != marks::npos ? end : last ? rest.size() : rest.size() - close_think.size() + 1;
    if (known > 0) sink.on_reasoning(rest.substr(0, known));
    at_ += known;
    if (end == marks::npos) return last;
    at_ += close_think.size();
    state_ = state::before;
    line_start_ = true;
    return true;
  }
  if (line_start_ && looks_for_marks()) return at_line_start(last, sink);
  auto text = from(at_);
  // A bracketed text goes over lines; everything else is looked at line by line.
  if (looks_for_marks())
    if (const auto line = text.find('\n'); line != marks::npos) text = text.substr(0, line + 1);
  const auto taken = take_text(text, sink);
  at_ += taken;
  line_start_ = taken > 0 && held_[at_ - 1] == '\n';
  return true;
}

bool react_parser::at_line_start(bool last, marks::parse_sink& sink) {
  const auto line = from(at_);
  const auto found = marks::match_react_mark(line, last, marked_ && state_ != state::answer);
  if (found.is == marks::match::maybe) return false;
  if (found.is == marks::match::yes && (state_ != state::answer || found.mark == marks::react_mark::observation)) {
    line_start_ = false;
    take_mark(found.mark, found.size, sink);
    return true;
  }
  if (state_ == state::before) {
    const auto thinks = marks::begins(line, open_think);
    if (thinks == marks::match::maybe && !last) return false;
    if (thinks == marks::match::yes) {
      at_ += open_think.size();
      state_ = state::thinking;
      return true;
    }
  }
  line_start_ = false;
  return true;
}

// Ends the reply: only the first `before` bytes of held_ still count.
void react_parser::over(std::size_t before) {
  counted_ = fed_ - (held_.size() - before);
  state_ = state::over;
}

void react_parser::take_mark(marks::react_mark mark, std::size_t size, marks::parse_sink& sink) {
  const auto here = at_;
  at_ += size;
  if (state_ == state::over) {
    stopped_ = true;
    return;
  }
  if (state_ == state::answer) {
    answered_ = true;
    over(here);
    stopped_ = true;
    return;
  }
  if (state_ == state::action || state_ == state::input) {
    if (mark == marks::react_mark::input && state_ == state::action) {
      state_ = state::input;
      inside_ = inside::start;
      return;
    }
    if (!no_action()) {
      end_call(sink);
      over(here);
      stopped_ = true;
      return;
    }
    action_.clear();
    input_.clear();
    state_ = state::thought;
  }
  if (mark == marks::react_mark::observation) {
    over(here);
    stopped_ = true;
    return;
  }
  if (!std::exchange(marked_, true)) think(std::exchange(before_, {}), sink);
  switch (mark) {
    case marks::react_mark::action:
      state_ = state::action;
      inside_ = inside::start;
      break;
    case marks::react_mark::answer:
      state_ = state::answer;
      break;
    default:
      state_ = state::thought;
      break;
  }
}

void react_parser::think(std::string_view text, marks::parse_sink& sink) {
  if (text.empty()) return;
  thought_ += text;
  reasoning_sink reasoning(sink);
  thoughts_.feed(text, reasoning);
}

std::size_t react_parser::take_text(std::string_view text, marks::parse_sink& sink) {
  switch (state_) {
    case state::before:
      before_ += text;
      break;
    case state::thought:
      think(text, sink);
      break;
    case state::action:
      return take_action(text);
    case state::input: {
      const auto taken = take_input(text);
      if (inside_ == inside::done) {
        end_call(sink);
        over(at_ + taken);
        if (input_end_ != 0) counted_ = input_end_;
      }
      return taken;
    }
    case state::answer: {
      // The blank behind the mark is no part of the answer.
      const auto skipped = answering_ ? 0 : marks::skip_blanks(text, 0);
      answering_ = answering_ || skipped < text.size();
      answer_.feed(text.substr(skipped), sink);
      break;
    }
    default:
      break;
  }
  return text.size();
}

marks::parsed_reply react_parser::finish(marks::parse_sink& sink) {
  while (step(true, sink)) {
  }
  if (state_ == state::before || (state_ == state::over && !marked_)) {
    if (state_ == state::over && trimmed(before_).empty()) {
      // The reply is nothing but an invented result. Send only its mark back to the model.
      if (!options_.show_unreadable) reply_.calls.push_back(marks::unreadable_call("Observation:", says_neither));
      return std::move(reply_);
    }
    whole_.feed(before_, sink);
    return whole_.finish(sink);
  }
  if ((state_ == state::action || state_ == state::input) && !no_action()) {
    if (inside_ == inside::behind) counted_ = input_end_;
    if (!cut())
      end_call(sink);
    else if (reply_.incomplete = true; options_.show_unreadable)
      show_action(sink);
    reply_.forms |= marks::form_react;
    state_ = state::over;
    return std::move(reply_);
  }
  last_thoughts reasoning(sink);
  auto thoughts = thoughts_.finish(reasoning);
  if (state_ == state::answer || answered_) {
    answer_.finish(sink);
    return std::move(reply_);
  }
  if (!reply_.calls.empty() || reply_.forms != 0) return std::move(reply_);
  // Marks without an action and without an answer: perhaps the call has another form.
  const bool unread = thoughts.incomplete && options_.show_unreadable;
  if (!thoughts.calls.empty() || (thoughts.incomplete && !unread)) return thoughts;
  if (const auto answer = answer_in(thought_); answer != marks::npos) {
    answer_.feed(trimmed(std::string_view(thought_).substr(answer)), sink);
    answer_.finish(sink);
    return std::move(reply_);
  }
  marks::unheard_words nobody;  // the text was passed on as reasoning already
  whole_.feed(thought_, nobody);
  auto bare_call = whole_.finish(nobody);
  if (!bare_call.calls.empty() || (bare_call.incomplete && !options_.show_unreadable)) return bare_call;
  if (options_.show_unreadable) {
    sink.on_text(thought_);
  } else {
    reply_.calls.push_back(marks::unreadable_call(thought_, says_neither));
  }
  return std::move(reply_);
}

}  // namespace mcpbx::providers::text::react
