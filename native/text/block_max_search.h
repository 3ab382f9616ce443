// Exact top-k by block-max pruning (Mallia, Suel, Tonellotto 2024). Adding up the block maxima of the query's terms
// gives an upper bound per block of kBlockDocuments documents. Blocks are scored from the highest bound down until no
// bound reaches the k-th best score. Inside a block, terms are scored from the heaviest to the lightest, and only for
// documents that can still enter the top k.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/threads/cancel_token.h"
#include "core/values/bitmap.h"
#include "core/values/top_k.h"
#include "text/index_data.h"
#include "text/query_term_postings.h"

namespace lorekeep::text {

/// An index of a collection, as a search reads it.
struct SearchedIndex {
  const IndexData& data;
  std::span<const QueryTermPostings> terms;  // in the order of bm25.h, none absent from the index
  const Bitmap* filter = nullptr;            // candidates; null: all documents
  std::uint32_t first = 0;                   // row of the first document, a multiple of kBlockDocuments
};

/// One search of all indexes of a collection; not reusable. Blocks of all indexes are ranked together, so several
/// indexes cost about as much as one of all documents.
class BlockMaxSearch {
 public:
  /// `indexes`: at least one, in the order of rows; 1 <= k; `cancel` may be null. `norm`: of the collection.
  BlockMaxSearch(std::span<const SearchedIndex> indexes, const Bm25Norm& norm, std::size_t k,
                 const CancelToken* cancel);

  /// Returns rows of the collection.
  std::vector<Scored> run();

  std::uint32_t blocks_scored() const noexcept { return blocks_scored_; }
  std::uint64_t documents_scored() const noexcept { return documents_scored_; }

 private:
  static_assert(kBlockDocuments == 64, "a block's documents are the bits of one word, as in Bitmap");

  void add_bounds();
  const SearchedIndex& index_of(std::uint32_t block) const noexcept;
  float bound_of_best(std::size_t superblocks) const;
  void score_blocks_from(float bound);
  std::vector<std::uint32_t> promising_blocks(float bound) const;
  void score_block(std::uint32_t block);
  void locate(std::uint32_t block);
  std::uint64_t survivors(std::uint64_t candidates, std::uint64_t touched, float rest) const noexcept;
  void collect(std::uint32_t block, std::uint64_t documents);

  std::span<const SearchedIndex> indexes_;
  std::size_t k_;
  const CancelToken* cancel_;
  Bm25Norm norm_;
  float rounding_;

  std::vector<float> bounds_;                         // per block of rows; 0: already scored, or without candidates
  std::vector<QueryTermPostings::Body> bodies_;       // of the block being scored, one per term
  std::vector<QueryTermPostings::Body> next_bodies_;  // of the block after it
  std::vector<float> rests_;  // upper bound of the sum of terms t, t+1, ... in the block being scored
  float scores_[kBlockDocuments];
  TopK<HighestFirst> best_;
  float floor_ = 0.0f;  // a lower score cannot enter the top k
  std::uint32_t blocks_scored_ = 0;
  std::uint64_t documents_scored_ = 0;
};

}  // namespace lorekeep::text
