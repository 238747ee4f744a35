// The calculator's number: an integer as long as it is exact, a double from then on.
#pragma once
#include <string>

namespace mcpbx::toolbox {

/// Integers up to ±(2^127 - 1) are exact; what does not fit, and every fraction, is a double.
class number {
 public:
  __extension__ using integer = __int128;

  number() = default;
  static number exact(integer value) { return number(value); }
  static number inexact(double value);
  /// An integer when `value` is one and small enough for the double to hold it exactly, else the double.
  static number whole(double value);

  bool is_exact() const noexcept { return exact_; }
  bool is_zero() const noexcept { return exact_ ? integer_ == 0 : double_ == 0; }
  /// Meaningful only when is_exact().
  integer value() const noexcept { return integer_; }
  double as_double() const noexcept { return exact_ ? static_cast<double>(integer_) : double_; }
  /// Neither infinite nor "not a number".
  bool is_finite() const noexcept;
  /// A JSON number: all digits of an integer, 15 significant ones of a double.
  std::string text() const;

  friend number operator+(const number& a, const number& b);
  friend number operator-(const number& a, const number& b);
  friend number operator*(const number& a, const number& b);
  /// An integer when the division leaves no remainder. `b` must not be zero.
  friend number operator/(const number& a, const number& b);
  friend number operator-(const number& a);
  friend bool operator<(const number& a, const number& b);

 private:
  explicit number(integer value) : integer_(value) {}
  integer integer_ = 0;
  double double_ = 0;
  bool exact_ = true;
};

/// What is left of a / b, with the sign of `a`. `b` must not be zero.
number remainder(const number& a, const number& b);
/// `a` to the power of `b`.
number power(const number& a, const number& b);
/// The square root; exact for square numbers. `a` must not be negative.
number square_root(const number& a);

}  // namespace mcpbx::toolbox
