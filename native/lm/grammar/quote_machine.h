// Follows quotations byte by byte: between the marks only spans of the texts are possible. Internal to native/lm.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/utf8.h"
#include "lm/grammar/constraint.h"
#include "lm/grammar/span_tree.h"

namespace lorekeep::lm {

/// A quotation begins and ends at the border of a word, or where its source has a mark, so it can always be finished.
/// It contains no mark itself. All marks of a reply are of one pair and alternate, so a reader can tell quotations from
/// the rest of the reply.
class QuoteMachine {
 public:
  struct State {
    std::uint32_t pairs = ~std::uint32_t{0};  // bit i is set if the reply may use pair i
    bool inside = false;
    bool after_letter = false;                  // outside: an apostrophe may follow
    std::uint8_t pending_bytes = 0;             // outside
    std::array<char, kMaxUtf8Bytes> pending{};  // outside: the beginning of a character
    std::uint64_t closing = 0;  // inside: bit 2 i + n is set if n + 1 bytes of pair i's second mark may have been read
    SpanTree::State span;       // inside: nothing was read yet, so the span may begin at any word, or the span so far

    bool operator==(const State&) const = default;
  };

  /// Throws as check_quotes() does, and Error(kCancelled).
  explicit QuoteMachine(const QuoteRule& rule, const CancelToken* cancel = nullptr);

  State start() const { return {}; }
  bool step(const State& from, std::uint8_t byte, State& to, Allowance& work);
  bool may_end(const State& state) const noexcept { return !state.inside; }

 private:
  struct Mark {
    char32_t character;
    std::uint32_t opens;  // bit i is set if it opens pair i
    bool apostrophe;

    static bool is_below(const Mark& mark, char32_t character) noexcept { return mark.character < character; }
  };

  const Mark* find(char32_t character) const noexcept;
  void add_text(std::string_view text, const CancelToken* cancel);
  bool step_outside(const State& from, char byte, State& to);
  bool take(char32_t character, State& state);
  bool step_inside(const State& from, char byte, State& to, Allowance& work);

  std::vector<Mark> marks_;          // by character
  std::vector<std::string> closes_;  // of each pair
  SpanTree spans_;
};

}  // namespace lorekeep::lm
