// The tokenizer of SentencePiece's unigram models (Kudo 2018), such as XLM-RoBERTa's: the text is normalised by the
// model's map of characters, blanks become U+2581, and of all ways to spell the text by pieces the most probable one is
// taken. Internal to native/engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"
#include "engine/character_map.h"
#include "engine/piece_index.h"

namespace lorekeep::engine {

struct UnigramOptions {
  bool blank_first = false;   // a blank before each text
  bool merge_blanks = false;  // several blanks are one, and none ends a text
  std::int32_t unknown = 0;   // the token of characters that no piece spells
  float unknown_score = 0;
};

/// Thread-safe.
class Unigram {
 public:
  /// `verbatim`: pieces that are taken as they are written, before the text is normalised.
  Unigram(CharacterMap map, std::span<const Piece> pieces, std::span<const Piece> verbatim,
          const UnigramOptions& options);

  /// Returns the tokens without special ones. Ill-formed UTF-8 is read as U+FFFD. Time is proportional to the text's
  /// length. Polls `cancel` every kBlock bytes. Stops soon after more than `most` tokens. Throws Error(kModelInvalid)
  /// for a damaged map of characters.
  std::vector<std::int32_t> tokenize(std::string_view utf8, const CancelToken* cancel = nullptr,
                                     std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  static constexpr std::size_t kBlock = 4096;

  /// Returns the text that the pieces spell.
  std::string normalized(std::string_view utf8) const;

 private:
  friend class UnigramLattice;
  friend class UnigramNormalizer;

  CharacterMap map_;
  PieceIndex pieces_;
  PieceIndex verbatim_;
  UnigramOptions options_;
};

}  // namespace lorekeep::engine
