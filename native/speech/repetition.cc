#include "speech/repetition.h"

namespace lorekeep::speech {

std::optional<Repetition> find_repetition(std::span<const std::int32_t> tokens) noexcept {
  std::optional<Repetition> first;
  for (std::size_t length = 1; length <= Repetition::kLongestPhrase; ++length) {
    // Number of tokens in a row that equal the one `length` before.
    std::size_t equal = 0;
    for (std::size_t i = length; i <= tokens.size(); ++i) {
      if (i < tokens.size() && tokens[i] == tokens[i - length]) {
        ++equal;
        continue;
      }
      const std::size_t times = 1 + equal / length;
      const std::size_t begin = i - length - equal;
      if (times > Repetition::kMostTimes && (!first || begin < first->begin)) first = Repetition{begin, length, times};
      equal = 0;
    }
  }
  return first;
}

}  // namespace lorekeep::speech
