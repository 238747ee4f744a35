// Recursive reader that writes strict JSON while it reads. Each step either has one meaning or ends with a reason.
#include "providers/model/json_repair.hpp"

#include "mcp/json/raw_json.hpp"
#include "providers/model/json_scalars.hpp"
#include "providers/model/json_strings.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers {
namespace {

using namespace mcpbx::json;
using namespace mcpbx::providers::json_strings;

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF", no_break_space = "\xC2\xA0";

bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

class reader {
 public:
  explicit reader(std::string_view in, number_form numbers = number_form::json) : in_(in), numbers_(numbers) {
    out_.reserve(in.size() + 16);
  }

  bool object(int depth, unsigned& keys);
  bool value(int depth, unsigned& keys);
  bool skip_prose();  // moves to the first brace
  bool rest();        // accepts prose behind the object
  bool end();         // accepts blanks only
  bool sure();        // judges the quotes of all strings, once all is read
  void note(std::string_view what) {
    if (std::ranges::find(notes_, what) == notes_.end()) notes_.push_back(what);
  }
  repaired_json done() { return {std::move(out_), std::move(notes_)}; }
  error why() const { return {code_, wrong_ + " at byte " + std::to_string(at_)}; }

 private:
  bool array(int depth, unsigned& keys);
  bool key(unsigned& keys);
  bool string(const quote_kind& kind);
  bool string_content(const quote_kind& kind);
  bool escape(const quote_kind& kind, escapes& seen);
  bool string_end();
  bool scalar(const json_scalars::scalar& read);
  bool blanks();
  bool comma_follows(bool& comma);
  bool separator(bool first, bool comma);
  bool comma_within() const;
  const quote_kind* quote() const {
    for (const auto& q : string_quotes)
      if (starts(q.open)) return &q;
    return nullptr;
  }
  bool refuse(std::string_view why, errc code = errc::parse) {
    wrong_ = why;
    code_ = code;
    return false;
  }
  bool ended() const { return at_ >= in_.size(); }
  char peek(std::size_t more = 0) const { return at_ + more < in_.size() ? in_[at_ + more] : '\0'; }
  bool starts(std::string_view what) const { return in_.substr(at_).starts_with(what); }

  std::string_view in_;
  number_form numbers_;
  std::size_t at_ = 0;
  std::string out_, wrong_;
  std::vector<std::string_view> notes_;
  errc code_ = errc::parse;
  bool line_break_ = false;  // the blanks that were skipped last contain one
  bool apart_ = false;       // a line break, or blanks before a quote, part the last value from the next
  bool plain_ = false;       // some string has JSON's own quotes
  std::size_t strings_ = 0;
  std::size_t members_at_ = std::string_view::npos;  // first string in other quotes that seems to hold members
  std::size_t mixed_at_ = std::string_view::npos;    // first place where quoted and unquoted keys are mixed in doubt
};

// Skips blanks and comments. Returns false for a comment without an end.
bool reader::blanks() {
  line_break_ = false;
  for (;;) {
    if (is_blank(peek()) && !ended()) {
      line_break_ = line_break_ || peek() == '\n';
      // Blanks that JSON does not know are dropped like the others.
      ++at_;
    } else if (starts(no_break_space)) {
      note("no-break space");
      at_ += no_break_space.size();
    } else if (starts(byte_order_mark)) {
      note("byte order mark");
      at_ += byte_order_mark.size();
    } else if (starts("//") || peek() == '#') {
      note("comment");
      at_ = std::min(in_.find('\n', at_), in_.size());
    } else if (starts("/*")) {
      note("comment");
      const auto end = in_.find("*/", at_ + 2);
      if (end == std::string_view::npos) return refuse("a comment is not closed");
      at_ = end + 2;
    } else {
      return true;
    }
  }
}

bool reader::skip_prose() {
  const auto brace = in_.find('{');
  if (brace == std::string_view::npos) return refuse("there is no object");
  auto before = in_.substr(0, brace);
  bool prose = false;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto rest = before.substr(i);
    if (rest.starts_with(byte_order_mark))
      i += byte_order_mark.size() - 1;
    else if (rest.starts_with(no_break_space))
      i += no_break_space.size() - 1;
    else
      prose = prose || !is_blank(before[i]);
  }
  if (prose) {
    // A value or a key before the brace is no prose: the object is a part of something larger.
    while (!before.empty() && is_blank(before.back())) before.remove_suffix(1);
    const bool part = before.find_first_of("\"[]}") != std::string_view::npos ||
                      std::string_view(",=(").find(before.back()) != std::string_view::npos;
    if (part) return refuse("the object is part of something else");
    note(before.starts_with("```") ? "code fence" : "text around the object");
  }
  at_ = brace;
  return true;
}

bool reader::rest() {
  if (!blanks()) return false;
  if (peek() == '}' || peek() == ']') {
    note("closing bracket too many");
    ++at_;
    if (!blanks()) return false;
  }
  if (ended()) return true;
  if (std::string_view(",:{}[]\"'").find(peek()) != std::string_view::npos)
    return refuse("something follows the end of the object");
  // Prose may follow, but nothing that could be the rest of the arguments.
  const auto after = in_.substr(at_);
  if (after.find_first_of("{}") != std::string_view::npos || after.find("\":") != std::string_view::npos)
    return refuse("something follows the end of the object");
  note(after.starts_with("```") ? "code fence" : "text around the object");
  return true;
}

bool reader::end() {
  if (!blanks()) return false;
  return ended() || refuse("something follows the end of the value");
}

// Refuses texts whose strings were each clear by themselves but are doubtful beside each other.
bool reader::sure() {
  // A key lost its quotes, and one of them may have ended up in the string before or behind it.
  if (mixed_at_ != std::string_view::npos) {
    at_ = mixed_at_;
    return refuse("some keys have quotes and others have none, so where a string ends is not certain");
  }
  // A string in other quotes than the rest may have got them by mistake and swallowed what stood between two strings.
  if (members_at_ == std::string_view::npos || out_.starts_with('"') || (!plain_ && strings_ > 1)) return true;
  at_ = members_at_;
  return refuse("a string in other quotes than the rest seems to hold some of what is around it");
}

// Skips blanks and one comma behind a value; sets `comma` and apart_.
bool reader::comma_follows(bool& comma) {
  const auto end = at_;
  if (!blanks()) return false;
  comma = peek() == ',';
  apart_ = line_break_ || (at_ > end && quote() != nullptr);
  if (comma) ++at_;
  return true;
}

// Writes the comma before a further member or element. The input may lack it before a new line or a quote only: a word
// on the same line may be the rest of a string with a quote in it, a digit the rest of a number.
bool reader::separator(bool first, bool comma) {
  if (first) return true;
  if (!comma && !apart_) return refuse("a comma is missing");
  if (!comma && comma_within())
    return refuse("a comma is missing, and one stands inside of the quotes beside its place");
  if (!comma) note("missing comma");
  out_ += ',';
  return true;
}

// Returns true if the last string ends in a comma or the next one begins with one: it may be the missing comma.
bool reader::comma_within() const {
  if (out_.ends_with('"')) {
    auto end = out_.size() - 1;
    while (end > 0 && out_[end - 1] == ' ') --end;
    if (end > 0 && out_[end - 1] == ',') return true;
  }
  const auto* kind = quote();
  if (kind == nullptr) return false;
  auto at = at_ + kind->open.size();
  while (at < in_.size() && in_[at] == ' ') ++at;
  return at < in_.size() && in_[at] == ',';
}

// Reads an object. `keys` collects the kinds of keys seen; a list hands on those of the object around it.
bool reader::object(int depth, unsigned& keys) {
  if (depth > max_repaired_depth) return refuse("it is nested too deep", errc::limit);
  ++at_;
  out_ += '{';
  bool first = true, comma = false;
  for (;;) {
    if (!blanks()) return false;
    if (ended()) return refuse("an object is not closed");
    if (peek() == '}') break;
    if (!separator(first, comma) || !key(keys) || !blanks()) return false;
    if (peek() != ':') return refuse("a colon is missing after a key");
    ++at_;
    out_ += ':';
    unsigned inner = 0;
    if (!blanks() || !value(depth, peek() == '[' ? keys : inner)) return false;
    first = false;
    if (!comma_follows(comma)) return false;
  }
  if (comma) note("trailing comma");
  ++at_;
  out_ += '}';
  return true;
}

bool reader::array(int depth, unsigned& keys) {
  if (depth > max_repaired_depth) return refuse("it is nested too deep", errc::limit);
  ++at_;
  out_ += '[';
  bool first = true, comma = false;
  for (;;) {
    if (!blanks()) return false;
    if (ended()) return refuse("a list is not closed");
    if (peek() == ']') break;
    if (!separator(first, comma) || !value(depth, keys)) return false;
    first = false;
    if (!comma_follows(comma)) return false;
  }
  if (comma) note("trailing comma");
  ++at_;
  out_ += ']';
  return true;
}

bool reader::value(int depth, unsigned& keys) {
  if (ended()) return refuse("a value is missing");
  if (peek() == '{') return object(depth + 1, keys);
  if (peek() == '[') return array(depth + 1, keys);
  if (const auto* kind = quote()) return string(*kind);
  if (is_digit(peek()) || peek() == '-' || peek() == '+' || peek() == '.')
    return scalar(json_scalars::read_number(in_.substr(at_), numbers_));
  if (is_letter(peek())) return scalar(json_scalars::read_literal(in_.substr(at_)));
  return refuse("a value is missing");
}

bool reader::key(unsigned& keys) {
  constexpr unsigned bare = 1, needless = 2;
  const auto begin = at_;
  if (const auto* kind = quote()) {
    const auto written = out_.size() + 1;
    if (!string(*kind)) return false;
    // A key that needs quotes may have them even if its neighbours have none.
    if (is_plain_name(std::string_view(out_).substr(written, out_.size() - written - 1))) keys |= needless;
  } else {
    if (!is_letter(peek()) && peek() != '_' && peek() != '$') return refuse("a key is missing");
    while (is_word(peek())) ++at_;
    note("key without quotes");
    append_quoted(out_, in_.substr(begin, at_ - begin));
    if (beside_doubt(in_, begin, at_)) keys |= bare;
  }
  if (keys == (bare | needless)) mixed_at_ = std::min(mixed_at_, begin);
  return true;
}

bool reader::string(const quote_kind& kind) {
  out_ += '"';
  if (!string_content(kind)) return false;
  // "a" + "b"
  for (;;) {
    const auto here = at_;
    if (!blanks()) return false;
    if (peek() != '+') {
      at_ = here;
      break;
    }
    ++at_;
    if (!blanks()) return false;
    const auto* more = quote();
    if (more == nullptr) return refuse("a string is joined with something else");
    note("joined strings");
    if (!string_content(*more)) return false;
  }
  out_ += '"';
  return true;
}

bool reader::string_content(const quote_kind& kind) {
  if (kind.open != "\"") note("quotes of another kind");
  at_ += kind.open.size();
  const auto begin = at_;
  escapes seen;
  for (;;) {
    if (ended()) return refuse("a string is not closed");
    const auto c = static_cast<unsigned char>(peek());
    const auto* const close = starts(kind.close[0]) ? &kind.close[0] : starts(kind.close[1]) ? &kind.close[1] : nullptr;
    if (close != nullptr) {
      const auto raw = in_.substr(begin, at_ - begin);
      if (two_meanings(raw, seen))
        return refuse("a backslash in a string is not escaped, and others may mean themselves as well");
      ++strings_;
      plain_ = plain_ || kind.open == "\"";
      if (kind.open != "\"" && members_at_ == std::string_view::npos && holds_members(raw)) members_at_ = begin;
      at_ += close->size();
      return string_end();
    }
    if (c == '\\') {
      if (!escape(kind, seen)) return false;
    } else if (c == '"') {
      out_ += "\\\"";
      ++at_;
    } else if (c < 0x20) {
      note("control character in a string");
      constexpr std::string_view digits = "0123456789abcdef";
      if (c == '\n')
        out_ += "\\n";
      else if (c == '\t')
        out_ += "\\t";
      else if (c == '\r')
        out_ += "\\r";
      else
        (out_ += c < 0x10 ? "\\u000" : "\\u001") += digits[c & 0xFU];
      ++at_;
    } else {
      out_ += static_cast<char>(c);
      ++at_;
    }
  }
}

bool reader::escape(const quote_kind& kind, escapes& seen) {
  const char next = peek(1);
  if (at_ + 1 >= in_.size()) return refuse("a string is not closed");
  if (std::string_view("\"\\/bfnrt").find(next) != std::string_view::npos ||
      (next == 'u' && is_hex(peek(2)) && is_hex(peek(3)) && is_hex(peek(4)) && is_hex(peek(5)))) {
    const std::size_t n = next == 'u' ? 6 : 2;
    seen.rare = seen.rare || next == 'b' || next == 'f';
    seen.known = seen.known || std::string_view("bfnrtu").find(next) != std::string_view::npos;
    out_ += in_.substr(at_, n);
    at_ += n;
  } else if (next == '\'' || (next == '`' && kind.open == "`")) {
    // An apostrophe means itself in every language that has this escape.
    note("unknown escape");
    out_ += next;
    at_ += 2;
  } else {
    note("unknown escape");
    seen.unknown = true;
    out_ += "\\\\";
    ++at_;
  }
  return true;
}

// Returns true if a bracket, comma, colon or blank follows the quote; else the quote was meant as part of the string.
bool reader::string_end() {
  if (ended() || is_blank(peek()) || std::string_view(",:}]+/#").find(peek()) != std::string_view::npos) return true;
  if (starts(no_break_space)) return true;
  return refuse("a quote inside a string is not escaped");
}

// Takes over what a scalar was read as, or why it was not.
bool reader::scalar(const json_scalars::scalar& read) {
  at_ += read.size;
  if (!read.fault.empty()) return refuse(read.fault);
  if (!read.note.empty()) note(read.note);
  out_ += read.json;
  return true;
}

// Unescapes an object whose quotes are all escaped, as in {\"a\": 1}: the inside of a JSON string.
std::string escaped_once_more(std::string_view text) {
  const auto brace = text.find('{');
  if (brace == std::string_view::npos) return {};
  const auto first = text.find_first_not_of(" \t\r\n", brace + 1);
  if (first == std::string_view::npos || !text.substr(first).starts_with("\\\"")) return {};
  const auto end = text.rfind('}');
  if (end == std::string_view::npos || end < first) return {};
  const auto token = "\"" + std::string(text.substr(brace, end + 1 - brace)) + "\"";
  const auto value = raw_json::parse(token, 1);
  return value ? value->as_string().value_or("") : std::string();
}

}  // namespace

result<repaired_json> repair_json(std::string_view text) {
  if (text.size() > max_repaired) return fail(errc::limit, "it is too long to be put right");
  const auto inner = escaped_once_more(text);
  reader r(inner.empty() ? text : std::string_view(inner));
  if (!inner.empty()) r.note("escaped once more");
  unsigned keys = 0;
  if (!r.skip_prose() || !r.object(1, keys) || !r.rest() || !r.sure()) return std::unexpected(r.why());
  return r.done();
}

result<repaired_json> repair_json_value(std::string_view text, number_form numbers) {
  if (text.size() > max_repaired) return fail(errc::limit, "it is too long to be put right");
  // The appended blank ends a number or a literal, which is known to be complete here.
  const auto whole = std::string(text) + ' ';
  reader r(whole, numbers);
  unsigned keys = 0;
  if (!r.value(0, keys) || !r.end() || !r.sure()) return std::unexpected(r.why());
  return r.done();
}

}  // namespace mcpbx::providers
