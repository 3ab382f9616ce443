#include "filter/interval.h"

#include <cmath>
#include <limits>

namespace lorekeep::filter {
namespace {

constexpr std::int64_t kMinInt = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMaxInt = std::numeric_limits<std::int64_t>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The numbers of a type around a constant: those up to `below` are smaller, those from `above` are larger, and only
/// `equal`, if set, lies between. nullopt `below` or `above`: no number is smaller or larger.
template <class T>
struct Cut {
  std::optional<T> below;
  std::optional<T> equal;
  std::optional<T> above;
};

template <class T>
Interval<T> interval(Comparison comparison, const Cut<T>& cut, T least, T greatest) {
  constexpr Interval<T> kNone{T{1}, T{0}};
  const auto up_to = [&](std::optional<T> high) { return high ? Interval<T>{least, *high} : kNone; };
  const auto from = [&](std::optional<T> low) { return low ? Interval<T>{*low, greatest} : kNone; };
  const auto equal = [&](bool outside) {
    return cut.equal ? Interval<T>{*cut.equal, *cut.equal, outside} : Interval<T>{kNone.low, kNone.high, outside};
  };
  switch (comparison) {
    case Comparison::kEqual: return equal(false);
    case Comparison::kNotEqual: return equal(true);
    case Comparison::kLess: return up_to(cut.below);
    case Comparison::kLessOrEqual: return up_to(cut.equal ? cut.equal : cut.below);
    case Comparison::kGreater: return from(cut.above);
    case Comparison::kGreaterOrEqual: return from(cut.equal ? cut.equal : cut.above);
  }
  return kNone;
}

Cut<std::int64_t> int_cut(const Scalar& number) {
  if (const auto value = exact_int(number)) {
    Cut<std::int64_t> cut;
    cut.equal = value;
    if (*value != kMinInt) cut.below = *value - 1;
    if (*value != kMaxInt) cut.above = *value + 1;
    return cut;
  }
  const double value = std::get<double>(number);
  if (value >= 0x1p63) return {kMaxInt, std::nullopt, std::nullopt};
  if (value < -0x1p63) return {std::nullopt, std::nullopt, kMinInt};
  const auto floor = static_cast<std::int64_t>(std::floor(value));  // has a fraction, so |value| < 2^53
  return {floor, std::nullopt, floor + 1};
}

Cut<double> float_cut(const Scalar& number) {
  if (const auto value = exact_float(number)) {
    return {std::nextafter(*value, -kInfinity), value, std::nextafter(*value, kInfinity)};
  }
  const std::int64_t value = std::get<std::int64_t>(number);
  const auto nearest = static_cast<double>(value);
  if (compare(value, nearest) < 0) {
    return {std::nextafter(nearest, -kInfinity), std::nullopt, nearest};
  }
  return {nearest, std::nullopt, std::nextafter(nearest, kInfinity)};
}

}  // namespace

Interval<std::int64_t> int_interval(Comparison comparison, const Scalar& number) {
  return interval(comparison, int_cut(number), kMinInt, kMaxInt);
}

Interval<double> float_interval(Comparison comparison, const Scalar& number) {
  return interval(comparison, float_cut(number), -kInfinity, kInfinity);
}

Interval<std::int64_t> code_interval(Comparison comparison, std::uint32_t lower, std::uint32_t upper) {
  Cut<std::int64_t> cut;
  cut.below = std::int64_t{lower} - 1;
  if (upper > lower) cut.equal = lower;
  cut.above = upper;
  return interval<std::int64_t>(comparison, cut, 0, std::numeric_limits<std::uint32_t>::max());
}

std::optional<std::int64_t> exact_int(const Scalar& number) {
  if (const auto* integer = std::get_if<std::int64_t>(&number)) return *integer;
  const double real = std::get<double>(number);
  if (std::trunc(real) != real || !(real >= -0x1p63 && real < 0x1p63)) return std::nullopt;
  return static_cast<std::int64_t>(real);
}

std::optional<double> exact_float(const Scalar& number) {
  if (const auto* real = std::get_if<double>(&number)) return *real;
  const std::int64_t integer = std::get<std::int64_t>(number);
  const auto nearest = static_cast<double>(integer);
  if (compare(integer, nearest) != 0) return std::nullopt;
  return nearest;
}

int compare(std::int64_t a, double b) noexcept {
  if (b >= 0x1p63) return -1;
  if (b < -0x1p63) return 1;
  const double whole = std::trunc(b);
  const auto integer = static_cast<std::int64_t>(whole);
  if (a != integer) return a < integer ? -1 : 1;
  return b > whole ? -1 : b < whole ? 1 : 0;
}

}  // namespace lorekeep::filter
