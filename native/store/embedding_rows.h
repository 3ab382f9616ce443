// The embeddings of records while they are made: what a cache file has is taken over, each other text is embedded once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/cancel_token.h"
#include "core/checksum.h"
#include "store/embeddings_file.h"
#include "store/records_reader.h"

namespace lorekeep::store {

/// Texts to be embedded in one go: the records that have them first.
struct EmbeddingPortion {
  std::vector<std::uint32_t> ordinals;
};

/// One row per record. Records of equal text share one embedding. Any number of threads may call it at once.
class EmbeddingRows {
 public:
  /// Every record is missing. Throws Error(kCancelled), kOutOfMemory. Grain of cancellation: 4096 records.
  EmbeddingRows(const Records& records, std::size_t dimension, const CancelToken* cancel = nullptr);

  /// Takes over every row of the file whose text a record has. Rows of cut texts only when `cut_too`. Precondition: the
  /// file has this dimension; no portion was taken yet.
  void take_over(const EmbeddingsFile& file, bool cut_too);

  /// The next texts that have no embedding: one at least while there are any, then as many as fit `bytes`.
  EmbeddingPortion next_portion(const Records& records, std::size_t bytes);
  /// The embeddings of a portion, or of a part of it: row i of `vectors` (dimension() each) is of record ordinals[i].
  /// `cut`: ascending positions in `ordinals` of texts of which only the beginning was embedded.
  void fill(std::span<const std::uint32_t> ordinals, std::span<const float> vectors,
            std::span<const std::uint32_t> cut);

  std::size_t size() const noexcept { return digests_.size(); }
  std::size_t dimension() const noexcept { return dimension_; }
  /// Different texts without an embedding.
  std::size_t missing() const;
  /// Records whose embedding was taken over.
  std::size_t reused() const;
  /// Records of whose text only the beginning was embedded.
  std::size_t cut() const;

  /// Writes every embedding that there is, once per text. Throws as write_embeddings().
  void save(const std::filesystem::path& path, const Digest& key, const CancelToken* cancel,
            const FileOwner* owner = nullptr) const;

  /// The rows, which are given up: what was not filled is zero. Nothing else may be called afterwards.
  std::vector<float> take();

 private:
  enum class State : std::uint8_t { kMissing, kWhole, kCut };

  std::span<float> row(std::size_t ordinal) noexcept;

  std::size_t dimension_;
  std::vector<Digest> digests_;       // of the texts
  std::vector<std::uint32_t> order_;  // ordinals by digest, then by ordinal: records of equal text are neighbours
  mutable std::mutex mutex_;          // guards what follows
  std::vector<State> states_;
  std::vector<float> rows_;
  std::size_t reused_ = 0;
  std::vector<std::uint32_t> queue_;  // first record of each different text without an embedding, ascending
  bool queued_ = false;
  std::size_t next_ = 0;  // in queue_
};

}  // namespace lorekeep::store
