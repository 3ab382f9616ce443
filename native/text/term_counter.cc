#include "text/term_counter.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "core/values/prefetch.h"
#include "core/values/seeded_hash.h"
#include "text/bm25.h"

namespace lorekeep::text {
namespace {

/// Bits of a slot for the number of a part + 1.
constexpr int kNumberBits = 20;
constexpr std::uint32_t kNumberMask = (std::uint32_t{1} << kNumberBits) - 1;

constexpr std::size_t kBlockBytes = 64;

/// Returns a bit per byte: whether the text may be divided there. `kKnown`: `size`, if it is known.
template <std::size_t kKnown>
std::uint64_t bits_of(const char* bytes, std::size_t size, const Dividers& dividers) noexcept {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < (kKnown > 0 ? kKnown : size); ++i) {
    bits |= std::uint64_t{dividers[static_cast<std::uint8_t>(bytes[i])]} << i;
  }
  return bits;
}

}  // namespace

TermCounter::TermCounter(Tokenizer tokenizer, const CancelToken* cancel)
    : tokenizer_(tokenizer),
      cancel_(cancel),
      dividers_(dividers_of(tokenizer)),
      terms_(cancel),
      slots_(kFirstSlots),
      visit_([this](std::string_view token, TokenKind kind) {
        words_ += kind == TokenKind::kWord;
        take(token);
      }),
      scanner_(visit_, cancel) {}

std::uint64_t TermCounter::count(std::string_view text) {
  if (parts_.size() >= kMostParts) forget_parts();
  ++text_number_;
  counts_.clear();
  found_.clear();
  words_ = 0;
  find_parts(text);
  count_wanted();
  find_tokens();
  add_parts();
  return words_;
}

void TermCounter::restart() noexcept {
  for (const std::uint32_t term : found_terms_) tallies_[term].texts = 0;
  found_terms_.clear();
}

/// Divides the text.
void TermCounter::find_parts(std::string_view text) {
  const char* const end = text.data() + text.size();
  const char* poll = text.data();
  const char* begin = nullptr;  // of the part that goes on
  for (const char* block = text.data(); block < end; block += kBlockBytes) {
    if (cancel_ != nullptr && block >= poll) {
      cancel_->check();
      poll = block + std::min<std::ptrdiff_t>(kTextBytesPerPoll, end - block);
    }
    const auto size = static_cast<std::size_t>(std::min<std::ptrdiff_t>(kBlockBytes, end - block));
    const std::uint64_t dividers =
        size == kBlockBytes ? bits_of<kBlockBytes>(block, kBlockBytes, dividers_) : bits_of<0>(block, size, dividers_);
    for (std::size_t at = 0; at < size;) {
      const std::uint64_t rest = (begin == nullptr ? ~dividers : dividers) >> at;
      at += static_cast<std::size_t>(std::countr_zero(rest));
      if (rest == 0 || at >= size) break;
      if (begin == nullptr) {
        begin = block + at;
      } else {
        want(std::exchange(begin, nullptr), block + at, end);
      }
    }
  }
  if (begin != nullptr) want(begin, end, end);
}

/// Looks a part up, soon.
void TermCounter::want(const char* begin, const char* end, const char* text_end) {
  while (end - begin > 1 && end[-1] == '.') --end;  // joins nothing to the word
  const auto size = static_cast<std::size_t>(end - begin);
  if (size > kMaxPartBytes) return read({begin, size});
  Wanted& wanted = wanted_[wanted_count_++];
  wanted.begin = begin;
  wanted.size = size;
  if (size <= ShortKey::kMaxBytes) {
    const bool more = text_end - begin >= static_cast<std::ptrdiff_t>(ShortKey::kMaxBytes);
    wanted.key = more ? short_key_before_more(begin, size) : short_key({begin, size});
    wanted.hash = seeds_.hash(wanted.key);
  } else {
    wanted.hash = seeded_hash({begin, size});
    wanted.key = {wanted.hash, 0};
  }
  prefetch(&slots_[wanted.hash & (slots_.size() - 1)]);
  if (wanted_count_ == kBatch) count_wanted();
}

void TermCounter::count_wanted() {
  const auto wanted = std::span(wanted_).first(std::exchange(wanted_count_, 0));
  for (const Wanted& each : wanted) {
    const std::uint32_t number = slots_[each.hash & (slots_.size() - 1)] & kNumberMask;
    if (number != 0) prefetch(&parts_[number - 1]);
  }
  for (const Wanted& each : wanted) count_part(each);
}

void TermCounter::count_part(const Wanted& wanted) {
  const auto tag = static_cast<std::uint32_t>(wanted.hash >> 32) & ~kNumberMask;
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = wanted.hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    if ((slots_[slot] & ~kNumberMask) != tag) continue;
    const std::uint32_t number = (slots_[slot] & kNumberMask) - 1;
    Part& known = parts_[number];
    if (!is_part(known, wanted)) continue;
    if (known.text_number != text_number_) {
      known.text_number = text_number_;
      known.occurrences = 0;
      found_.push_back(number);
      prefetch(part_tokens_.data() + known.first_token);
    }
    ++known.occurrences;
    return;
  }
  if (parts_.size() >= kMostParts) return read({wanted.begin, wanted.size});
  remember(slot, wanted);
}

bool TermCounter::is_part(const Part& part, const Wanted& wanted) const noexcept {
  if (part.size != wanted.size || part.key.low != wanted.key.low) return false;
  if (wanted.size <= ShortKey::kMaxBytes) return part.key.high == wanted.key.high;
  return std::memcmp(long_parts_.data() + part.key.high, wanted.begin, wanted.size) == 0;
}

/// Reads a part whose tokens are not known, and remembers them.
void TermCounter::remember(std::size_t slot, const Wanted& wanted) {
  const std::string_view text(wanted.begin, wanted.size);
  const std::uint64_t words = words_;
  const std::size_t first = part_tokens_.size();
  remembers_ = true;
  read(text);
  remembers_ = false;
  const auto number = static_cast<std::uint32_t>(parts_.size());
  Part part{wanted.key, text_number_, 1, static_cast<std::uint32_t>(first), 0, 0, 0};
  part.size = static_cast<std::uint8_t>(text.size());
  part.words = static_cast<std::uint32_t>(words_ - words) & 0xFFF;
  part.tokens = static_cast<std::uint32_t>(part_tokens_.size() - first) & 0xFFF;
  words_ = words;
  if (text.size() > ShortKey::kMaxBytes) {
    part.key.high = long_parts_.size();
    long_parts_ += text;
  }
  parts_.push_back(part);
  found_.push_back(number);
  slots_[slot] = (static_cast<std::uint32_t>(wanted.hash >> 32) & ~kNumberMask) | (number + 1);
  if (parts_.size() * 2 > slots_.size()) grow();
}

/// Calls visit_ for the tokens of a part.
void TermCounter::read(std::string_view part) {
  if (tokenizer_ == Tokenizer::kMultilingual) return scanner_.scan(part);
  TokenStream tokens(part, tokenizer_, cancel_);
  for (std::string_view token; tokens.next(token);) visit_(token, TokenKind::kWord);
}

/// Looks a token up, soon.
void TermCounter::take(std::string_view token) {
  Token& taken = tokens_.emplace_back();
  taken.lookup = terms_.begin(token);
  taken.begin = static_cast<std::uint32_t>(token_bytes_.size());
  taken.size = static_cast<std::uint32_t>(token.size());
  taken.place = kNoPlace;
  token_bytes_ += token;
  if (remembers_) {
    taken.place = static_cast<std::uint32_t>(part_tokens_.size());
    part_tokens_.push_back(0);
  }
  if (tokens_.size() == kBatch) find_tokens();
}

void TermCounter::find_tokens() {
  for (const Token& token : tokens_) terms_.fetch(token.lookup);
  for (const Token& token : tokens_) {
    const std::string_view text = std::string_view(token_bytes_).substr(token.begin, token.size);
    const std::uint32_t term = terms_.find_or_add(token.lookup, text);
    if (token.place == kNoPlace) {
      found_tokens_.push_back({term, 1});
      if (term < tallies_.size()) prefetch(&tallies_[term]);
    } else {
      part_tokens_[token.place] = term;
    }
  }
  tokens_.clear();
  token_bytes_.clear();
  add_tokens();
}

/// Adds the tokens of the parts of the text.
void TermCounter::add_parts() {
  tallies_.resize(terms_.size());
  for (const std::uint32_t number : found_) {
    const Part& part = parts_[number];
    words_ += std::uint64_t{part.words} * part.occurrences;
    for (std::uint32_t i = 0; i < part.tokens; ++i) {
      const std::uint32_t term = part_tokens_[part.first_token + i];
      prefetch(&tallies_[term]);
      found_tokens_.push_back({term, part.occurrences});
    }
  }
  add_tokens();
}

void TermCounter::add_tokens() {
  tallies_.resize(terms_.size());
  for (const auto [term, occurrences] : found_tokens_) add(term, occurrences);
  found_tokens_.clear();
}

void TermCounter::add(std::uint32_t term, std::uint32_t occurrences) {
  Tally& tally = tallies_[term];
  if (tally.text_number != text_number_) {
    tally.text_number = text_number_;
    tally.place = static_cast<std::uint32_t>(counts_.size());
    if (tally.texts++ == 0) found_terms_.push_back(term);
    counts_.push_back({term, 0});
  }
  std::uint32_t& frequency = counts_[tally.place].frequency;
  frequency += std::min(occurrences, kMaxTermFrequency - frequency);
}

void TermCounter::grow() {
  std::vector<std::uint32_t> larger(slots_.size() * 2);
  const std::size_t mask = larger.size() - 1;
  for (const std::uint32_t slot : slots_) {
    if (slot == 0) continue;
    const Part& part = parts_[(slot & kNumberMask) - 1];
    const bool is_short = part.size <= ShortKey::kMaxBytes;
    std::size_t i = (is_short ? seeds_.hash(part.key) : part.key.low) & mask;
    while (larger[i] != 0) i = (i + 1) & mask;
    larger[i] = slot;
  }
  slots_ = std::move(larger);
}

/// Makes room for the parts of texts to come.
void TermCounter::forget_parts() {
  std::fill(slots_.begin(), slots_.end(), 0);
  parts_.clear();
  long_parts_.clear();
  part_tokens_.clear();
}

}  // namespace lorekeep::text
