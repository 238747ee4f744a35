// Passes lines to the parser of the tagged forms, but holds back lines that may be a call in ReAct's shape until that
// is decided.
#include "providers/text/native_parser.hpp"

#include "providers/text/marks/react_marks.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers::text {
namespace {

constexpr std::string_view action_words = "Action:", input_words = "Action Input:";
constexpr std::size_t longest_tool_name = 128, most_blanks = 16;

// Returns the position behind the blanks of a line.
std::size_t behind_gap(std::string_view s, std::size_t at) {
  const auto end = std::min(s.size(), at + most_blanks);
  while (at < end && (s[at] == ' ' || s[at] == '\t')) ++at;
  return at;
}

}  // namespace

native_parser::native_parser(marks::offered_tools tools, marks::parser_options options)
    : tools_(std::move(tools)), show_unreadable_(options.show_unreadable), tagged_(tools_, options) {}

void native_parser::feed(std::string_view bytes, marks::parse_sink& sink) {
  if (made_up_) return;
  held_ += bytes;
  run(false, sink);
}

void native_parser::run(bool last, marks::parse_sink& sink) {
  while (at_ < held_.size() && !made_up_) {
    const bool may_begin = object_ == 0 && line_start_ && !examples_ && tagged_.in_plain_text();
    const auto head = object_ != 0 ? marks::match::yes : may_begin ? judge_head() : marks::match::no;
    if (head == marks::match::no || (head == marks::match::maybe && last)) {
      const auto line = held_.find('\n', at_);
      let_go(line == marks::npos ? held_.size() : line + 1, sink);
      continue;
    }
    if (head == marks::match::maybe) break;
    if (!brackets_.closed())
      scanned_ = object_end_ = scanned_ + brackets_.feed(std::string_view(held_).substr(scanned_));
    if (brackets_.closed()) scanned_ = marks::skip_blanks(held_, scanned_);
    if (scanned_ == held_.size() && (brackets_.closed() || !last)) return;
    const auto behind = brackets_.closed() ? judge_behind(last) : marks::match::no;
    if (behind == marks::match::maybe) return;
    if (behind == marks::match::yes) {
      made_up_ = true;
      held_.resize(object_end_);
      return;
    }
    // The call is an example: it has no end, or more text follows. Later ones may be examples too.
    examples_ = true;
    let_go(scanned_, sink);
  }
  if (object_ == 0) held_.erase(0, std::exchange(at_, 0));
}

marks::match native_parser::judge_head() {
  const auto s = std::string_view(held_).substr(at_);
  if (const auto begun = marks::begins(s, action_words); begun != marks::match::yes) return begun;
  const auto at = behind_gap(s, action_words.size());
  auto end = at;
  while (end < s.size() && marks::is_name_char(s[end]) && end - at <= longest_tool_name) ++end;
  if (end == s.size()) return marks::match::maybe;
  const auto name = s.substr(at, end - at);
  if (tools_.find(name) == nullptr) return marks::match::no;
  auto next = behind_gap(s, end);
  if (s.substr(next).starts_with('\r')) ++next;
  if (next == s.size()) return marks::match::maybe;
  if (s[next] != '\n') return marks::match::no;
  if (const auto begun = marks::begins(s.substr(++next), input_words); begun != marks::match::yes) return begun;
  next = behind_gap(s, next + input_words.size());
  if (next == s.size()) return marks::match::maybe;
  if (s[next] != '{') return marks::match::no;
  name_ = name;
  object_ = scanned_ = at_ + next;
  brackets_.reset();
  return marks::match::yes;
}

// A model that invents the rest of the conversation begins it with one of these marks, on a line of its own (F7).
marks::match native_parser::judge_behind(bool last) const {
  const auto gap = std::string_view(held_).substr(object_end_, scanned_ - object_end_);
  if (gap.find('\n') == marks::npos) return marks::match::no;
  const auto found = marks::match_react_mark(std::string_view(held_).substr(scanned_), last, false);
  if (found.is != marks::match::yes) return found.is;
  const bool made_up = found.mark == marks::react_mark::observation || found.mark == marks::react_mark::answer;
  // The input must be readable: in examples it is often no JSON.
  return made_up && read_call().problem.empty() ? marks::match::yes : marks::match::no;
}

tool_call_block native_parser::read_call() const {
  tool_call_block call;
  call.name = tools_.resolve(name_);
  marks::set_arguments_text(call, tools_.find(name_), std::string_view(held_).substr(object_, object_end_ - object_));
  return call;
}

void native_parser::let_go(std::size_t end, marks::parse_sink& sink) {
  line_start_ = held_[end - 1] == '\n';
  object_ = 0;
  tagged_.feed(std::string_view(held_).substr(at_, end - at_), sink);
  at_ = end;
}

marks::parsed_reply native_parser::finish(marks::parse_sink& sink) {
  run(true, sink);
  if (object_ != 0) {
    auto call = read_call();
    if (!call.problem.empty() && show_unreadable_)
      sink.on_text(std::string_view(held_).substr(object_, object_end_ - object_));
    else
      tagged_.end_with(std::move(call), marks::form_react);
  }
  return tagged_.finish(sink);
}

}  // namespace mcpbx::providers::text
