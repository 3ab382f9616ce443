// Okapi BM25 as Lucene and its successors compute it:
//
//   score(query, document) = sum over the query's tokens of  idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length /
//   average)) idf = ln(1 + (N - n + 0.5) / (n + 0.5)),  N documents, n of them with the term, tf occurrences in the
//   document, length = tokens of the document, average = mean length over all documents.
//
// A term that occurs twice in the query counts twice. Scores are floats added in one fixed order, so that the index and
// the naive scorer agree to the bit: weight * fraction per term, terms from the largest weight to the smallest, equal
// weights in byte order of the terms.
#pragma once

#include <cmath>
#include <cstdint>

namespace lorekeep::text {

inline constexpr float kBm25K1 = 1.2f;
inline constexpr float kBm25B = 0.75f;

/// Occurrences beyond this many in one document do not count.
inline constexpr std::uint32_t kMaxTermFrequency = 65535;

/// The factor of a score that depends on the query and the collection: idf * (k1 + 1) * occurrences in the query.
inline float bm25_weight(std::uint64_t documents, std::uint64_t documents_with_term, std::uint32_t occurrences) {
  const double n = static_cast<double>(documents_with_term);
  const double idf = std::log1p((static_cast<double>(documents) - n + 0.5) / (n + 0.5));
  return static_cast<float>(idf * (double{kBm25K1} + 1.0) * occurrences);
}

inline float bm25_fraction(std::uint32_t frequency, float norm) noexcept {
  const float tf = static_cast<float>(frequency);
  return tf / (tf + norm);
}

/// norm = k1 * (1 - b + b * length / average) as base + slope * length.
class Bm25Norm {
 public:
  Bm25Norm() = default;
  /// `tokens` is the sum of all documents' lengths.
  Bm25Norm(std::uint64_t documents, std::uint64_t tokens)
      : slope_(tokens == 0 ? 0.0f
                           : static_cast<float>(double{kBm25K1} * double{kBm25B} * static_cast<double>(documents) /
                                                static_cast<double>(tokens))) {}

  /// The norm of a document of `length` tokens.
  float of(std::uint32_t length) const noexcept { return kBase + slope_ * static_cast<float>(length); }

  /// The norm per token.
  float slope() const noexcept { return slope_; }

  /// tf / (tf + norm): in [0, 1], rises with tf, falls with length. `frequency` is in [1, kMaxTermFrequency].
  float fraction(std::uint32_t frequency, std::uint32_t length) const noexcept {
    return bm25_fraction(frequency, of(length));
  }

 private:
  static constexpr float kBase = kBm25K1 * (1.0f - kBm25B);
  float slope_ = 0.0f;
};

}  // namespace lorekeep::text
