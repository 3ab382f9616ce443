// Follows quotations byte by byte: between the marks only spans of the texts are possible. Internal to native/lm.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lm/constraint.h"
#include "lm/string_matcher.h"

namespace lorekeep::lm {

/// A quotation begins and ends at the border of a word, and where the closing mark stands in a text. So it can always
/// be finished.
class QuoteMachine {
 public:
  struct State {
    std::size_t opened = 0;  // outside: bytes of the opening mark; inside: bytes of the closing mark
    bool inside = false;
    std::uint32_t closing = 0;  // inside: bit i is set if i bytes of the closing mark may have been read after a span
    bool any = false;           // inside: nothing was read yet, so the span may begin at any word
    std::shared_ptr<const std::vector<std::uint32_t>> places;  // inside: ends of the span in text_
  };

  /// Throws as check_quotes() does.
  explicit QuoteMachine(const QuoteRule& rule);

  State start() const { return {}; }
  bool step(const State& from, std::uint8_t byte, State& to) const;
  bool may_end(const State& state) const noexcept { return !state.inside; }

 private:
  void add_segment(std::string_view segment);
  bool may_close(const State& state) const;

  StringMatcher open_;
  StringMatcher close_;
  std::string text_;             // segments without the closing mark, each followed by a byte that UTF-8 does not have
  std::vector<bool> begins_at_;  // whether a span may begin at text_[i]
  std::vector<bool> ends_;       // whether a span may end before text_[i]
  std::shared_ptr<const std::vector<std::uint32_t>> begins_;  // offsets where a span may begin
};

}  // namespace lorekeep::lm
