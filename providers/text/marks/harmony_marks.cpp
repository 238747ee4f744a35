// Reads Harmony's headers word by word. A header is short and stands on one line.
#include "providers/text/marks/harmony_marks.hpp"

#include <algorithm>

namespace mcpbx::providers::text::marks {
namespace {

constexpr std::size_t longest_header = 256;
constexpr std::string_view start_mark = "<|start|>", channel_mark = "<|channel|>", constrain_mark = "<|constrain|>",
                           message_mark = "<|message|>", recipient_key = "to=", tool_space = "functions.",
                           assistant = "assistant";
constexpr std::array<std::string_view, 3> channels{"commentary", "analysis", "final"};
// Words between the name of a tool and its arguments.
constexpr std::array<std::string_view, 6> other_words{"commentary", "analysis", "assistant",
                                                      "json",       "code",     "response"};

bool is_recipient_char(char c) {
  return is_name_char(c) || c == ':' || c == '/';
}

// Takes words from the beginning of a text that may not have come in full.
class word_reader {
 public:
  explicit word_reader(std::string_view s) : s_(s.substr(0, longest_header)), whole_(s.size() >= longest_header) {}

  std::size_t at() const { return at_; }
  bool at_end() const { return at_ == s_.size(); }
  /// Returns the answer for a text that ends here.
  match undecided() const { return whole_ ? match::no : match::maybe; }
  std::string_view rest() const { return s_.substr(at_); }
  std::string_view from(std::size_t at) const { return s_.substr(at, at_ - at); }

  match take(std::string_view word) {
    const auto is = begins_like(rest(), word);
    if (is == match::yes) at_ += word.size();
    return is == match::maybe ? undecided() : is;
  }
  template <class Words>
  match take_any(const Words& words) {
    auto found = match::no;
    for (const std::string_view word : words) {
      const auto one = take(word);
      if (one == match::yes) return one;
      if (one == match::maybe) found = one;
    }
    return found;
  }
  template <class Test>
  std::string_view take_while(Test&& test) {
    const auto begin = at_;
    while (at_ < s_.size() && test(s_[at_])) ++at_;
    return from(begin);
  }
  void skip_line_blanks() {
    take_while([](char c) { return c == ' ' || c == '\t'; });
  }

 private:
  std::string_view s_;
  bool whole_;
  std::size_t at_ = 0;
};

// Reads the words before a recipient: perhaps `assistant`, perhaps a channel, then `to=`.
match take_opening(word_reader& in, std::string_view& channel) {
  in.skip_line_blanks();
  if (const auto role = in.take(assistant); role == match::maybe) return role;
  in.skip_line_blanks();
  const auto begin = in.at();
  if (const auto named = in.take_any(channels); named == match::maybe) return named;
  channel = in.from(begin);
  in.skip_line_blanks();
  return in.at_end() ? in.undecided() : in.take(recipient_key);
}

}  // namespace

bool harmony_header::calls() const {
  // The type of its text is named in calls only.
  if (recipient.empty()) return constrained && (channel == "commentary" || (channel.empty() && complete));
  return recipient != "assistant" && recipient != "user" && recipient != "all" && !is_result();
}

bool harmony_header::is_result() const {
  return author.starts_with(tool_space) || author == "tool" ||
         (recipient == "assistant" && !author.empty() && author != assistant);
}

harmony_header read_harmony_header(std::string_view s) {
  harmony_header header;
  word_reader in(s);
  bool in_role = false, in_channel = false;
  const auto address = [&](std::string_view to) {
    header.doubtful = header.doubtful || (!header.recipient.empty() && header.recipient != to);
    if (header.recipient.empty()) header.recipient = to;
  };
  const auto ends = [&](match is) {
    header.is = is;
    header.size = in.at();
    return header;
  };
  for (;;) {
    in.skip_line_blanks();
    if (in.at_end()) return ends(in.undecided());
    // One mark in a turn: the text behind it may end the header.
    bool taken = false;
    const auto take = [&](std::string_view mark) {
      const auto found = taken ? match::no : in.take(mark);
      taken = taken || found == match::yes;
      return found;
    };
    const auto message = take(message_mark), channel = take(channel_mark), start = take(start_mark),
               constrain = take(constrain_mark);
    if (message == match::yes) {
      header.complete = true;
      return ends(match::yes);
    }
    if (channel == match::yes || start == match::yes || constrain == match::yes) {
      in_channel = channel == match::yes;
      in_role = start == match::yes;
      header.constrained = header.constrained || constrain == match::yes;
      continue;
    }
    if (message == match::maybe || channel == match::maybe || start == match::maybe || constrain == match::maybe)
      return ends(match::maybe);
    const char c = in.rest().front();
    // The arguments of a call may follow without their mark, and so may the end of one that has none.
    if (c == '{' || c == '<' || c == '\n' || c == '\r') return ends(header.calls() ? match::yes : match::no);
    const auto word = in.take_while([](char b) { return !is_blank(b) && b != '<' && b != '{'; });
    if (in.at_end()) return ends(in.undecided());
    const auto key = word.find(recipient_key);
    const auto before = word.substr(0, key);
    if (key != npos) address(word.substr(key + recipient_key.size()));
    if (in_role && header.author.empty() && !before.empty())
      header.author = before;
    else if (in_channel && before.starts_with(tool_space))
      address(before);
    else if (in_channel && header.channel.empty() && !before.empty())
      header.channel = before;
    in_role = in_role && header.author.empty();
  }
}

harmony_header read_bare_header(std::string_view s, const offered_tools& tools) {
  harmony_header header;
  word_reader in(s);
  const auto ends = [&](match is) {
    header.is = is;
    header.size = in.at();
    return header;
  };
  if (const auto opened = take_opening(in, header.channel); opened != match::yes) return ends(opened);
  header.recipient = in.take_while(is_recipient_char);
  if (in.at_end()) return ends(in.undecided());
  if (!names_harmony_tool(header.recipient, tools)) return ends(match::no);
  for (;;) {
    in.take_while(is_blank);
    if (in.at_end()) return ends(in.undecided());
    if (in.rest().front() == '{') return ends(match::yes);
    const auto message = in.take(message_mark);
    header.complete = message == match::yes;
    if (header.complete) return ends(match::yes);
    const auto word = in.take_any(other_words), channel = in.take(channel_mark), constrain = in.take(constrain_mark);
    if (word == match::yes || channel == match::yes || constrain == match::yes) continue;
    const bool maybe =
        message == match::maybe || word == match::maybe || channel == match::maybe || constrain == match::maybe;
    return ends(maybe ? match::maybe : match::no);
  }
}

match begins_bare_header(std::string_view s, bool in_line) {
  if (in_line) {
    const auto glued = begins(s, "assistantcommentary");
    if (glued != match::no) return glued;
    constexpr std::array<std::string_view, 2> others{"assistantanalysis to=", bare_answer};
    return begins_any(s, others);
  }
  if (const auto answer = begins(s, bare_answer); answer == match::yes) return answer;
  word_reader in(s);
  std::string_view channel;
  return take_opening(in, channel);
}

std::string harmony_tool(std::string_view recipient, const offered_tools& tools) {
  if (tools.find(recipient) == nullptr)
    for (const std::string_view word : other_words)
      if (recipient.ends_with(word) && tools.find(recipient.substr(0, recipient.size() - word.size())) != nullptr)
        return tools.resolve(recipient.substr(0, recipient.size() - word.size()));
  return tools.resolve(recipient);
}

bool names_harmony_tool(std::string_view recipient, const offered_tools& tools) {
  if (recipient.starts_with(tool_space) && recipient != tool_space) return true;
  return !recipient.empty() && tools.find(harmony_tool(recipient, tools)) != nullptr;
}

match begins_next_message(std::string_view s) {
  constexpr std::array<std::string_view, 4> heads{"assistantcommentary", "assistantfinal", "assistantanalysis",
                                                  "commentary to="};
  return begins_any(s, heads);
}

found_tag match_reasoning_end(std::string_view s) {
  auto undecided = match::no;
  const auto is = [&](std::string_view mark) {
    const auto one = begins(s, mark);
    if (one == match::maybe) undecided = one;
    return one == match::yes;
  };
  for (const std::string_view mark : {harmony_call_end, harmony_end, std::string_view("<|return|>")})
    if (is(mark)) return {match::yes, mark.size()};
  for (const std::string_view mark : {"<|start|>assistant", "<|start|>functions.", "<|channel|>final",
                                      "<|channel|>commentary", "<|channel|>analysis"})
    if (is(mark)) return {match::yes, 0};
  return {undecided, 0};
}

}  // namespace mcpbx::providers::text::marks
