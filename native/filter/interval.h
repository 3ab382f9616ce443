// Comparisons with a constant as closed intervals. One loop evaluates them all, and numbers of different types compare
// exactly: the int64 2^53 + 1 does not equal the double 2^53.
#pragma once

#include <cstdint>
#include <optional>

#include "filter/predicate.h"

namespace lorekeep::filter {

/// The values x with low <= x <= high, or all others if `outside`. Empty if low > high.
template <class T>
struct Interval {
  T low;
  T high;
  bool outside = false;
};

/// Returns the int64 values x for which "x comparison number" is true. `number` is an int64 or a finite double.
Interval<std::int64_t> int_interval(Comparison comparison, const Scalar& number);
/// The same for finite doubles.
Interval<double> float_interval(Comparison comparison, const Scalar& number);
/// The same for codes of a dictionary; [lower, upper) are the codes of texts equal to the constant (none or one).
Interval<std::int64_t> code_interval(Comparison comparison, std::uint32_t lower, std::uint32_t upper);

/// Returns the number if this type represents it exactly.
std::optional<std::int64_t> exact_int(const Scalar& number);
std::optional<double> exact_float(const Scalar& number);

/// Compares as real numbers: negative if a < b, 0 if equal, positive if a > b. `b` is finite.
int compare(std::int64_t a, double b) noexcept;

}  // namespace lorekeep::filter
