#include "lm/sampling/prompt_lookup.h"

#include <algorithm>

namespace lorekeep::lm {

Lookup look_up(std::span<const Token> text, std::size_t most) noexcept {
  Lookup best;
  if (text.size() < kShortestMatch || most == 0) return best;
  const Token last = text.back();
  // `end` is the number of tokens up to the match's last one.
  for (std::size_t end = text.size() - 1; end >= kShortestMatch && best.matched < kLongestMatch; --end) {
    if (text[end - 1] != last) continue;
    const std::size_t limit = std::min(end, kLongestMatch);
    std::size_t matched = 1;
    while (matched < limit && text[end - 1 - matched] == text[text.size() - 1 - matched]) ++matched;
    if (matched < kShortestMatch || matched <= best.matched) continue;
    best = {text.subspan(end, std::min(most, text.size() - end)), matched};
  }
  return best;
}

}  // namespace lorekeep::lm
