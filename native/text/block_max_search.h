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

/// One search; not reusable.
class BlockMaxSearch {
 public:
  /// `terms` in the order of bm25.h, none absent from the index; 1 <= k; `filter` and `cancel` may be null.
  /// `norm`: of the collection that the index is a part of.
  BlockMaxSearch(const IndexData& data, const Bm25Norm& norm, std::span<const QueryTermPostings> terms, std::size_t k,
                 const Bitmap* filter, const CancelToken* cancel);

  std::vector<Scored> run();

  std::uint32_t blocks_scored() const noexcept { return blocks_scored_; }
  std::uint64_t documents_scored() const noexcept { return documents_scored_; }

 private:
  static_assert(kBlockDocuments == 64, "a block's documents are the bits of one word, as in Bitmap");

  void add_bounds();
  float bound_of_best(std::size_t superblocks) const;
  void score_blocks_from(float bound);
  std::vector<std::uint32_t> promising_blocks(float bound) const;
  void score_block(std::uint32_t block);
  void locate(std::uint32_t block);
  std::uint64_t survivors(std::uint64_t candidates, std::uint64_t touched, float rest) const noexcept;
  void collect(std::uint32_t block, std::uint64_t documents);

  const IndexData& data_;
  std::span<const QueryTermPostings> terms_;
  std::size_t k_;
  const Bitmap* filter_;
  const CancelToken* cancel_;
  Bm25Norm norm_;
  float rounding_;

  std::vector<float> bounds_;                         // per block; 0: already scored, or without candidates
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
