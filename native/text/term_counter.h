// Counts the terms of texts, one text after another. Most parts of a text (words with the signs on them) occurred
// before: their tokens are remembered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"
#include "text/short_key.h"
#include "text/term_table.h"
#include "text/tokenizer.h"

namespace lorekeep::text {

class TermCounter {
 public:
  struct Count {
    std::uint32_t term;       // in terms()
    std::uint32_t frequency;  // at most kMaxTermFrequency
  };

  /// `cancel` may be null. Grain of cancellation: 64 KiB of a text, 65,536 terms.
  TermCounter(Tokenizer tokenizer, const CancelToken* cancel);
  TermCounter(const TermCounter&) = delete;
  TermCounter& operator=(const TermCounter&) = delete;

  /// Counts the tokens of a text. Returns its length in tokens. Throws as CancelToken::check(); the counter is of no
  /// use then.
  std::uint64_t count(std::string_view text);
  /// The distinct terms of the last text.
  std::span<const Count> counts() const noexcept { return counts_; }

  const TermTable& terms() const noexcept { return terms_; }
  /// The distinct terms of all texts since the last restart().
  std::span<const std::uint32_t> found_terms() const noexcept { return found_terms_; }
  /// Returns how many of these texts have the term.
  std::uint32_t texts_with(std::uint32_t term) const noexcept { return tallies_[term].texts; }
  /// Begins to count texts anew. Terms keep their numbers.
  void restart() noexcept;

 private:
  static constexpr std::size_t kMaxPartBytes = 64;
  /// Parts that are remembered at a time.
  static constexpr std::uint32_t kMostParts = std::uint32_t{1} << 19;
  static constexpr std::size_t kFirstSlots = std::size_t{1} << 10;
  /// Parts that are looked up at a time, so that their places in memory are fetched together.
  static constexpr std::size_t kBatch = 64;

  struct Wanted {
    const char* begin;
    std::size_t size;
    ShortKey key;  // of long parts: the hash
    std::uint64_t hash;
  };
  /// A part that was read before.
  struct Part {
    ShortKey key;               // of long parts: the hash, and the place in long_parts_
    std::uint32_t text_number;  // of the last text with the part, ...
    std::uint32_t occurrences;  // ... and its occurrences there
    std::uint32_t first_token;  // in part_tokens_
    std::uint32_t size : 8;     // in bytes
    std::uint32_t words : 12;   // a byte folds to at most 6 code points
    std::uint32_t tokens : 12;
  };
  static_assert(sizeof(Part) == 32);

  struct Tally {
    std::uint32_t text_number = 0;  // of the last text with the term, ...
    std::uint32_t place = 0;        // ... and its place in counts_
    std::uint32_t texts = 0;        // with the term
  };

  /// A token that was read and is looked up.
  struct Token {
    TermTable::Lookup lookup;
    std::uint32_t begin;  // in token_bytes_
    std::uint32_t size;
    std::uint32_t place;  // in part_tokens_; kNoPlace: of a part that is not remembered
  };
  static constexpr std::uint32_t kNoPlace = ~std::uint32_t{0};

  void find_parts(std::string_view text);
  void want(const char* begin, const char* end, const char* text_end);
  void count_wanted();
  void count_part(const Wanted& wanted);
  void add_parts();
  void add_tokens();
  bool is_part(const Part& part, const Wanted& wanted) const noexcept;
  void remember(std::size_t slot, const Wanted& wanted);
  void read(std::string_view part);
  void take(std::string_view token);
  void find_tokens();
  void add(std::uint32_t term, std::uint32_t occurrences);
  void grow();
  void forget_parts();

  const Tokenizer tokenizer_;
  const CancelToken* const cancel_;
  const Dividers& dividers_;
  const KeySeeds seeds_;
  TermTable terms_;
  std::uint32_t text_number_ = 0;
  std::vector<Tally> tallies_;  // by term
  std::vector<Count> counts_;
  std::vector<std::uint32_t> found_terms_;

  // A power of two, at most half full: number of a part + 1, and bits of its hash above; 0: free.
  std::vector<std::uint32_t> slots_;
  std::vector<Part> parts_;
  std::string long_parts_;
  std::vector<std::uint32_t> part_tokens_;
  std::vector<std::uint32_t> found_;  // parts of the text
  std::vector<Count> found_tokens_;   // to be added
  Wanted wanted_[kBatch];
  std::size_t wanted_count_ = 0;

  bool remembers_ = false;   // whether the tokens that are read go into part_tokens_
  std::uint64_t words_ = 0;  // that were read
  std::vector<Token> tokens_;
  std::string token_bytes_;
  const TokenVisitor visit_;
  MultilingualScanner scanner_;
};

}  // namespace lorekeep::text
