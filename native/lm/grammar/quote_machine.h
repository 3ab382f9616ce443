// Follows quotations byte by byte: between the marks only spans of the texts are possible. Internal to native/lm.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/utf8.h"
#include "lm/grammar/constraint.h"

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
    bool any = false;           // inside: nothing was read yet, so the span may begin at any word
    std::shared_ptr<const std::vector<std::uint32_t>> places;  // inside: ends of the span in text_
  };

  /// Throws as check_quotes() does.
  explicit QuoteMachine(const QuoteRule& rule);

  State start() const { return {}; }
  bool step(const State& from, std::uint8_t byte, State& to) const;
  bool may_end(const State& state) const noexcept { return !state.inside; }

 private:
  struct Mark {
    char32_t character;
    std::uint32_t opens;  // bit i is set if it opens pair i
    bool apostrophe;

    static bool is_below(const Mark& mark, char32_t character) noexcept { return mark.character < character; }
  };

  const Mark* find(char32_t character) const noexcept;
  void add_text(std::string_view text);
  bool step_outside(const State& from, char byte, State& to) const;
  bool take(char32_t character, State& state) const;
  bool step_inside(const State& from, char byte, State& to) const;
  bool may_close(const State& state) const;

  std::vector<Mark> marks_;          // by character
  std::vector<std::string> closes_;  // of each pair
  std::string text_;                 // texts without marks, each part followed by a byte that UTF-8 does not have
  std::vector<bool> begins_at_;      // whether a span may begin at text_[i]
  std::vector<bool> ends_;           // whether a span may end before text_[i]
  std::shared_ptr<const std::vector<std::uint32_t>> begins_;  // offsets where a span may begin
};

}  // namespace lorekeep::lm
