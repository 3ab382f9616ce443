// Collects the embeddings of records: takes embeddings from a cache file, and hands out each other text once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/threads/cancel_token.h"
#include "core/values/checksum.h"
#include "store/embeddings_file.h"
#include "store/records_reader.h"

namespace lorekeep::store {

/// Distinct texts to embed together, each given by the first record with it.
struct EmbeddingPortion {
  std::vector<std::uint32_t> ordinals;
};

/// One row per record. Records with equal texts share one embedding. Thread-safe.
class EmbeddingRows {
 public:
  /// Starts with every embedding missing. `key`: of the cache files. Throws Error(kCancelled), kOutOfMemory. Grain of
  /// cancellation: 4096 records.
  EmbeddingRows(const Records& records, std::size_t dimension, const Digest& key, const CancelToken* cancel = nullptr);

  /// Takes over the rows of a cache file for texts of the records that have none; rows of truncated texts only if
  /// `truncated_too`. A file that cannot be used is no error: refusal() then says why. Precondition: no portion was
  /// taken yet. Throws Error(kCancelled), kOutOfMemory.
  void take_over(const std::filesystem::path& path, bool truncated_too, const CancelToken* cancel = nullptr);
  /// Like take_over(), for further files: refusal() says nothing about them.
  void take_more(std::span<const std::filesystem::path> paths, bool truncated_too, const CancelToken* cancel = nullptr);
  /// Why the cache file was not used; empty if it was, or if there was none to use.
  const std::string& refusal() const noexcept { return refusal_; }

  /// Returns the next texts without an embedding, as many as fit `bytes`, but at least one if any are left.
  EmbeddingPortion next_portion(const Records& records, std::size_t bytes);
  /// Stores the embeddings of a portion: row i of `vectors` (dimension() each) is of record ordinals[i]. `truncated`,
  /// `failed`: ascending positions in `ordinals` of truncated texts and of texts without an embedding.
  void fill(std::span<const std::uint32_t> ordinals, std::span<const float> vectors,
            std::span<const std::uint32_t> truncated = {}, std::span<const std::uint32_t> failed = {});

  std::size_t size() const noexcept { return digests_.size(); }
  std::size_t dimension() const noexcept { return dimension_; }
  /// Number of distinct texts without an embedding.
  std::size_t missing() const;
  /// Number of records with an embedding from the file.
  std::size_t reused() const;
  /// Number of records whose text was truncated before embedding.
  std::size_t truncated() const;

  /// Writes the available embeddings to a cache file, once per text. Throws as write_embeddings().
  void save(const std::filesystem::path& path, const CancelToken* cancel, const FileOwner* owner = nullptr) const;

  /// Writes the rows of other cache files whose texts no record has to a file, and returns their number. Writes nothing
  /// for none. Throws as write_embeddings().
  std::size_t save_others(const std::filesystem::path& path, std::span<const std::filesystem::path> files,
                          const CancelToken* cancel, const FileOwner* owner = nullptr) const;

  /// Moves the rows out; missing rows are zero. Nothing else may be called afterwards.
  std::vector<float> take();

 private:
  enum class State : std::uint8_t { kMissing, kWhole, kTruncated };

  void take_rows(const EmbeddingsFile& file, bool truncated_too);
  std::span<float> row(std::size_t ordinal) noexcept;

  std::size_t dimension_;
  Digest key_;
  std::string refusal_;
  std::vector<Digest> digests_;       // of the texts
  std::vector<std::uint32_t> order_;  // ordinals sorted by digest, then ordinal: records with equal texts are adjacent
  mutable std::mutex mutex_;          // guards the members below
  std::vector<State> states_;
  std::vector<float> rows_;
  std::size_t reused_ = 0;
  std::vector<std::uint32_t> queue_;  // first record of each distinct text without an embedding, ascending
  bool queued_ = false;
  std::size_t next_ = 0;  // in queue_
};

}  // namespace lorekeep::store
