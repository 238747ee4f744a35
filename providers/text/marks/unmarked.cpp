// Filter behind a parser that removes every mark, wherever it stands, and holds back text that may become one.
#include "providers/text/marks/unmarked.hpp"

#include "providers/text/marks/dsml_marks.hpp"
#include "providers/text/marks/marks.hpp"
#include "providers/text/marks/markup_marks.hpp"
#include "providers/text/marks/minimax_marks.hpp"
#include "providers/text/marks/react_marks.hpp"
#include "providers/text/marks/text_scan.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::providers::text::marks {
namespace {

constexpr std::size_t max_mark_size = 512;
// Marks inside calls, which are in no table of the parsers.
constexpr std::array<std::string_view, 12> inner_marks{"<parameter>", "</arg_key>", "<arg_value>",     "</arg_value>",
                                                       "[ARGS]",      "[CALL_ID]",  "[TOOL_RESULTS]",  "[TOOL_CALLS]",
                                                       "[THINK]",     "[/THINK]",   "[/TOOL_RESULTS]", "<![CDATA["};
constexpr std::array<std::string_view, 6> roles{"assistant", "user", "system", "tool", "ipython", "developer"};

enum class what : unsigned char {
  whole,  // the text is the whole mark
  tag,    // the same, perhaps with attributes
  open,   // the mark goes on to its '>', with words in it
  role,   // a role follows the mark
  dsml    // the text is the whole mark, one of DeepSeek's
};

// A mark to search for; kind `tag` accepts the usual misspellings.
struct sought_mark {
  std::string text;
  what is;
  bool tag;
  char next;  // the second letter of its name, in lower case
};
// All marks by the first letter behind the bracket, or behind the slash of a closing mark.
struct sought_marks {
  std::array<std::vector<sought_mark>, 256> opening, closing;

  sought_marks() {
    const auto is_tag = [](mark_kind k) {
      return k == mark_kind::tag || k == mark_kind::list || k == mark_kind::result;
    };
    for (const auto& mark : angle_marks)
      add(mark.text, is_tag(mark.kind),
          mark.kind == mark_kind::markup ? what::open
          : mark.kind == mark_kind::role ? what::role
                                         : what::whole);
    for (const auto& mark : angle_marks)
      if (mark.kind == mark_kind::result) add("</" + std::string(mark.text.substr(1)), true);
    for (const auto& mark : closing_marks) add(mark.text, mark.text.starts_with("</"));
    add(tool_calls_mark, true);
    for (const auto mark : parameter_marks) add(mark, false, what::open);
    for (const auto mark : value_ends) add(mark, false);
    for (const auto mark : inner_marks) add(mark, false);
    for (const auto mark : argument_marks) add(mark, false);
  }

  // Returns the marks that are possible for a bracket followed by `text`; null: more text is needed.
  const std::vector<sought_mark>* behind(std::string_view text, std::size_t& at) const {
    at = skip_blanks(text.substr(0, longest_tag), 0);
    const bool closes = at < text.size() && text[at] == '/';
    if (closes) at = skip_blanks(text.substr(0, longest_tag), at + 1);
    if (at >= std::min(text.size(), longest_tag)) return nullptr;
    return &(closes ? closing : opening)[static_cast<unsigned char>(lower(text[at]))];
  }

 private:
  void add(std::string_view text, bool tag, what is = what::whole) {
    const std::size_t at = text[1] == '/' ? 2 : 1;
    auto& marks = (at == 2 ? closing : opening)[static_cast<unsigned char>(lower(text[at]))];
    marks.push_back({std::string(text), is, tag, lower(text[at + 1])});
  }
};

// The mark at the beginning of a text: the longest one, since a mark may be the beginning of another.
struct found_mark {
  std::size_t size = 0;
  what is = what::whole;
  bool maybe = false;  // a longer mark is still possible
};
found_mark mark_at(std::string_view s) {
  static const sought_marks all;
  found_mark best;
  std::size_t at = 0;
  const auto* marks = all.behind(s.substr(1), at);
  // Blanks stand in angle brackets only.
  best.maybe = marks == nullptr && s.size() < longest_tag && (s.front() == '<' || s == "[" || s == "[/");
  const char next = at + 2 < s.size() ? lower(s[at + 2]) : '\0';
  const std::span<const sought_mark> possible = marks ? *marks : std::span<const sought_mark>();
  for (const auto& [text, is, tag, second] : possible) {
    if (next != '\0' && next != second) continue;
    if (!tag) {
      const auto one = begins(s, text);
      best.maybe = best.maybe || one == match::maybe;
      if (one == match::yes && text.size() > best.size) best = {text.size(), is, best.maybe};
      continue;
    }
    const auto one = match_tag(s, text);
    best.maybe = best.maybe || one.is == match::maybe;
    if (one.is == match::yes && one.size > best.size) best = {one.size, what::tag, best.maybe};
    // A mark that is damaged behind its name counts too.
    const auto name = std::string_view(text).substr(0, text.size() - 1);
    const bool named = name.size() > best.size && s.size() > name.size() && !is_name_char(s[name.size()]);
    if (one.is != match::yes && named && same_letters(s.substr(0, name.size()), name))
      best = {name.size(), what::open, best.maybe};
  }
  const auto dsml = match_dsml(s);
  best.maybe = best.maybe || dsml.is == match::maybe;
  if (dsml.is == match::yes) best = {dsml.size, what::dsml, best.maybe};
  const auto special = match_special(s);
  best.maybe = best.maybe || special.is == match::maybe;
  if (special.is == match::yes && special.size > best.size) best = {special.size, what::whole, best.maybe};
  return best;
}

// Returns the words of a tag: its NAME, the value of name="NAME", or its attributes.
std::string words_within(std::string_view inside) {
  inside = trimmed(inside);
  if (inside.starts_with("name=")) inside.remove_prefix(5);
  std::string words;
  for (const char c : inside)
    if (c != '"' && c != '\'') words += c;
  return words;
}

// Returns those attributes of a tag around calls that may belong to a call.
std::string words_in(std::string_view tag) {
  std::string words;
  for (const auto& [key, value] : attributes_of(tag))
    if (key != "id" && key != "type") (words += words.empty() ? "" : " ") += value;
  return words;
}

class unmarked_sink final : public parse_sink {
 public:
  explicit unmarked_sink(bool react) : react_(react) {}
  void pass_to(parse_sink& sink) { to_ = &sink; }
  void on_reasoning(std::string_view delta) override { to_->on_reasoning(delta); }
  void on_text_was_reasoning() override {
    run(true);
    gap_ = cdata_ = over_ = false;
    line_start_ = true;
    last_shown_ = 0;
    to_->on_text_was_reasoning();
  }
  void on_text(std::string_view delta) override {
    if (over_) return;
    held_ += delta;
    run(false);
  }
  void finish() { run(true); }

 private:
  void run(bool last) {
    std::size_t at = 0;
    while (at < held_.size() && !over_) {
      const auto size = step(std::string_view(held_).substr(at), last);
      if (size == 0) break;
      at += size;
    }
    // Behind an invented result drop everything, including the rest of this piece.
    held_.erase(0, over_ ? std::string::npos : at);
  }

  // Handles the beginning of `rest` and returns the number of bytes consumed; 0: more text is needed.
  std::size_t step(std::string_view rest, bool last) {
    if (react_ && line_start_) {
      const auto found = match_react_mark(rest, last, false);
      if (found.is == match::maybe) return 0;
      if (found.is == match::yes) {
        over_ = found.mark == react_mark::observation;
        gap_ = true;
        return found.size;
      }
      line_start_ = false;
    }
    const auto plain = std::min(rest.find_first_of("<[]\n"), rest.size());
    if (plain > 0) return show(rest.substr(0, plain));
    if (rest.front() == '\n' || rest.front() == ']') return section_end(rest, last);
    const auto found = mark_at(rest);
    if (found.maybe && !last) return 0;
    if (found.size > 0) return pass(rest, found, last);
    // The reply ends inside a mark: drop it.
    if (found.maybe && rest.size() > 2) return rest.size();
    return section_end(rest, last);
  }

  // Handles the token before MiniMax's marks, with the mark behind it. Returns 0 if more text is needed.
  std::size_t pass_token(std::string_view rest, bool last) {
    const auto behind = rest.substr(minimax_mark.size());
    const auto end = std::min(behind.find_first_of("><\n", 1), behind.size());
    const bool tag = behind.starts_with('<');
    if ((behind.empty() || (tag && end == behind.size() && end < max_mark_size)) && !last) return 0;
    gap_ = line_start_ = true;
    if (!tag || end == behind.size() || behind[end] != '>') return minimax_mark.size();
    const auto inside = behind.substr(1, end - 1);
    const auto named = attributes_of(behind.substr(0, end + 1));
    if (!named.empty())
      show(named[0].second);
    else if (!inside.starts_with('/') && inside != "tool_call")
      show(inside);
    gap_ = true;
    return minimax_mark.size() + end + 1;
  }

  std::size_t section_end(std::string_view rest, bool last) {
    const auto token = begins(rest, minimax_mark);
    if (token == match::yes) return pass_token(rest, last);
    if (token == match::maybe && !last) return 0;
    if (token == match::maybe && rest.size() > 2) return rest.size();
    const auto end = begins(rest, "]]>");
    if (cdata_ && end == match::maybe && !last) return 0;
    if (cdata_ && end == match::yes) {
      cdata_ = false;
      gap_ = true;
      return 3;
    }
    line_start_ = rest.front() == '\n';
    return show(rest.substr(0, 1));
  }

  std::size_t pass(std::string_view rest, const found_mark& mark, bool last) {
    const auto behind = rest.substr(mark.size);
    auto size = mark.size;
    std::string words;
    if (mark.is == what::open) {
      const auto end = std::min(behind.find_first_of("><\n"), behind.size());
      if (end == behind.size() && end < max_mark_size && !last) return 0;
      // A mark without its end is damaged, and text follows.
      if (end < std::min(behind.size(), max_mark_size) && behind[end] == '>') {
        words = words_within(behind.substr(0, end));
        size += end + 1;
      }
    } else if (mark.is == what::tag) {
      words = words_in(rest.substr(0, mark.size));
    } else if (mark.is == what::dsml) {
      for (const auto& [key, value] : attributes_of(match_dsml(rest).attributes))
        if (key == "name") words = value;
    } else if (mark.is == what::role) {
      std::size_t end = 0;
      while (end < behind.size() && is_name_char(behind[end]) && end < 16) ++end;
      if (end == behind.size() && end < 16 && !last) return 0;
      if (std::ranges::find(roles, behind.substr(0, end)) != roles.end()) size += end;
    }
    cdata_ = cdata_ || rest.substr(0, mark.size).ends_with("CDATA[");
    gap_ = line_start_ = true;
    if (!words.empty()) {
      show(words);
      gap_ = true;
    }
    return size;
  }

  // Shows text, behind a line break if a removed mark parted it from the last. A blank instead could form a new mark.
  std::size_t show(std::string_view text) {
    if (text.empty()) return 0;
    if (std::exchange(gap_, false) && last_shown_ != 0 && !is_blank(last_shown_) && !is_blank(text.front()))
      to_->on_text("\n");
    last_shown_ = text.back();
    to_->on_text(text);
    return text.size();
  }

  parse_sink* to_ = nullptr;
  bool react_;
  bool line_start_ = true, over_ = false, gap_ = false, cdata_ = false;
  char last_shown_ = 0;
  std::string held_;
};

class unmarked_parser final : public text_parser {
 public:
  unmarked_parser(std::unique_ptr<text_parser> inner, bool react) : inner_(std::move(inner)), filter_(react) {}
  void feed(std::string_view bytes, parse_sink& sink) override {
    filter_.pass_to(sink);
    inner_->feed(bytes, filter_);
  }
  parsed_reply finish(parse_sink& sink) override {
    filter_.pass_to(sink);
    auto reply = inner_->finish(filter_);
    filter_.finish();
    return reply;
  }
  bool stopped() const override { return inner_->stopped(); }
  std::size_t counted() const override { return inner_->counted(); }
  std::span<const input_part> left_out() const override { return inner_->left_out(); }

 private:
  std::unique_ptr<text_parser> inner_;
  unmarked_sink filter_;
};

}  // namespace

std::unique_ptr<text_parser> make_unmarked_parser(std::unique_ptr<text_parser> inner, bool react) {
  return std::make_unique<unmarked_parser>(std::move(inner), react);
}

}  // namespace mcpbx::providers::text::marks
