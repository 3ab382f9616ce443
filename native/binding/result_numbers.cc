#include "binding/result_numbers.h"

#include "binding/arguments.h"
#include "binding/layout.gen.h"

namespace lorekeep::binding {

std::span<double> result_argument(const Napi::Value& value, std::size_t least) {
  const std::span<double> numbers = doubles_argument(value, "numbers");
  if (numbers.size() < least) fail(Code::kInvalidArgument, "numbers: too short for the hits");
  return numbers;
}

void write_held(std::span<double> numbers, store::SearchClock::time_point begin) noexcept {
  static_assert(layout::storage_result::kHeld == 0 && layout::vector_result::kHeld == 0 &&
                layout::text_result::kHeld == 0);
  numbers[0] = std::chrono::duration<double, std::nano>(store::SearchClock::now() - begin).count();
}

double* write_hits(std::span<const Scored> hits, double* next) noexcept {
  namespace at = layout::index_hit;
  for (const Scored& hit : hits) {
    next[at::kOrdinal] = hit.ordinal;
    next[at::kValue] = static_cast<double>(hit.score);
    next += at::kNumbers;
  }
  return next;
}

}  // namespace lorekeep::binding
