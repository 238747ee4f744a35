// A walk over a text that is known to be well-formed, at most max_jsonc_depth levels deep.
#include "conf/edit/json_spans.hpp"

#include <algorithm>

namespace mcpbx::conf::edit {
namespace {

class span_walk {
 public:
  explicit span_walk(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  json_span value() {
    blanks();
    json_span out;
    out.begin = at_;
    const char c = peek();
    if (c == '{' || c == '[')
      level(out, c == '{');
    else if (c == '"')
      string();
    else
      while (at_ < text_.size() && std::string_view(" \t\r\n,]}/").find(peek()) == std::string_view::npos) ++at_;
    out.end = at_;
    return out;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void blanks() { at_ = behind_blanks(text_, at_); }

  void string() {
    for (++at_; at_ < text_.size() && peek() != '"'; ++at_)
      if (peek() == '\\') ++at_;
    at_ = std::min(at_ + 1, text_.size());
  }

  void level(json_span& out, bool object) {
    ++at_;
    for (blanks(); at_ < text_.size() && peek() != '}' && peek() != ']'; blanks()) {
      json_part part;
      part.begin = part.key_end = at_;
      if (object) {
        string();
        part.key_end = at_;
        blanks();
        ++at_;  // the colon
      }
      part.value = value();
      blanks();
      if (peek() == ',') part.comma = at_++;
      out.parts.push_back(std::move(part));
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

json_span spans_of(std::string_view text) {
  return span_walk(text).value();
}

std::size_t behind_blanks(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const char c = text[at];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      const auto close = text.find("*/", at + 2);
      at = close == text.npos ? text.size() : close + 2;
    } else {
      return at;
    }
  }
  return at;
}

}  // namespace mcpbx::conf::edit
