// Random collections for the text tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/bitmap.h"
#include "harness.h"

namespace lorekeep::test {

using Random = std::mt19937_64;

inline std::size_t below(Random& random, std::size_t bound) {
  return static_cast<std::size_t>(random() % bound);
}

/// A word of a vocabulary in which low numbers are frequent; some words are not ASCII, some are upper case.
inline std::string random_word(Random& random, std::size_t vocabulary) {
  const double u = static_cast<double>(random() >> 11) * 0x1p-53;
  const auto rank = static_cast<std::size_t>(static_cast<double>(vocabulary) * u * u * u);
  static constexpr const char* kStems[] = {"word", "Straße", "ОДНА", "λόγοσ", "数据", "term", "I", "naïve"};
  return kStems[rank % std::size(kStems)] + std::to_string(rank);
}

inline std::string random_text(Random& random, std::size_t words, std::size_t vocabulary) {
  std::string text;
  for (std::size_t i = 0; i < words; ++i) {
    const std::string word = random_word(random, vocabulary);
    const std::size_t times = below(random, 20) == 0 ? 1 + below(random, 9) : 1;
    for (std::size_t n = 0; n < times; ++n) text += word + (below(random, 9) == 0 ? ", " : " ");
  }
  return text;
}

/// Texts of 0 to `longest` words; some are empty, some repeat the one before.
inline std::vector<std::string> random_texts(Random& random, std::size_t count, std::size_t longest,
                                             std::size_t vocabulary) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0 && below(random, 10) == 0) {
      texts.push_back(texts.back());
    } else {
      texts.push_back(random_text(random, below(random, longest + 1), vocabulary));
    }
  }
  return texts;
}

inline std::vector<std::string_view> views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

/// About one in `one_in` ordinals; 0: none.
inline Bitmap random_filter(Random& random, std::size_t size, std::size_t one_in) {
  Bitmap filter(size);
  for (std::size_t i = 0; i < size; ++i) {
    if (one_in != 0 && below(random, one_in) == 0) filter.set(i);
  }
  return filter;
}

}  // namespace lorekeep::test
