// Finds the end of an action and of its input, and turns them into a call.
#include "providers/text/marks/marks.hpp"
#include "providers/text/marks/text_scan.hpp"
#include "providers/text/react/react_parser.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers::text::react {
namespace {

bool ends_with_input_mark(std::string_view s) {
  constexpr std::string_view mark = "actioninput";
  if (s.empty() || s.back() != ':') return false;
  std::size_t left = mark.size();
  for (auto i = s.size() - 1; i > 0 && left > 0; --i) {
    const char c = s[i - 1];
    if (c == ' ' || c == '*' || c == '_' || c == '-') continue;
    if (marks::lower(c) != mark[left - 1]) return false;
    --left;
  }
  return left == 0;
}

std::string_view first_line(std::string_view s) {
  s = trimmed(s);
  return trimmed(s.substr(0, s.find('\n')));
}

// Removes a code fence around the text and control tokens that a server let through.
std::string_view bare(std::string_view s) {
  s = trimmed(s);
  for (bool again = true; again;) {
    again = false;
    for (const auto& mark : marks::angle_marks)
      if (mark.kind == marks::mark_kind::control && s.ends_with(mark.text)) {
        s.remove_suffix(mark.text.size());
        s = trimmed(s);
        again = true;
      }
  }
  if (!s.starts_with(marks::fence_mark)) return s;
  const auto line = s.find('\n');
  if (line == marks::npos) return s;
  s = s.substr(line + 1);
  if (const auto end = s.rfind(marks::fence_mark); end != marks::npos) s = s.substr(0, end);
  return trimmed(s);
}

// Largest number of bytes before the bracket of an action or of its input. Longer words are neither a name nor the head
// of a fence, and are not scanned again for each new byte.
constexpr std::size_t longest_head = 512;

bool is_fence_head(std::string_view s) {
  if (!s.starts_with(marks::fence_mark)) return false;
  return std::ranges::all_of(s.substr(marks::fence_mark.size()), marks::is_name_char);
}

// Returns true if `behind`, the rest of the line behind an object, looks like a part of the object, which then ended
// too early.
bool goes_on(std::string_view behind, bool repaired) {
  auto rest = trimmed(behind);
  if (rest.starts_with('}')) rest.remove_prefix(1);
  rest = rest.substr(0, rest.find('{'));
  if (rest.find("\":") != marks::npos || rest.find('}') != marks::npos) return true;
  // Text that touches the object is a part of it if it looks like members, or if the object needed repair.
  rest = trimmed(behind);
  if (rest.size() < 2 || marks::is_blank(behind.front()) ||
      marks::match_react_mark(rest, true, true).is == marks::match::yes)
    return false;
  if (std::string_view(",:{[\"'").find(rest.front()) != marks::npos) return true;
  std::size_t end = 0;
  while (end < rest.size() && marks::is_name_char(rest[end])) ++end;
  return end > 0 && (repaired || (end < rest.size() && std::string_view("\"{[:=").find(rest[end]) != marks::npos));
}

}  // namespace

// Returns true if `c` opens the arguments of NAME(…), NAME[…], NAME {…} or NAME ({…}), or an object alone.
bool react_parser::opens_brackets(char c) const {
  if (c != '(' && c != '[' && c != '{') return false;
  if (!action_.empty() && marks::is_name_char(action_.back())) return true;
  if (action_.size() > longest_head) return false;
  const auto so_far = trimmed(action_);
  if (c == '{' && (so_far.empty() || is_fence_head(so_far))) return true;
  return c != '[' && tools_.find(so_far) != nullptr;
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
    if (inside_ == inside::start && opens_brackets(c)) {
      inside_ = inside::brackets;
      brackets_.reset();
      open_ = action_.size();
      return i;
    }
    action_ += c;
    if (c == ':' && ends_with_input_mark(action_)) {
      // Its only a is the first letter.
      auto end = action_.size();
      while (end > 0 && marks::lower(action_[end - 1]) != 'a') --end;
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
      if (!brackets_.closed()) return taken;
      inside_ = inside::behind;
      behind_.clear();
      input_end_ = fed_ - (held_.size() - at_ - taken);
      return taken;
    }
    case inside::string:
      for (std::size_t i = 0; i < text.size(); ++i) {
        input_ += text[i];
        if (std::exchange(escaped_, false)) continue;
        escaped_ = text[i] == '\\';
        if (text[i] != '"') continue;
        inside_ = inside::quoted;
        return i + 1;
      }
      return text.size();
    case inside::behind: {
      const auto line = text.find('\n');
      if (line != marks::npos) inside_ = inside::done;
      behind_ += text.substr(0, line);
      return std::min(line, text.size());
    }
    case inside::quoted:
      // More text on its line: the string was the beginning of words, or of an object without its bracket.
      for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\n') {
          inside_ = inside::done;
          return i;
        }
        input_ += text[i];
        if (marks::is_blank(text[i])) continue;
        inside_ = inside::words;
        return i + 1;
      }
      return text.size();
    case inside::start:
      for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (marks::is_blank(c) && input_.empty()) continue;
        const auto in_head = [this] { return input_.size() <= longest_head && is_fence_head(trimmed(input_)); };
        if (c == '{' && (input_.empty() || in_head())) {
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
        if (c != '`' && !in_head()) inside_ = inside::words;
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
  auto name = marks::cleaned_name(first_line(action_));
  if (tools_.find(name) != nullptr) return false;
  // "None (I can answer directly)"
  name = trimmed(name.substr(0, name.find(" (")));
  for (const std::string_view word : {"", "none", "n/a", "na", "-", "null", "nothing", "no action", "no tool", "none."})
    if (marks::same_letters(name, word)) return true;
  return false;
}

tool_call_block react_parser::read_call() const {
  std::string_view beside;
  auto call = read_action(beside);
  beside = trimmed(beside);
  if (call.problem.empty() && goes_on(behind_, call.repaired)) {
    auto refused = marks::unreadable_call(input_ + behind_, "something follows the end of its Action Input");
    refused.name = std::move(call.name);
    return refused;
  }
  // Without arguments, words beside the name may be the arguments: refuse the call.
  if (call.problem.empty() && call.arguments.text() == "{}" &&
      beside.find_first_not_of(":.,;!*`'\"()[]{} ") != marks::npos && !marks::takes_nothing(tools_.find(call.name))) {
    auto refused = marks::unreadable_call(action_, "what follows the name of its Action is no Action Input");
    refused.name = std::move(call.name);
    return refused;
  }
  return call;
}

// Reads the call. Sets `beside` to words on the Action's lines that are neither its name nor its arguments.
tool_call_block react_parser::read_action(std::string_view& beside) const {
  tool_call_block call;
  if (open_ > 0 || action_.starts_with('{')) {
    const auto open = std::min(open_, action_.size());
    const auto before = trimmed(std::string_view(action_).substr(0, open));
    const auto body = trimmed(std::string_view(action_).substr(open));
    if (body.starts_with('{') && (before.empty() || before.starts_with(marks::fence_mark))) {
      std::vector<tool_call_block> calls;
      const auto end = body.rfind('}');
      marks::read_json_calls(body.substr(0, end == marks::npos ? end : end + 1), tools_, calls);
      return calls.front();
    }
    if (trimmed(input_).empty() && body.size() >= 2) {
      const char closing = body.front() == '(' ? ')' : body.front() == '[' ? ']' : '}';
      const auto end = body.rfind(closing);
      auto words = body.substr(0, end == marks::npos ? end : end + 1);
      std::vector<tool_call_block> calls;
      if (closing == ')' && marks::read_python_calls(std::string(before) + std::string(words), tools_, calls))
        return calls.front();
      if (closing != '}' && words.size() >= 2) words = words.substr(1, words.size() - 2);
      // Words in brackets that stand apart are a remark.
      const auto first = trimmed(words);
      if (marks::is_blank(action_[open - 1]) && !first.starts_with('{') && !first.starts_with('"'))
        beside = std::exchange(words, {});
      call.name = tools_.resolve(before);
      marks::set_arguments_text(call, tools_.find(before), bare(words));
      return call;
    }
    call.name = tools_.resolve(before);
    beside = body;
    marks::set_arguments_text(call, tools_.find(before), bare(input_));
    return call;
  }
  auto name = marks::cleaned_name(first_line(bare(action_)));
  if (tools_.find(name) == nullptr) {
    // "get_weather (to see whether it rains)"
    const auto word = name.substr(0, name.find_first_of(" \t([{:,"));
    if (tools_.find(word) != nullptr) name = word;
  }
  call.name = tools_.resolve(name);
  const auto lines = bare(action_);
  if (const auto at = lines.find(name); at != marks::npos) beside = lines.substr(at + name.size());
  marks::set_arguments_text(call, tools_.find(name), bare(input_));
  return call;
}

// Shows the action as text, as a last resort.
void react_parser::show_action(marks::parse_sink& sink) const {
  sink.on_text(trimmed(input_).empty() ? action_ : input_ + behind_);
}

void react_parser::end_call(marks::parse_sink& sink) {
  // Some models write the answer as if it were a tool.
  if (marks::same_letters(marks::cleaned_name(first_line(action_)), "final answer")) {
    answer_.feed(bare(input_), sink);
    answer_.finish(sink);
    reply_.forms |= marks::form_react;
    return;
  }
  auto call = read_call();
  reply_.forms |= marks::form_react;
  if (!call.problem.empty() && options_.show_unreadable)
    show_action(sink);
  else
    reply_.calls.push_back(std::move(call));
}

}  // namespace mcpbx::providers::text::react
