// Handles the headers of Harmony's messages, with their special tokens or without.
#include "providers/text/marks/harmony_marks.hpp"
#include "providers/text/tagged/tagged_parser.hpp"

#include <algorithm>
#include <string>

namespace mcpbx::providers::text {

// Handles a header at at_. Returns false if its first token is to be dropped alone.
bool tagged_parser::at_header(const harmony_header& header, parse_sink& sink) {
  if (header.is == match::maybe) {
    // The reply ends inside it.
    const std::string rest(from(at_));
    at_ = held_.size();
    if (header.calls() || (!header.channel.empty() && begins("commentary", header.channel) == match::yes)) {
      form_ = form_harmony;
      cut(rest, sink);
    }
    return true;
  }
  if (header.is_result() && header.complete && skip_result(std::string(harmony_end), header.size, sink)) return true;
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

void tagged_parser::open_harmony(const harmony_header& header) {
  call_found();
  form_ = form_harmony;
  harmony_ = harmony_call(&tools_, header);
  open(state::harmony, header.size);
  begin_ = at_;
}

// Handles text that may be a header without its special tokens.
bool tagged_parser::at_bare_header(bool last, parse_sink& sink) {
  const auto rest = from(at_);
  const auto header = read_bare_header(rest, tools_);
  const bool answer = rest.starts_with(bare_answer);
  if (header.is == match::maybe && !answer && !last) return false;
  // Behind reasoning without its special tokens the message ends that.
  const bool reasoned = first_shown_ == bare_reasoning && !any_calls();
  if (reasoned && (answer || header.is == match::yes)) {
    first_shown_ = bare_answer;  // only once
    was_reasoning(sink);
  }
  if (reasoned && answer) {
    at_ += bare_answer.size();
    return true;
  }
  if (header.is == match::yes) {
    open_harmony(header);
    return true;
  }
  // The recipient may be cut, too.
  const bool begun = !header.recipient.empty() && std::string_view("functions.").starts_with(header.recipient);
  const bool addressed =
      begun || rest.starts_with("assistantcommentary") || names_harmony_tool(header.recipient, tools_);
  if (header.is == match::maybe && addressed) {
    const std::string whole(rest);
    at_ = held_.size();
    form_ = form_harmony;
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
match tagged_parser::after_harmony(bool last) {
  const auto rest = from(at_);
  const auto ends = begins_any(rest, harmony_ends), next = begins_next_message(rest);
  // The next call follows on the same line if no token stands between them.
  if (const auto header = next == match::no ? harmony_header() : read_bare_header(rest, tools_);
      header.is == match::maybe && !last) {
    return match::maybe;
  } else if (header.is == match::yes) {
    open_harmony(header);
    return match::yes;
  }
  if (ends == match::yes || next == match::yes) {
    in_tag_ = extra_ = after_json_ = false;
    const auto closing = {harmony_call_end, harmony_end, std::string_view("<|return|>")};
    for (const auto mark : closing)
      if (rest.starts_with(mark)) {
        at_ += mark.size();
        return match::yes;
      }
    if (rest.starts_with(bare_answer)) at_ += bare_answer.size();
    state_ = state::text;
    return match::yes;
  }
  if (!last && (ends == match::maybe || next == match::maybe)) return match::maybe;
  return match::no;
}

bool tagged_parser::in_harmony_think(bool last, parse_sink& sink) {
  const auto rest = from(at_);
  auto known = rest.find('<');
  for (; known != npos; known = rest.find('<', known + 1)) {
    const auto end = match_reasoning_end(rest.substr(known));
    if (end.is == match::maybe && !last) break;
    if (end.is != match::yes) continue;
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

}  // namespace mcpbx::providers::text
