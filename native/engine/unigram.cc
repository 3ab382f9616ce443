#include "engine/unigram.h"

#include <algorithm>
#include <cfloat>
#include <utility>

#include "core/values/utf8.h"

namespace lorekeep::engine {
namespace {

constexpr std::string_view kBlank = "\xe2\x96\x81";  // U+2581

/// Returns the bytes of the character that a byte begins.
std::size_t character_bytes(char first) noexcept {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace

/// Normalises a text block by block.
class UnigramNormalizer {
 public:
  UnigramNormalizer(const Unigram& unigram, std::string_view text) : unigram_(unigram), rest_(text) {}

  bool done() const noexcept { return rest_.empty(); }

  /// Appends some more of the text.
  void append_block(std::string& to) {
    const std::size_t end = rest_.size() > Unigram::kBlock ? rest_.size() - Unigram::kBlock : 0;
    while (rest_.size() > end) {
      std::size_t bytes = 0;
      const std::string_view normal = next(bytes);
      for (const char byte : normal) append(byte, to);
      rest_.remove_prefix(bytes);
    }
  }

 private:
  /// Returns the normal form of the first characters of the rest. `bytes`: of these characters.
  std::string_view next(std::size_t& bytes) const {
    unigram_.verbatim_.for_each_prefix(
        rest_, [&bytes](std::size_t found, std::int32_t, float) { bytes = std::max(bytes, found); });
    if (bytes > 0) return rest_.substr(0, bytes);
    const CharacterMap::Mapped mapped = unigram_.map_.longest(rest_);
    bytes = mapped.bytes;
    if (bytes > 0) return mapped.text;
    bytes = std::min(rest_.size(), character_bytes(rest_.front()));
    return rest_.substr(0, bytes);
  }

  void append(char byte, std::string& to) {
    const UnigramOptions& options = unigram_.options_;
    if (byte == ' ') {
      in_word_ = false;
      if (!options.merge_blanks) to += kBlank;
      return;
    }
    if (!in_word_) {
      in_word_ = true;
      if (options.merge_blanks || (options.blank_first && !began_)) to += kBlank;
      began_ = true;
    }
    to += byte;
  }

  const Unigram& unigram_;
  std::string_view rest_;
  bool in_word_ = false;
  bool began_ = false;
};

/// The best spelling of a text that grows (Viterbi 1967). Where no piece crosses a place, the spelling before it is
/// final.
class UnigramLattice {
 public:
  explicit UnigramLattice(const Unigram& unigram)
      : unigram_(unigram), ahead_(std::max(unigram.pieces_.longest(), kMaxUtf8Bytes)) {}

  /// The text, to be appended to.
  std::string& text() noexcept { return text_; }
  const std::vector<std::int32_t>& tokens() const noexcept { return tokens_; }
  std::vector<std::int32_t> take_tokens() noexcept { return std::move(tokens_); }

  /// Goes on as far as the text decides; `last`: to its end.
  void advance(bool last) {
    ways_.resize(text_.size() + 1);
    while (at_ < text_.size() && (last || at_ + ahead_ <= text_.size())) {
      if (at_ == reach_) settle();
      step();
    }
    if (last && at_ > begin_) settle();
    if (begin_ < kKept) return;
    text_.erase(0, begin_);
    ways_.erase(ways_.begin(), ways_.begin() + static_cast<std::ptrdiff_t>(begin_));
    at_ -= begin_;
    reach_ -= begin_;
    begin_ = 0;
  }

 private:
  static constexpr std::size_t kKept = 4 * Unigram::kBlock;  // bytes of settled text
  /// The best spelling from begin_ to a place.
  struct Way {
    double score = -DBL_MAX;
    std::size_t bytes = 0;  // of its last piece
    std::int32_t token = 0;
  };

  void step() {
    const std::string_view rest = std::string_view(text_).substr(at_);
    const std::size_t character = std::min(character_bytes(rest.front()), rest.size());
    const double score = at_ == begin_ ? 0 : ways_[at_].score;
    bool spelled = false;
    unigram_.pieces_.for_each_prefix(rest, [&](std::size_t bytes, std::int32_t token, float piece_score) {
      spelled = spelled || bytes == character;
      offer(bytes, token, score + piece_score);
    });
    if (!spelled) offer(character, unigram_.options_.unknown, score + unigram_.options_.unknown_score);
    at_ += character;
  }

  void offer(std::size_t bytes, std::int32_t token, double score) {
    Way& way = ways_[at_ + bytes];
    if (score > way.score) way = {score, bytes, token};
    reach_ = std::max(reach_, at_ + bytes);
  }

  /// Appends the tokens up to the current place. Several unknown ones in a row are one.
  void settle() {
    if (at_ == begin_) return;
    const std::size_t before = tokens_.size();
    for (std::size_t place = at_; place > begin_; place -= ways_[place].bytes) tokens_.push_back(ways_[place].token);
    std::reverse(tokens_.begin() + static_cast<std::ptrdiff_t>(before), tokens_.end());
    const std::int32_t unknown = unigram_.options_.unknown;
    const auto first = tokens_.begin() + static_cast<std::ptrdiff_t>(before == 0 ? 0 : before - 1);
    const auto same = [unknown](std::int32_t a, std::int32_t b) { return a == unknown && b == unknown; };
    tokens_.erase(std::unique(first, tokens_.end(), same), tokens_.end());
    begin_ = at_;
  }

  const Unigram& unigram_;
  const std::size_t ahead_;  // bytes that decide which pieces begin at a place
  std::string text_;
  std::vector<Way> ways_;
  std::vector<std::int32_t> tokens_;
  std::size_t begin_ = 0;
  std::size_t at_ = 0;
  std::size_t reach_ = 0;  // end of the farthest piece
};

Unigram::Unigram(CharacterMap map, std::span<const Piece> pieces, std::span<const Piece> verbatim,
                 const UnigramOptions& options)
    : map_(std::move(map)), pieces_(pieces), verbatim_(verbatim), options_(options) {}

std::vector<std::int32_t> Unigram::tokenize(std::string_view utf8, const CancelToken* cancel, std::size_t most) const {
  const std::string repaired = is_valid_utf8(utf8) ? std::string() : repair_utf8(utf8);
  UnigramNormalizer normalizer(*this, repaired.empty() ? utf8 : repaired);
  UnigramLattice lattice(*this);
  while (!normalizer.done()) {
    if (cancel != nullptr) cancel->check();
    normalizer.append_block(lattice.text());
    lattice.advance(normalizer.done());
    if (lattice.tokens().size() > most) break;
  }
  return lattice.take_tokens();
}

std::string Unigram::normalized(std::string_view utf8) const {
  const std::string repaired = is_valid_utf8(utf8) ? std::string() : repair_utf8(utf8);
  UnigramNormalizer normalizer(*this, repaired.empty() ? utf8 : repaired);
  std::string text;
  while (!normalizer.done()) normalizer.append_block(text);
  return text;
}

}  // namespace lorekeep::engine
