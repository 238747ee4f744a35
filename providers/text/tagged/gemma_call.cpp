// Reads Gemma's calls and rewrites their arguments as JSON. The mark of a string is one token, which these models lose
// as a whole, or write for a quote within a string. So a string must begin where a value can, and end before a comma, a
// colon or a bracket.
#include "providers/text/tagged/gemma_call.hpp"

#include "providers/text/marks/json_calls.hpp"
#include "providers/text/marks/text_scan.hpp"

#include <algorithm>

namespace mcpbx::providers::text::tagged {
namespace {

constexpr std::size_t longest_gemma_name = 128;

bool is_one_of(char c, std::string_view all) {
  return all.find(c) != marks::npos;
}

// Appends `c` as a part of a JSON string.
void append_string_char(std::string& json, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  constexpr std::string_view escaped = "\"\\\n\r\t\b\f", letters = "\"\\nrtbf";
  if (const auto at = escaped.find(c); at != marks::npos) {
    (json += '\\') += letters[at];
  } else if (byte < 0x20) {
    json += "\\u00";
    (json += digits[byte >> 4]) += digits[byte & 15];
  } else {
    json += c;
  }
}

}  // namespace

gemma_call::outcome gemma_call::advance(std::string_view in, bool) {
  if (part_ == part::head) {
    const auto now = head(in);
    if (now != outcome::again) return now;
  }
  while (!closed_)
    if (!step(in)) return outcome::more;
  return outcome::complete;
}

gemma_call::outcome gemma_call::head(std::string_view in) {
  const auto opened = marks::begins(in, opening);
  if (opened != marks::match::yes) return opened == marks::match::no ? outcome::none : outcome::more;
  const auto at = marks::skip_blanks(in.substr(0, longest_gemma_name), opening.size());
  auto end = at;
  while (end < in.size() && (marks::is_name_char(in[end]) || in[end] == ':')) ++end;
  name_ = in.substr(at, end - at);
  if (name_.size() > longest_gemma_name) return outcome::none;
  const auto next = marks::behind_blanks(in, end);
  if (next == marks::npos) return outcome::more;
  if (name_.empty() || (in[next] != '{' && in[next] != '(')) return outcome::none;
  round_ = in[next] == '(';
  at_ = next;
  part_ = part::arguments;
  return outcome::again;
}

// Reads one byte or mark at at_. Returns false if more text is needed.
bool gemma_call::step(std::string_view in) {
  if (at_ == in.size()) return false;
  const char c = in[at_];
  const auto mark =
      c == '<' && inside_ != inside::quotes ? marks::begins(in.substr(at_), string_mark) : marks::match::no;
  if (mark == marks::match::maybe) return false;
  if (mark == marks::match::yes) {
    at_ += string_mark.size();
    if (inside_ == inside::nothing) {
      open_string(0);
    } else {
      if (json_.ends_with('<')) broken_ = "a mark at the end of a string is damaged";
      inside_ = inside::nothing;
      json_ += '"';
      before_ = '"';
    }
    return true;
  }
  ++at_;
  if (inside_ == inside::string) {
    if (damaged_mark_.feed(c)) broken_ = "a mark at the end of a string is damaged";
    append_string_char(json_, c);
  } else if (inside_ == inside::quotes) {
    json_ += c;
    if (!escaped_ && c == quote_) {
      inside_ = inside::nothing;
      before_ = '"';
    }
    escaped_ = !escaped_ && c == '\\';
  } else {
    step_outside(c);
  }
  return true;
}

void gemma_call::open_string(char quote) {
  if (!is_one_of(before_, "{[(,:")) broken_ = "the beginning of a string is missing, or a quote stands in one";
  inside_ = quote == 0 ? inside::string : inside::quotes;
  quote_ = quote;
  escaped_ = false;
  damaged_mark_ = marks::near_to<4>(string_mark);
  json_ += quote == 0 ? '"' : quote;
}

// Puts the word before a colon in quotes.
void gemma_call::quote_key() {
  if (json_.size() - word_ > longest_gemma_name) return;
  auto end = json_.size();
  while (end > word_ && marks::is_blank(json_[end - 1])) --end;
  const auto key = std::string_view(json_).substr(word_, end - word_);
  if (key.empty() || !std::ranges::all_of(key, marks::is_name_char)) return;
  json_.insert(end, 1, '"');
  json_.insert(word_, 1, '"');
}

// Refuses an argument that is given twice: a string cannot hold its own mark, so it may be two halves of one.
void gemma_call::note_key() {
  if (json_.size() - word_ > longest_gemma_name + 2) return;
  if (!keys_.insert(std::string(marks::cleaned_name(std::string_view(json_).substr(word_)))).second)
    broken_ = "an argument stands twice";
}

void gemma_call::step_outside(char c) {
  if (!marks::is_blank(c) && before_ == '"' && !is_one_of(c, ",:]})"))
    broken_ = "something stands behind a string, so that its end is not certain";
  if ((c == '"' || c == '\'' || c == '`') && is_one_of(before_, "{[(,:")) return open_string(c);
  const bool opens = is_one_of(c, "{[("), closes = is_one_of(c, "}])");
  if (c == ':' && before_ != '"') quote_key();
  if (c == ':' && depth_ == 1) note_key();
  if (opens) ++depth_;
  const bool outer = depth_ == 1 && round_;
  json_ += outer && c == '(' ? '{' : outer && c == ')' ? '}' : c;
  if (closes && --depth_ == 0) closed_ = true;
  if (marks::is_blank(c)) {
    if (is_one_of(before_, "{[(,")) word_ = json_.size();
    return;
  }
  if (opens || c == ',') word_ = json_.size();
  before_ = c;
}

tool_call_block gemma_call::call(std::string_view) const {
  tool_call_block made;
  if (broken_ != nullptr)
    made = marks::unreadable_call(json_, broken_);
  else
    marks::set_arguments(made, tools_->find(name_), json_);
  made.name = tools_->resolve(name_);
  return made;
}

}  // namespace mcpbx::providers::text::tagged
