// Integer arithmetic that falls back to double on overflow.
#include "daemon/toolbox/number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace mcpbx::toolbox {
namespace {

using integer = number::integer;
__extension__ using natural = unsigned __int128;

// Symmetric range, so that negation never overflows.
constexpr auto largest_integer = static_cast<integer>(~natural{0} >> 1);

constexpr natural magnitude(integer value) {
  return value < 0 ? natural{0} - static_cast<natural>(value) : static_cast<natural>(value);
}

bool add(integer a, integer b, integer& sum) {
  if (b > 0 ? a > largest_integer - b : a < -largest_integer - b) return false;
  sum = a + b;
  return true;
}

// Avoids __builtin_mul_overflow: for 128 bits clang calls a function that only its own runtime has.
bool multiply(integer a, integer b, integer& product) {
  if (a != 0 && magnitude(b) > magnitude(largest_integer) / magnitude(a)) return false;
  product = a * b;
  return true;
}

}  // namespace

number number::inexact(double value) {
  number n;
  n.double_ = value;
  n.exact_ = false;
  return n;
}

number number::whole(double value) {
  constexpr double every_integer_fits = 9007199254740992.0;  // 2^53
  if (std::abs(value) <= every_integer_fits && std::trunc(value) == value) return exact(static_cast<integer>(value));
  return inexact(value);
}

bool number::is_finite() const noexcept {
  return exact_ || std::isfinite(double_);
}

std::string number::text() const {
  if (!exact_) {
    char buffer[64];
    const auto end = std::to_chars(buffer, std::end(buffer), double_, std::chars_format::general, 15).ptr;
    return {buffer, end};
  }
  std::string digits;
  for (auto left = magnitude(integer_); left != 0 || digits.empty(); left /= 10)
    digits += static_cast<char>('0' + static_cast<int>(left % 10));
  if (integer_ < 0) digits += '-';
  std::ranges::reverse(digits);
  return digits;
}

number operator+(const number& a, const number& b) {
  number::integer sum = 0;
  if (a.exact_ && b.exact_ && add(a.integer_, b.integer_, sum)) return number::exact(sum);
  return number::inexact(a.as_double() + b.as_double());
}

number operator-(const number& a) {
  return a.exact_ ? number::exact(-a.integer_) : number::inexact(-a.double_);
}

number operator-(const number& a, const number& b) {
  return a + -b;
}

number operator*(const number& a, const number& b) {
  number::integer product = 0;
  if (a.exact_ && b.exact_ && multiply(a.integer_, b.integer_, product)) return number::exact(product);
  return number::inexact(a.as_double() * b.as_double());
}

number operator/(const number& a, const number& b) {
  if (a.exact_ && b.exact_ && a.integer_ % b.integer_ == 0) return number::exact(a.integer_ / b.integer_);
  return number::inexact(a.as_double() / b.as_double());
}

bool operator<(const number& a, const number& b) {
  if (a.exact_ && b.exact_) return a.integer_ < b.integer_;
  return a.as_double() < b.as_double();
}

number remainder(const number& a, const number& b) {
  if (a.is_exact() && b.is_exact()) return number::exact(a.value() % b.value());
  return number::inexact(std::fmod(a.as_double(), b.as_double()));
}

number power(const number& a, const number& b) {
  if (a.is_exact() && b.is_exact() && b.value() >= 0) {
    // Squares repeatedly: at most 128 steps, since every base but -1, 0 and 1 overflows long before.
    integer base = a.value(), result = 1;
    auto exponent = magnitude(b.value());
    if (base == 0 || base == 1 || base == -1)
      return number::exact(exponent == 0 ? 1 : exponent % 2 == 0 ? base * base : base);
    for (bool fits = true; fits;) {
      if (exponent % 2 == 1) fits = multiply(result, base, result);
      exponent /= 2;
      if (fits && exponent == 0) return number::exact(result);
      fits = fits && multiply(base, base, base);
    }
  }
  return number::inexact(std::pow(a.as_double(), b.as_double()));
}

number square_root(const number& a) {
  const double root = std::sqrt(a.as_double());
  if (!a.is_exact()) return number::inexact(root);
  // The double has 53 of up to 64 bits; two Newton steps add the rest.
  auto candidate = static_cast<integer>(root);
  for (int i = 0; i < 2 && candidate > 0; ++i) candidate = (candidate + a.value() / candidate) / 2;
  if (integer square = 0; multiply(candidate, candidate, square) && square == a.value())
    return number::exact(candidate);
  return number::inexact(root);
}

}  // namespace mcpbx::toolbox
