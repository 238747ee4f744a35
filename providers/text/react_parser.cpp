// Line by line; inside of an action's JSON lines do not count. One action is taken, the rest is dropped (F7).
#include "providers/text/react_parser.hpp"

#include "providers/text/marks.hpp"
#include "providers/text/words.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers::text {
namespace {

constexpr std::string_view open_think = "<think>", close_think = "</think>";

struct reasoning_sink final : parse_sink {
  explicit reasoning_sink(parse_sink& to_sink) : to(to_sink) {}
  void on_text(std::string_view delta) override { to.on_reasoning(delta); }
  void on_reasoning(std::string_view delta) override { to.on_reasoning(delta); }
  parse_sink& to;
};

bool ends_with_input_mark(std::string_view s) {
  constexpr std::string_view mark = "actioninput";
  if (s.empty() || s.back() != ':') return false;
  std::size_t left = mark.size();
  for (auto i = s.size() - 1; i > 0 && left > 0; --i) {
    const char c = s[i - 1];
    if (c == ' ' || c == '*' || c == '_' || c == '-') continue;
    if (lower(c) != mark[left - 1]) return false;
    --left;
  }
  return left == 0;
}

std::string_view first_line(std::string_view s) {
  s = trimmed(s);
  return trimmed(s.substr(0, s.find('\n')));
}

// Without a code fence, and without the control tokens that a server let through.
std::string_view bare(std::string_view s) {
  s = trimmed(s);
  for (bool again = true; again;) {
    again = false;
    for (const auto& mark : angle_marks)
      if (mark.kind == mark_kind::control && s.ends_with(mark.text)) {
        s.remove_suffix(mark.text.size());
        s = trimmed(s);
        again = true;
      }
  }
  if (!s.starts_with(fence_mark)) return s;
  const auto line = s.find('\n');
  if (line == npos) return s;
  s = s.substr(line + 1);
  if (const auto end = s.rfind(fence_mark); end != npos) s = s.substr(0, end);
  return trimmed(s);
}

bool is_fence_head(std::string_view s) {
  if (!s.starts_with(fence_mark)) return false;
  return std::ranges::all_of(s.substr(fence_mark.size()), is_name_char);
}

parser_options without_bare(parser_options o) {
  o.untagged = parser_options::bare::never;
  return o;
}

}  // namespace

std::unique_ptr<text_parser> make_react_parser(const offered_tools& tools, parser_options options) {
  return std::make_unique<react_parser>(tools, options);
}

react_parser::react_parser(offered_tools tools, parser_options options)
    : tools_(std::move(tools)),
      options_(options),
      answer_(tools_, without_bare(options)),
      thoughts_(tools_, without_bare(options)),
      whole_(tools_, options) {}

void react_parser::feed(std::string_view bytes, parse_sink& sink) {
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

bool react_parser::step(bool last, parse_sink& sink) {
  if (at_ >= held_.size()) return false;
  if (state_ == state::thinking) {
    const auto rest = from(at_);
    const auto end = rest.find(close_think);
    if (end == npos && !last && rest.size() < close_think.size()) return false;
    const auto known = end != npos ? end : last ? rest.size() : rest.size() - close_think.size() + 1;
    if (known > 0) sink.on_reasoning(rest.substr(0, known));
    at_ += known;
    if (end == npos) return last;
    at_ += close_think.size();
    state_ = state::before;
    line_start_ = true;
    return true;
  }
  if (line_start_ && looks_for_marks()) return at_line_start(last, sink);
  auto text = from(at_);
  // A bracketed text goes over lines; everything else is looked at line by line.
  if (looks_for_marks())
    if (const auto line = text.find('\n'); line != npos) text = text.substr(0, line + 1);
  const auto taken = take_text(text, sink);
  at_ += taken;
  line_start_ = taken > 0 && held_[at_ - 1] == '\n';
  return true;
}

bool react_parser::at_line_start(bool last, parse_sink& sink) {
  const auto line = from(at_);
  const auto found = match_react_mark(line, last, marked_ && state_ != state::answer);
  if (found.is == match::maybe) return false;
  if (found.is == match::yes && (state_ != state::answer || found.mark == react_mark::observation)) {
    line_start_ = false;
    take_mark(found.mark, found.size, sink);
    return true;
  }
  if (state_ == state::before) {
    const auto thinks = begins(line, open_think);
    if (thinks == match::maybe && !last) return false;
    if (thinks == match::yes) {
      at_ += open_think.size();
      state_ = state::thinking;
      return true;
    }
  }
  line_start_ = false;
  return true;
}

// What follows does not count. `before` are the bytes of held_ that do.
void react_parser::over(std::size_t before) {
  counted_ = fed_ - (held_.size() - before);
  state_ = state::over;
}

void react_parser::take_mark(react_mark mark, std::size_t size, parse_sink& sink) {
  const auto here = at_;
  at_ += size;
  if (state_ == state::over) {
    stopped_ = true;
    return;
  }
  if (state_ == state::answer) {
    over(here);
    stopped_ = true;
    return;
  }
  if (state_ == state::action || state_ == state::input) {
    if (mark == react_mark::input && state_ == state::action) {
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
  if (mark == react_mark::observation) {
    over(here);
    stopped_ = true;
    return;
  }
  if (!std::exchange(marked_, true)) think(std::exchange(before_, {}), sink);
  switch (mark) {
    case react_mark::action:
      state_ = state::action;
      inside_ = inside::start;
      break;
    case react_mark::answer:
      state_ = state::answer;
      break;
    default:
      state_ = state::thought;
      break;
  }
}

void react_parser::think(std::string_view text, parse_sink& sink) {
  if (text.empty()) return;
  thought_ += text;
  reasoning_sink reasoning(sink);
  thoughts_.feed(text, reasoning);
}

std::size_t react_parser::take_text(std::string_view text, parse_sink& sink) {
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
      }
      return taken;
    }
    case state::answer: {
      // The blank behind the mark is no part of the answer.
      const auto skipped = answering_ ? 0 : skip_blanks(text, 0);
      answering_ = answering_ || skipped < text.size();
      answer_.feed(text.substr(skipped), sink);
      break;
    }
    default:
      break;
  }
  return text.size();
}

std::size_t react_parser::take_action(std::string_view text) {
  if (inside_ == inside::brackets) {
    const auto taken = brackets_.feed(text);
    action_ += text.substr(0, taken);
    if (brackets_.closed()) inside_ = inside::words;
    return taken;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto so_far = trimmed(action_);
    const bool joined = !action_.empty() && is_name_char(action_.back());
    // NAME(…), NAME[…], NAME {…} or NAME ({…})
    const bool apart = !joined && (c == '(' || c == '{') && tools_.find(so_far) != nullptr;
    const bool opens =
        apart || (c == '{' ? joined || so_far.empty() || is_fence_head(so_far) : (c == '(' || c == '[') && joined);
    if (inside_ == inside::start && opens) {
      inside_ = inside::brackets;
      brackets_.reset();
      open_ = action_.size();
      return i;
    }
    action_ += c;
    if (c == ':' && ends_with_input_mark(action_)) {
      // Its only a is the first letter.
      auto end = action_.size();
      while (end > 0 && lower(action_[end - 1]) != 'a') --end;
      action_.resize(end > 0 ? end - 1 : 0);
      state_ = state::input;
      inside_ = inside::start;
      return i + 1;
    }
  }
  return text.size();
}

std::size_t react_parser::take_input(std::string_view text) {
  switch (inside_) {
    case inside::brackets: {
      const auto taken = brackets_.feed(text);
      input_ += text.substr(0, taken);
      if (brackets_.closed()) inside_ = inside::done;
      return taken;
    }
    case inside::string:
      for (std::size_t i = 0; i < text.size(); ++i) {
        input_ += text[i];
        if (std::exchange(escaped_, false)) continue;
        escaped_ = text[i] == '\\';
        if (text[i] != '"') continue;
        inside_ = inside::done;
        return i + 1;
      }
      return text.size();
    case inside::start:
      for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (is_blank(c) && input_.empty()) continue;
        const bool fence_head = is_fence_head(trimmed(input_));
        if (c == '{' && (input_.empty() || fence_head)) {
          input_.clear();
          inside_ = inside::brackets;
          brackets_.reset();
          return i;
        }
        if (c == '"' && input_.empty()) {
          inside_ = inside::string;
          input_ += c;
          return i + 1;
        }
        input_ += c;
        // Words, unless it is still the line of a code fence.
        if (c != '`' && !is_fence_head(trimmed(input_))) inside_ = inside::words;
        if (inside_ == inside::words) {
          input_ += text.substr(i + 1);
          return text.size();
        }
      }
      return text.size();
    default:
      input_ += text;
      return text.size();
  }
}

bool react_parser::no_action() const {
  const auto name = cleaned_name(first_line(action_));
  if (tools_.find(name) != nullptr) return false;
  for (const std::string_view word : {"", "none", "n/a", "na", "-", "null", "nothing", "no action", "no tool", "none."})
    if (same_letters(name, word)) return true;
  return false;
}

tool_call_block react_parser::read_call() const {
  tool_call_block call;
  if (open_ > 0 || action_.starts_with('{')) {
    const auto open = std::min(open_, action_.size());
    const auto before = trimmed(std::string_view(action_).substr(0, open));
    const auto body = trimmed(std::string_view(action_).substr(open));
    if (body.starts_with('{') && (before.empty() || before.starts_with(fence_mark))) {
      std::vector<tool_call_block> calls;
      const auto end = body.rfind('}');
      read_json_calls(body.substr(0, end == npos ? end : end + 1), tools_, calls);
      return calls.front();
    }
    if (trimmed(input_).empty() && body.size() >= 2) {
      const char closing = body.front() == '(' ? ')' : body.front() == '[' ? ']' : '}';
      const auto end = body.rfind(closing);
      auto words = body.substr(0, end == npos ? end : end + 1);
      std::vector<tool_call_block> calls;
      if (closing == ')' && read_python_calls(std::string(before) + std::string(words), tools_, calls))
        return calls.front();
      if (closing != '}' && words.size() >= 2) words = words.substr(1, words.size() - 2);
      // Words in brackets that stand apart are a remark.
      const auto first = trimmed(words);
      if (is_blank(action_[open - 1]) && !first.starts_with('{') && !first.starts_with('"')) words = {};
      call.name = tools_.resolve(before);
      set_arguments_text(call, tools_.find(before), bare(words));
      return call;
    }
    call.name = tools_.resolve(before);
    set_arguments_text(call, tools_.find(before), bare(input_));
    return call;
  }
  auto name = cleaned_name(first_line(bare(action_)));
  if (tools_.find(name) == nullptr) {
    // "get_weather (to see whether it rains)"
    const auto word = name.substr(0, name.find_first_of(" \t([{:,"));
    if (tools_.find(word) != nullptr) name = word;
  }
  call.name = tools_.resolve(name);
  set_arguments_text(call, tools_.find(name), bare(input_));
  return call;
}

void react_parser::end_call(parse_sink& sink) {
  // Some models name the answer as if it were a tool.
  if (same_letters(cleaned_name(first_line(action_)), "final answer")) {
    answer_.feed(bare(input_), sink);
    answer_.finish(sink);
    reply_.forms |= form_react;
    return;
  }
  auto call = read_call();
  reply_.forms |= form_react;
  if (!call.problem.empty() && options_.show_unreadable)
    answer_.feed(input_.empty() ? action_ : input_, sink);
  else
    reply_.calls.push_back(std::move(call));
}

parsed_reply react_parser::finish(parse_sink& sink) {
  while (step(true, sink)) {
  }
  if (state_ == state::before || (state_ == state::over && !marked_)) {
    whole_.feed(before_, sink);
    auto reply = whole_.finish(sink);
    return reply;
  }
  if ((state_ == state::action || state_ == state::input) && !no_action()) {
    if (cut())
      reply_.incomplete = true;
    else
      end_call(sink);
    reply_.forms |= form_react;
    state_ = state::over;
    if (options_.show_unreadable) answer_.finish(sink);
    return std::move(reply_);
  }
  reasoning_sink reasoning(sink);
  auto thoughts = thoughts_.finish(reasoning);
  if (state_ == state::answer) {
    answer_.finish(sink);
    return std::move(reply_);
  }
  if (!reply_.calls.empty() || reply_.forms != 0) {
    if (options_.show_unreadable) answer_.finish(sink);
    return std::move(reply_);
  }
  // Marks without an action and without an answer. Perhaps it called in another form.
  if (!thoughts.calls.empty() || thoughts.incomplete) return thoughts;
  if (options_.show_unreadable) {
    answer_.feed(thought_, sink);
    answer_.finish(sink);
  } else {
    reply_.calls.push_back(unreadable_call(thought_, "it has neither an Action nor a Final Answer"));
  }
  return std::move(reply_);
}

}  // namespace mcpbx::providers::text
