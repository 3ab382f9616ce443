#include "lm/text/string_matcher.h"

#include <utility>

namespace lorekeep::lm {

StringMatcher::StringMatcher(std::string pattern) : pattern_(std::move(pattern)), borders_(pattern_.size() + 1, 0) {
  for (std::size_t i = 1; i < pattern_.size(); ++i) {
    std::size_t border = borders_[i];
    while (border > 0 && pattern_[border] != pattern_[i]) border = borders_[border];
    borders_[i + 1] = pattern_[border] == pattern_[i] ? border + 1 : 0;
  }
}

std::size_t StringMatcher::next(std::size_t progress, char byte) const noexcept {
  while (progress == pattern_.size() || pattern_[progress] != byte) {
    if (progress == 0) return 0;
    progress = borders_[progress];
  }
  return progress + 1;
}

}  // namespace lorekeep::lm
