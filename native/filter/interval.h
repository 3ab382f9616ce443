// Comparisons with a constant as closed intervals, so that one loop serves them all, and numbers of different types
// compare exactly: 2^53 + 1 is not equal to 2^53 as a double is.
#pragma once

#include <cstdint>
#include <optional>

#include "filter/predicate.h"

namespace lorekeep::filter {

/// The values x with low <= x <= high, or those outside when `outside`. Empty when low > high.
template <class T>
struct Interval {
  T low;
  T high;
  bool outside = false;
};

/// The int64 values x for which "x comparison number" is true. `number` is an int64 or a finite double.
Interval<std::int64_t> int_interval(Comparison comparison, const Scalar& number);
/// The same for finite doubles.
Interval<double> float_interval(Comparison comparison, const Scalar& number);
/// The same for codes of a dictionary, where [lower, upper) are the codes of texts equal to the constant (none or one).
Interval<std::int64_t> code_interval(Comparison comparison, std::uint32_t lower, std::uint32_t upper);

/// The number as exactly this type, if it has it.
std::optional<std::int64_t> exact_int(const Scalar& number);
std::optional<double> exact_float(const Scalar& number);

/// Negative when a < b, 0 when they are equal, positive when a > b, as real numbers; `b` is finite.
int compare(std::int64_t a, double b) noexcept;

}  // namespace lorekeep::filter
