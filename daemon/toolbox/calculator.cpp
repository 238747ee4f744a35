// Recursive descent parser, one function per precedence level, bounded in depth.
#include "daemon/toolbox/calculator.hpp"

#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <vector>

namespace mcpbx::toolbox {
namespace {

using numbers = std::vector<number>;

struct function {
  std::string_view name;
  std::size_t least, most;  // number of arguments
  result<number> (*apply)(const numbers& arguments);
};

constexpr auto any_number = static_cast<std::size_t>(-1);

template <double (*F)(double)>
result<number> real(const numbers& a) {
  return number::inexact(F(a[0].as_double()));
}

template <double (*F)(double)>
result<number> to_whole(const numbers& a) {
  return a[0].is_exact() ? a[0] : number::whole(F(a[0].as_double()));
}

template <double (*F)(double)>
result<number> logarithm(const numbers& a) {
  if (a[0].as_double() <= 0) return fail(errc::invalid_argument, "a logarithm needs a number above 0");
  return number::inexact(F(a[0].as_double()));
}

result<number> root(const numbers& a) {
  if (a[0].as_double() < 0) return fail(errc::invalid_argument, "a negative number has no real square root");
  return square_root(a[0]);
}

result<number> absolute(const numbers& a) {
  return a[0] < number() ? -a[0] : a[0];
}
result<number> smallest(const numbers& a) {
  return *std::ranges::min_element(a, [](auto& x, auto& y) { return x < y; });
}
result<number> largest(const numbers& a) {
  return *std::ranges::max_element(a, [](auto& x, auto& y) { return x < y; });
}

constexpr function functions[] = {
    {"sqrt", 1, 1, root},
    {"abs", 1, 1, absolute},
    {"round", 1, 1, to_whole<std::round>},
    {"floor", 1, 1, to_whole<std::floor>},
    {"ceil", 1, 1, to_whole<std::ceil>},
    {"min", 1, any_number, smallest},
    {"max", 1, any_number, largest},
    {"ln", 1, 1, logarithm<std::log>},
    {"log10", 1, 1, logarithm<std::log10>},
    {"sin", 1, 1, real<std::sin>},
    {"cos", 1, 1, real<std::cos>},
    {"tan", 1, 1, real<std::tan>},
};

constexpr std::string_view known_words[] = {"sqrt", "abs",   "round", "floor", "ceil", "min", "max",
                                            "ln",   "log10", "sin",   "cos",   "tan",  "pi",  "e"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

class parser {
 public:
  explicit parser(std::string_view text) : text_(text) {}

  result<number> whole() {
    auto value = sum();
    if (!value) return value;
    if (blank(), at_ < text_.size()) return unexpected("an operator");
    return value;
  }

 private:
  /// Guard that counts the nesting depth during one level.
  struct level {
    explicit level(int& depth) : depth_(depth) { ++depth_; }
    ~level() { --depth_; }
    level(const level&) = delete;
    level& operator=(const level&) = delete;
    int& depth_;
  };

  std::string place(std::size_t at) const { return " at character " + std::to_string(at + 1); }

  std::unexpected<error> unexpected(std::string_view wanted) const {
    const auto expected = " where " + std::string(wanted) + " was expected";
    if (at_ >= text_.size()) return fail(errc::parse, "The expression ends" + expected + ".");
    std::string_view character;
    for (std::size_t bytes = 1; character.empty() && bytes <= 4; ++bytes)
      character = cut_utf8(text_.substr(at_), bytes);
    const auto what = "\"" + redact::printable(character) + "\"";
    std::string hint;
    if (text_[at_] == ',')
      hint = " A comma only separates the arguments of a function: write 1000, not 1,000, and 1.5, not 1,5.";
    if (text_[at_] == '=') hint = " Only one side of an equation can be calculated.";
    return fail(errc::parse, "There is " + what + place(at_) + expected + "." + hint);
  }

  void blank() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }

  bool take(std::string_view token) {
    blank();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  result<number> checked(number value, std::size_t at) const {
    if (value.is_finite()) return value;
    return fail(errc::limit, "The result of the operation" + place(at) + " is too large or is not a real number.");
  }

  result<number> sum() {
    auto left = product();
    while (left) {
      blank();
      const auto at = at_;
      const bool plus = take("+");
      if (!plus && !take("-")) break;
      const auto right = product();
      if (!right) return right;
      left = checked(plus ? *left + *right : *left - *right, at);
    }
    return left;
  }

  result<number> product() {
    auto left = sign();
    while (left) {
      blank();
      const auto at = at_;
      const char op = at_ < text_.size() ? text_[at_] : 0;
      if (op != '*' && op != '/' && op != '%') break;
      ++at_;
      const auto right = sign();
      if (!right) return right;
      if (op != '*' && right->is_zero())
        return fail(errc::invalid_argument, "There is a division by zero" + place(at) + ".");
      left = checked(op == '*' ? *left * *right : op == '/' ? *left / *right : remainder(*left, *right), at);
    }
    return left;
  }

  result<number> sign() {
    const level here(depth_);
    if (depth_ > max_expression_depth)
      return fail(errc::limit, "The expression is nested deeper than " + std::to_string(max_expression_depth) +
                                   " levels" + place(at_) + ".");
    if (take("-")) {
      auto value = sign();
      if (value) value = -*value;
      return value;
    }
    if (take("+")) return sign();
    return raised();
  }

  result<number> raised() {
    auto base = primary();
    if (!base) return base;
    blank();
    const auto at = at_;
    if (!take("^") && !take("**")) return base;
    const auto exponent = sign();
    if (!exponent) return exponent;
    if (base->is_zero() && *exponent < number())
      return fail(errc::invalid_argument, "There is a division by zero" + place(at) + " (0 to a negative power).");
    return checked(power(*base, *exponent), at);
  }

  result<number> primary() {
    blank();
    if (at_ >= text_.size()) return unexpected("a number");
    const char c = text_[at_];
    if (is_digit(c) || c == '.') return literal();
    if (is_letter(c)) return word();
    if (!take("(")) return unexpected("a number");
    auto value = sum();
    if (value && !take(")")) return unexpected("\")\"");
    return value;
  }

  result<number> literal() {
    const auto begin = at_;
    const auto digits = [this] {
      const auto from = at_;
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
      return at_ - from;
    };
    auto count = digits();
    bool fraction = false;
    if (at_ < text_.size() && text_[at_] == '.') {
      fraction = true;
      ++at_;
      count += digits();
    }
    if (count == 0) {
      at_ = begin;
      return unexpected("a number");
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      const auto mark = at_++;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (digits() == 0)
        at_ = mark;  // 2e is no number; the error is reported at the e
      else
        fraction = true;
    }
    const auto token = text_.substr(begin, at_ - begin);
    if (!fraction) {
      auto value = number();
      for (const char d : token) value = value * number::exact(10) + number::exact(d - '0');
      return checked(value, begin);
    }
    double value = 0;
    const auto parsed = std::from_chars(token.data(), token.data() + token.size(), value);
    if (parsed.ec == std::errc::result_out_of_range)
      return fail(errc::limit, "The number" + place(begin) + " is too large or too small.");
    return number::inexact(value);
  }

  result<number> word() {
    const auto begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const auto name = text_.substr(begin, at_ - begin);
    if (name == "pi") return number::inexact(std::numbers::pi);
    if (name == "e") return number::inexact(std::numbers::e);
    const auto found = std::ranges::find(functions, name, &function::name);
    if (found == std::end(functions)) {
      const auto hint = name == "log" ? std::string(" (write ln or log10)") : did_you_mean(name, known_words);
      return fail(errc::parse, "There is no function or constant \"" + std::string(cut_utf8(name, 40)) + "\"" +
                                   place(begin) + hint +
                                   ". There are sqrt abs round floor ceil min max ln log10 sin cos tan, pi and e.");
    }
    if (!take("(")) return unexpected("\"(\" after " + std::string(name));
    numbers arguments;
    do {
      auto value = sum();
      if (!value) return value;
      arguments.push_back(*value);
    } while (take(","));
    if (!take(")")) return unexpected("\")\" or \",\"");
    if (arguments.size() < found->least || arguments.size() > found->most)
      return fail(errc::invalid_argument, std::string(name) + place(begin) + " takes one argument, not " +
                                              std::to_string(arguments.size()) + ".");
    auto value = found->apply(arguments);
    if (!value) return fail(value.error().code, std::string(name) + place(begin) + ": " + value.error().message + ".");
    return checked(*value, begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

result<number> calculate(std::string_view expression) {
  if (expression.size() > max_expression_bytes)
    return fail(errc::limit, "The expression is longer than " + std::to_string(max_expression_bytes) + " characters.");
  return parser(expression).whole();
}

}  // namespace mcpbx::toolbox
