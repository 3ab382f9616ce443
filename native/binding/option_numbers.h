// Reads options that cross from TypeScript as numbers: options.gen.h.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "core/values/error.h"

namespace lorekeep::binding {

struct OptionRange {
  const char* name;
  double min;
  double max;
};

inline void expect_numbers(std::span<const double> numbers, std::size_t count) {
  if (numbers.size() < count) fail(Code::kInvalidArgument, "options: too few numbers");
}

template <class Member>
struct OptionValue {
  using Type = Member;
};
template <class Value>
struct OptionValue<std::optional<Value>> {
  using Type = Value;
};

/// Converts a number to the member's type. NaN leaves the member as it is. Throws Error(kInvalidArgument) for a number
/// outside the range, and for a fraction where an integer, an enumerator or a truth value is expected.
template <class Member>
void read_number(double number, const OptionRange& range, Member& to) {
  using Value = typename OptionValue<Member>::Type;
  constexpr bool kWhole = std::is_integral_v<Value> || std::is_enum_v<Value>;
  if (std::isnan(number)) return;
  if (!(number >= range.min && number <= range.max) || (kWhole && number != std::floor(number))) {
    fail(Code::kInvalidArgument, std::string(range.name) + ": a number of its range is expected");
  }
  to = static_cast<Value>(number);
}

}  // namespace lorekeep::binding
