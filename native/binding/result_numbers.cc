#include "binding/result_numbers.h"

#include "binding/arguments.h"

namespace lorekeep::binding {

std::span<double> result_argument(const Napi::Value& value, std::size_t least) {
  const std::span<double> numbers = doubles_argument(value, "numbers");
  if (numbers.size() < least) fail(Code::kInvalidArgument, "numbers: too short for the hits");
  return numbers;
}

void write_pairs(std::span<const Scored> hits, double* next) noexcept {
  for (const Scored& hit : hits) {
    *next++ = hit.ordinal;
    *next++ = static_cast<double>(hit.score);
  }
}

}  // namespace lorekeep::binding
