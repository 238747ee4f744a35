// Handles the headers of Harmony's messages, with their special tokens or without.
#include "providers/text/marks/harmony_marks.hpp"
#include "providers/text/tagged/tagged_parser.hpp"

#include <algorithm>
#include <string>

namespace mcpbx::providers::text::tagged {

// Handles a header at at_. Returns false if its first token is to be dropped alone.
bool tagged_parser::at_header(const marks::harmony_header& header, marks::parse_sink& sink) {
  if (header.is == marks::match::maybe) {
    // The reply ends inside it.
    const std::string rest(from(at_));
    at_ = held_.size();
    if (header.calls() ||
        (!header.channel.empty() && marks::begins("commentary", header.channel) == marks::match::yes)) {
      form_ = marks::form_harmony;
      cut(rest, sink);
    }
    return true;
  }
  if (header.is_result() && header.complete && skip_result(std::string(marks::harmony_end), header.size, sink))
    return true;
  if (header.calls()) {
    open_harmony(header);
    return true;
  }
  if (!header.complete) return false;
  if (header.channel == "analysis") {
    at_ += header.size;
    end_think_ = {};
    state_ = state::think;
    return true;
  }
  control(from(at_).substr(0, header.size));
  at_ += header.size;
  return true;
}

void tagged_parser::open_harmony(const marks::harmony_header& header) {
  call_found();
  form_ = marks::form_harmony;
  harmony_ = harmony_call(&tools_, header);
  open(state::harmony, header.size);
  begin_ = at_;
}

// Handles text that may be a header without its special tokens.
bool tagged_parser::at_bare_header(bool last, marks::parse_sink& sink) {
  const auto rest = from(at_);
  const auto header = marks::read_bare_header(rest, tools_);
  const bool answer = rest.starts_with(marks::bare_answer);
  if (header.is == marks::match::maybe && !answer && !last) return false;
  // Behind reasoning without its special tokens the message ends that.
  const bool reasoned = first_shown_ == marks::bare_reasoning && !any_calls();
  if (reasoned && (answer || header.is == marks::match::yes)) {
    first_shown_ = marks::bare_answer;  // only once
    was_reasoning(sink);
  }
  if (reasoned && answer) {
    at_ += marks::bare_answer.size();
    return true;
  }
  if (header.is == marks::match::yes) {
    open_harmony(header);
    return true;
  }
  // The recipient may be cut, too.
  const bool begun = !header.recipient.empty() && std::string_view("functions.").starts_with(header.recipient);
  const bool addressed =
      begun || rest.starts_with("assistantcommentary") || marks::names_harmony_tool(header.recipient, tools_);
  if (header.is == marks::match::maybe && addressed) {
    const std::string whole(rest);
    at_ = held_.size();
    form_ = marks::form_harmony;
    cut(whole, sink);
    return false;
  }
  const auto blanks = std::min(rest.find_first_not_of(" \t"), rest.size());
  const auto size = std::max<std::size_t>(blanks, 1);
  visible(rest.substr(0, size), sink);
  at_ += size;
  return true;
}

// Handles the text behind an object that calls a tool. Returns no if it is none of Harmony's.
marks::match tagged_parser::after_harmony(bool last) {
  const auto rest = from(at_);
  const auto ends = marks::begins_any(rest, marks::harmony_ends), next = marks::begins_next_message(rest);
  // The next call follows on the same line if no token stands between them.
  if (const auto header = next == marks::match::no ? marks::harmony_header() : marks::read_bare_header(rest, tools_);
      header.is == marks::match::maybe && !last) {
    return marks::match::maybe;
  } else if (header.is == marks::match::yes) {
    open_harmony(header);
    return marks::match::yes;
  }
  if (ends == marks::match::yes || next == marks::match::yes) {
    in_tag_ = extra_ = after_json_ = false;
    const auto closing = {marks::harmony_call_end, marks::harmony_end, std::string_view("<|return|>")};
    for (const auto mark : closing)
      if (rest.starts_with(mark)) {
        at_ += mark.size();
        return marks::match::yes;
      }
    if (rest.starts_with(marks::bare_answer)) at_ += marks::bare_answer.size();
    state_ = state::text;
    return marks::match::yes;
  }
  if (!last && (ends == marks::match::maybe || next == marks::match::maybe)) return marks::match::maybe;
  return marks::match::no;
}

bool tagged_parser::in_harmony_think(bool last, marks::parse_sink& sink) {
  const auto rest = from(at_);
  auto known = rest.find('<');
  for (; known != marks::npos; known = rest.find('<', known + 1)) {
    const auto end = marks::match_reasoning_end(rest.substr(known));
    if (end.is == marks::match::maybe && !last) break;
    if (end.is != marks::match::yes) continue;
    think(rest.substr(0, known), sink);
    at_ += known + end.size;
    end_thoughts();
    return true;
  }
  known = std::min(known, rest.size());
  think(rest.substr(0, known), sink);
  at_ += known;
  return false;
}

}  // namespace mcpbx::providers::text::tagged
