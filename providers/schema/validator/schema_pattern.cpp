// Compiles patterns: a recursive descent that writes instructions. Counted repetitions are unrolled; the limit on
// instructions bounds that.
#include "providers/schema/validator/schema_pattern.hpp"

#include "mcp/support/utf8.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

namespace mcpbx::providers::schema {

bool code_point_class::has(char32_t c) const {
  // The last range that does not start behind c.
  const auto next = std::ranges::upper_bound(ranges, c, {}, &std::pair<char32_t, char32_t>::first);
  bool in = next != ranges.begin() && c <= std::prev(next)->second;
  if (!in && categories != 0) in = (category_of(c) & categories) != 0;
  for (std::size_t i = 0; !in && i < negated_parts.size(); ++i) in = negated_parts[i].has(c);
  return in != negated;
}

namespace {

constexpr int max_groups = 100;  // nested in each other
constexpr std::size_t max_negated_parts = 16;
constexpr std::uint32_t unbounded = ~0U;

std::optional<code_point_class> shorthand(char32_t letter) {
  code_point_class c;
  switch (letter) {
    case 'd':
    case 'D':
      c.ranges = {{'0', '9'}};
      break;
    case 'w':
    case 'W':
      c.ranges = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
      break;
    case 's':
    case 'S':
      c.ranges = {{0x09, 0x0D},     {0x20, 0x20},     {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
                  {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
      break;
    default:
      return std::nullopt;
  }
  c.negated = letter < 'a';
  return c;
}

}  // namespace

class pattern_compiler {
 public:
  explicit pattern_compiler(std::string_view text) {
    for (const char *p = text.data(), *end = p + text.size(); p < end;) {
      const auto s = utf8::next(p, end);
      text_.push_back(s.what == utf8::status::valid ? utf8::decode(p, s.size) : char32_t{0xFFFD});
      p += s.size;
    }
  }

  std::size_t work() const noexcept { return work_; }
  result<pattern> run() {
    alternatives();
    if (problem_.empty() && at_ < text_.size()) problem_ = "there is a closing parenthesis too many";
    emit({code::match});
    if (!problem_.empty()) return fail(errc::invalid_argument, problem_);
    return std::move(out_);
  }

 private:
  using code = pattern::code;
  using instruction = pattern::instruction;

  bool more() const { return problem_.empty() && at_ < text_.size(); }
  char32_t peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : U'\0'; }
  bool take(char32_t c) {
    if (!more() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void refuse(std::string why) {
    if (problem_.empty()) problem_ = std::move(why);
  }
  std::uint32_t here() const { return static_cast<std::uint32_t>(out_.code_.size()); }
  // Counts all work, including instructions that are moved or dropped again: `(?:a{9999}){0}` is not free.
  bool spend(std::size_t instructions) {
    work_ += instructions;
    if (work_ > pattern::max_work) refuse("it is too long when its repetitions are written out");
    return problem_.empty();
  }
  std::uint32_t emit(instruction i) {
    spend(1);
    if (out_.code_.size() >= pattern::max_instructions) refuse("it is too long when its repetitions are written out");
    if (problem_.empty()) out_.code_.push_back(i);
    return here() - 1;
  }
  void emit_class(code_point_class c) {
    emit({code::set, static_cast<std::uint32_t>(out_.classes_.size())});
    std::ranges::sort(c.ranges);
    std::vector<std::pair<char32_t, char32_t>> joined;
    for (const auto& r : c.ranges)
      if (joined.empty() || r.first > joined.back().second)
        joined.push_back(r);
      else
        joined.back().second = std::max(joined.back().second, r.second);
    c.ranges = std::move(joined);
    if (c.negated_parts.size() > max_negated_parts) refuse("a bracket holds too many complements");
    out_.classes_.push_back(std::move(c));
  }

  // Moves what was written since `from` behind one new instruction.
  void insert(std::uint32_t from, instruction i) {
    if (out_.code_.size() >= pattern::max_instructions) return refuse("it is too long");
    if (!spend(here() - from)) return;
    for (auto k = from; k < here(); ++k) shift(out_.code_[k], from, 1);
    out_.code_.insert(out_.code_.begin() + from, i);
  }
  static void shift(instruction& i, std::uint32_t from, std::uint32_t by) {
    if (i.what == code::split || i.what == code::jump || i.what == code::look || i.what == code::look_not) {
      if (i.a >= from) i.a += by;
      if (i.what == code::split && i.b >= from) i.b += by;
    }
  }

  void alternatives() {
    if (++depth_ > max_groups) refuse("its groups are nested too deeply");
    std::vector<std::uint32_t> leaves;
    for (;;) {
      const auto from = here();
      sequence();
      if (!take('|')) break;
      insert(from, {code::split, from + 1, 0});
      leaves.push_back(emit({code::jump}));
      if (problem_.empty()) out_.code_[from].b = here();
    }
    if (problem_.empty())
      for (const auto l : leaves) out_.code_[l].a = here();
    --depth_;
  }

  void sequence() {
    while (more() && peek() != '|' && peek() != ')') {
      const auto from = here();
      if (atom()) repetition(from);
    }
  }

  // Returns false for an atom that cannot be repeated.
  bool atom() {
    const auto c = text_[at_++];
    switch (c) {
      case '^':
        emit({code::begin});
        return false;
      case '$':
        emit({code::end});
        return false;
      case '.':
        emit({code::any});
        return true;
      case '[':
        emit_class(bracket());
        return true;
      case '(':
        return group();
      case '\\':
        return escape();
      case '*':
      case '+':
      case '?':
        refuse("there is nothing to repeat");
        return false;
      default:
        emit({code::one, c});
        return true;
    }
  }

  bool group() {
    if (take('?')) {
      if (take(':')) {
      } else if (peek() == '=' || peek() == '!') {
        const auto what = text_[at_++] == '=' ? code::look : code::look_not;
        const auto from = emit({what});
        alternatives();
        emit({code::match});
        if (problem_.empty()) out_.code_[from].a = here();
        if (!take(')')) refuse("a parenthesis is not closed");
        return true;
      } else if (peek() == '<' && peek(1) != '=' && peek(1) != '!') {
        while (more() && text_[at_] != '>') ++at_;
        if (!take('>')) refuse("a group's name is not closed");
      } else {
        refuse(peek() == '<' ? "look-behind is not supported" : "this kind of group is not supported");
        return false;
      }
    }
    alternatives();
    if (!take(')')) refuse("a parenthesis is not closed");
    return true;
  }

  bool escape() {
    if (!more()) {
      refuse("it ends in a backslash");
      return false;
    }
    const auto c = peek();
    if (c == 'b' || c == 'B') {
      ++at_;
      emit({c == 'b' ? code::boundary : code::no_boundary});
      return false;
    }
    if ((c >= '1' && c <= '9') || c == 'k') {
      refuse("back references are not supported");
      return false;
    }
    if (auto set = class_escape())
      emit_class(std::move(*set));
    else
      emit({code::one, character_escape()});
    return true;
  }

  // Reads \d \w \s \p{…} and their opposites, behind the backslash.
  std::optional<code_point_class> class_escape() {
    const auto c = peek();
    if (auto set = shorthand(c)) {
      ++at_;
      return set;
    }
    if (c != 'p' && c != 'P') return std::nullopt;
    ++at_;
    code_point_class set;
    std::string name;
    if (!take('{')) refuse("\\p needs a name in braces");
    while (more() && text_[at_] != '}') name += static_cast<char>(text_[at_++]);
    if (!take('}')) refuse("\\p needs a name in braces");
    const bool ascii = name == "ASCII";
    set.categories = categories_named(name);
    if (ascii)
      set.ranges = {{0, 0x7F}};
    else if (set.categories == 0)
      refuse("the property of \\p{" + name + "} is not supported");
    set.negated = c == 'P';
    return set;
  }

  std::optional<char32_t> hexadecimal(std::size_t digits_wanted) {
    char32_t value = 0;
    for (std::size_t i = 0; i < digits_wanted; ++i) {
      const auto c = peek(i);
      const int d = c >= '0' && c <= '9'   ? static_cast<int>(c - '0')
                    : c >= 'a' && c <= 'f' ? static_cast<int>(c - 'a' + 10)
                    : c >= 'A' && c <= 'F' ? static_cast<int>(c - 'A' + 10)
                                           : -1;
      if (d < 0) return std::nullopt;
      value = value * 16 + static_cast<char32_t>(d);
    }
    at_ += digits_wanted;
    return value;
  }

  char32_t unicode_escape() {
    if (take('{')) {
      std::size_t n = 0;
      while (n < 7 && peek(n) != '}') ++n;
      const auto value = n > 0 && n < 7 ? hexadecimal(n) : std::nullopt;
      if (!value || *value > 0x10FFFF || !take('}')) refuse("\\u{…} is broken");
      return value.value_or(0);
    }
    const auto value = hexadecimal(4);
    if (!value) refuse("\\u needs four hexadecimal digits");
    if (value && *value >= 0xD800 && *value < 0xDC00 && peek() == '\\' && peek(1) == 'u') {
      const auto back = at_;
      at_ += 2;
      if (const auto low = hexadecimal(4); low && *low >= 0xDC00 && *low < 0xE000)
        return 0x10000 + ((*value - 0xD800) << 10) + (*low - 0xDC00);
      at_ = back;
    }
    return value.value_or(0);
  }

  // Reads the escape of one character, behind the backslash.
  char32_t character_escape() {
    const auto c = text_[at_++];
    switch (c) {
      case 't':
        return '\t';
      case 'n':
        return '\n';
      case 'v':
        return '\v';
      case 'f':
        return '\f';
      case 'r':
        return '\r';
      case '0':
        if (peek() >= '0' && peek() <= '9') refuse("octal escapes are not supported");
        return 0;
      case 'c':
        if ((peek() >= 'a' && peek() <= 'z') || (peek() >= 'A' && peek() <= 'Z')) return text_[at_++] % 32;
        refuse("\\c needs a letter");
        return 0;
      case 'x': {
        const auto value = hexadecimal(2);
        if (!value) refuse("\\x needs two hexadecimal digits");
        return value.value_or(0);
      }
      case 'u':
        return unicode_escape();
      default:
        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
          refuse(std::string("the escape \\") + static_cast<char>(c) + " is not supported");
        return c;
    }
  }

  // Reads one member of a bracket. Returns a character, or nothing for a class, which it adds to `set`.
  std::optional<char32_t> member(code_point_class& set) {
    if (!take('\\')) return text_[at_++];
    if (!more()) {
      refuse("a bracket is not closed");
      return std::nullopt;
    }
    if (auto inner = class_escape()) {
      if (inner->negated)
        set.negated_parts.push_back(std::move(*inner));
      else {
        set.ranges.insert(set.ranges.end(), inner->ranges.begin(), inner->ranges.end());
        set.categories |= inner->categories;
      }
      return std::nullopt;
    }
    if (take('b')) return U'\b';
    return character_escape();
  }

  code_point_class bracket() {
    code_point_class set;
    set.negated = take('^');
    while (more() && peek() != ']') {
      const auto low = member(set);
      if (peek() == '-' && at_ + 1 < text_.size() && peek(1) != ']') {
        ++at_;
        const auto high = member(set);
        if (low && high) {
          if (*low > *high) refuse("a range runs backwards");
          set.ranges.emplace_back(*low, *high);
        } else {  // a class beside a minus: the minus means itself
          set.ranges.emplace_back('-', '-');
          if (low) set.ranges.emplace_back(*low, *low);
          if (high) set.ranges.emplace_back(*high, *high);
        }
      } else if (low) {
        set.ranges.emplace_back(*low, *low);
      }
    }
    if (!take(']')) refuse("a bracket is not closed");
    return set;
  }

  std::optional<std::uint32_t> number() {
    if (peek() < '0' || peek() > '9' || at_ >= text_.size()) return std::nullopt;
    std::uint32_t n = 0;
    while (more() && text_[at_] >= '0' && text_[at_] <= '9') {
      n = n > 1'000'000 ? n : n * 10 + static_cast<std::uint32_t>(text_[at_] - '0');
      ++at_;
    }
    return n;
  }

  void repetition(std::uint32_t from) {
    if (!more()) return;
    std::uint32_t low = 0, high = unbounded;
    if (take('*')) {
    } else if (take('+')) {
      low = 1;
    } else if (take('?')) {
      high = 1;
    } else if (peek() == '{') {
      const auto back = at_++;
      const auto least = number();
      auto most = least;
      if (least && take(',')) most = peek() == '}' ? std::optional(unbounded) : number();
      if (!least || !most || !take('}')) {
        at_ = back;  // a brace that means itself
        return;
      }
      low = *least;
      high = *most;
      if (high < low) return refuse("a repetition's bounds are in the wrong order");
    } else {
      return;
    }
    take('?');  // laziness does not change the existence of a match
    repeat(from, low, high);
  }

  void append_copy(const std::vector<instruction>& body, std::uint32_t from) {
    if (out_.code_.size() + body.size() > pattern::max_instructions)
      return refuse("it is too long when its repetitions are written out");
    if (!spend(body.size())) return;
    const auto by = here() - from;
    for (auto i : body) {
      shift(i, from, by);
      out_.code_.push_back(i);
    }
  }

  void repeat(std::uint32_t from, std::uint32_t low, std::uint32_t high) {
    if (!problem_.empty() || from == here()) return;  // repeating an empty atom changes nothing
    if (!spend(here() - from)) return;
    const std::vector<instruction> body(out_.code_.begin() + from, out_.code_.end());
    out_.code_.resize(from);
    for (std::uint32_t i = 0; i < low && problem_.empty(); ++i) append_copy(body, from);
    if (high == unbounded) {
      const auto loop = emit({code::split});
      append_copy(body, from);
      emit({code::jump, loop});
      if (problem_.empty()) {
        out_.code_[loop].a = loop + 1;
        out_.code_[loop].b = here();
      }
      return;
    }
    std::vector<std::uint32_t> splits;
    for (auto i = low; i < high && problem_.empty(); ++i) {
      splits.push_back(emit({code::split}));
      append_copy(body, from);
    }
    if (!problem_.empty()) return;
    for (const auto s : splits) {
      out_.code_[s].a = s + 1;
      out_.code_[s].b = here();
    }
  }

  std::vector<char32_t> text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::size_t work_ = 0;
  std::string problem_;
  pattern out_;
};

result<pattern> pattern::compile(std::string_view text, std::size_t* work) {
  pattern_compiler compiler(text);
  auto made = compiler.run();
  if (work != nullptr) *work += compiler.work();
  return made;
}

}  // namespace mcpbx::providers::schema
