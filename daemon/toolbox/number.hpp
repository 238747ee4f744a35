// Number of the calculator: an integer while it is exact, otherwise a double.
#pragma once
#include <string>

namespace mcpbx::toolbox {

/// Number that is exact for integers up to ±(2^127 - 1); larger values and fractions are doubles.
class number {
 public:
  __extension__ using integer = __int128;

  number() = default;
  static number exact(integer value) { return number(value); }
  static number inexact(double value);
  /// Returns an integer if `value` is one that a double holds exactly, else the double.
  static number whole(double value);

  bool is_exact() const noexcept { return exact_; }
  bool is_zero() const noexcept { return exact_ ? integer_ == 0 : double_ == 0; }
  /// Returns the integer; meaningful only if is_exact().
  integer value() const noexcept { return integer_; }
  double as_double() const noexcept { return exact_ ? static_cast<double>(integer_) : double_; }
  /// Returns true if the value is neither infinite nor "not a number".
  bool is_finite() const noexcept;
  /// Returns a JSON number: all digits of an integer, 15 significant ones of a double.
  std::string text() const;

  friend number operator+(const number& a, const number& b);
  friend number operator-(const number& a, const number& b);
  friend number operator*(const number& a, const number& b);
  /// Divides; gives an integer if there is no remainder. `b` must not be zero.
  friend number operator/(const number& a, const number& b);
  friend number operator-(const number& a);
  friend bool operator<(const number& a, const number& b);

 private:
  explicit number(integer value) : integer_(value) {}
  integer integer_ = 0;
  double double_ = 0;
  bool exact_ = true;
};

/// Returns the remainder of a / b, with the sign of `a`. `b` must not be zero.
number remainder(const number& a, const number& b);
/// Returns `a` to the power of `b`.
number power(const number& a, const number& b);
/// Returns the square root, exact for square numbers. `a` must not be negative.
number square_root(const number& a);

}  // namespace mcpbx::toolbox
