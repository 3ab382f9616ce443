#include "text/block_max_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include "core/values/prefetch.h"

namespace lorekeep::text {
namespace {

// Blocks are ranked in groups of this many, by the group's largest bound: at least n blocks reach the n-th best one.
constexpr std::size_t kSuperblock = 16;
// Groups scored first, to raise the k-th best score before the other blocks are pruned.
constexpr std::size_t kFirstBlocks = 24;
constexpr std::size_t kHitsPerFirstBlock = 4;
constexpr std::size_t kRoundGrowth = 4;
constexpr std::uint32_t kBlocksPerCancelCheck = 64;
constexpr std::size_t kBands = 128;

// The fraction by which pruning lowers the score to reach: sums of n floats in different orders differ by less than n
// rounding steps of the total.
float rounding_allowance(std::size_t terms) {
  return static_cast<float>(terms + 8) * 0x1p-22f;
}

constexpr std::size_t kLengthsPerCacheLine = 64 / sizeof(std::uint32_t);

}  // namespace

BlockMaxSearch::BlockMaxSearch(std::span<const SearchedIndex> indexes, const Bm25Norm& norm, std::size_t k,
                               const CancelToken* cancel)
    : indexes_(indexes),
      k_(k),
      cancel_(cancel),
      norm_(norm),
      bounds_(indexes.back().first / kBlockDocuments + indexes.back().data.blocks()),
      best_(k) {
  std::size_t terms = 0;
  for (const SearchedIndex& index : indexes_) terms = std::max(terms, index.terms.size());
  rounding_ = rounding_allowance(terms);
  bodies_.resize(terms);
  next_bodies_.resize(terms);
  rests_.resize(terms + 1);
}

std::vector<Scored> BlockMaxSearch::run() {
  add_bounds();
  std::size_t superblocks = std::max(kFirstBlocks, k_ / kHitsPerFirstBlock);
  for (float bound = bound_of_best(superblocks); bound > 0.0f; bound = bound_of_best(superblocks)) {
    score_blocks_from(bound);
    if (best_.full()) break;
    superblocks *= kRoundGrowth;
  }
  if (best_.full()) score_blocks_from(floor_);
  return best_.take_sorted();
}

void BlockMaxSearch::add_bounds() {
  for (const SearchedIndex& index : indexes_) {
    const auto bounds = std::span(bounds_).subspan(index.first / kBlockDocuments, index.data.blocks());
    for (const QueryTermPostings& term : index.terms) {
      if (cancel_ != nullptr) cancel_->check();
      term.add_bounds(bounds);
    }
    if (index.filter == nullptr) continue;
    const auto& words = index.filter->words();
    for (std::size_t block = 0; block < bounds.size(); ++block) {
      if (words[block] == 0) bounds[block] = 0.0f;
    }
  }
}

/// Returns the index with a block of rows. Most blocks are of the first index.
const SearchedIndex& BlockMaxSearch::index_of(std::uint32_t block) const noexcept {
  std::size_t at = 0;
  while (at + 1 < indexes_.size() && block >= indexes_[at + 1].first / kBlockDocuments) ++at;
  return indexes_[at];
}

// Returns a bound that at least `superblocks` blocks reach, or all blocks left if they are fewer; 0 if none is left.
float BlockMaxSearch::bound_of_best(std::size_t superblocks) const {
  std::vector<float> best((bounds_.size() + kSuperblock - 1) / kSuperblock);
  for (std::size_t i = 0; i < best.size(); ++i) {
    const std::size_t begin = i * kSuperblock;
    const std::size_t end = std::min(begin + kSuperblock, bounds_.size());
    float largest = 0.0f;
    for (std::size_t block = begin; block < end; ++block) largest = std::max(largest, bounds_[block]);
    best[i] = largest;
  }
  std::erase(best, 0.0f);
  if (best.empty()) return 0.0f;
  if (superblocks >= best.size()) return std::numeric_limits<float>::min();
  std::nth_element(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(superblocks - 1), best.end(),
                   std::greater<>());
  return best[superblocks - 1];
}

// Scores the blocks whose bound is at least `bound` > 0, highest bound first. Scoring one prefetches the next.
void BlockMaxSearch::score_blocks_from(float bound) {
  const std::vector<std::uint32_t> order = promising_blocks(std::max(bound, std::numeric_limits<float>::min()));
  if (!order.empty()) locate(order[0]);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (cancel_ != nullptr && i % kBlocksPerCancelCheck == 0) cancel_->check();
    std::swap(bodies_, next_bodies_);
    if (i + 1 < order.size() && bounds_[order[i + 1]] >= floor_) locate(order[i + 1]);
    if (bounds_[order[i]] < floor_) continue;
    score_block(order[i]);
    bounds_[order[i]] = 0.0f;
  }
}

// Returns the blocks whose bound is at least `bound`, nearly sorted by falling bound: a counting sort into bands.
std::vector<std::uint32_t> BlockMaxSearch::promising_blocks(float bound) const {
  std::vector<std::uint32_t> found(bounds_.size() + 1);
  std::size_t count = 0;
  float highest = bound;
  for (std::uint32_t block = 0; block < bounds_.size(); ++block) {
    found[count] = block;
    count += bounds_[block] >= bound;
    highest = std::max(highest, bounds_[block]);
  }
  const float bands_per_score = highest > bound ? static_cast<float>(kBands - 1) / (highest - bound) : 0.0f;
  const auto band_of = [&](std::uint32_t block) {
    return static_cast<std::size_t>((highest - bounds_[block]) * bands_per_score);
  };
  std::array<std::uint32_t, kBands + 2> begins{};
  for (std::size_t i = 0; i < count; ++i) ++begins[std::min(band_of(found[i]), kBands) + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<std::uint32_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[begins[std::min(band_of(found[i]), kBands)]++] = found[i];
  return order;
}

// Looks up every term's postings in the block, into next_bodies_, and prefetches them.
void BlockMaxSearch::locate(std::uint32_t block) {
  const SearchedIndex& index = index_of(block);
  const std::uint32_t own = block - index.first / kBlockDocuments;
  for (std::size_t t = 0; t < index.terms.size(); ++t) {
    next_bodies_[t] = index.terms[t].find(own);
    prefetch(next_bodies_[t].data);
  }
  const std::size_t first = std::size_t{own} * kBlockDocuments;
  const std::size_t end = std::min<std::size_t>(first + kBlockDocuments, index.data.documents);
  for (std::size_t i = first; i < end; i += kLengthsPerCacheLine) prefetch(&index.data.lengths[i]);
}

// Precondition: bodies_ holds the block's postings.
void BlockMaxSearch::score_block(std::uint32_t block) {
  ++blocks_scored_;
  const SearchedIndex& index = index_of(block);
  const std::uint32_t own = block - index.first / kBlockDocuments;
  const auto terms = index.terms;
  rests_[terms.size()] = 0.0f;
  for (std::size_t t = terms.size(); t-- > 0;) rests_[t] = rests_[t + 1] + bodies_[t].bound;
  const std::uint32_t* lengths = index.data.lengths.data() + std::size_t{own} * kBlockDocuments;
  std::uint64_t candidates = index.filter == nullptr ? ~std::uint64_t{0} : index.filter->words()[own];
  std::uint64_t touched = 0;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    if (bodies_[t].size == 0) continue;
    if (rests_[t] < floor_) {
      candidates = survivors(candidates, touched, rests_[t]);
      if (candidates == 0) break;
    }
    const float weight = terms[t].weight();
    for_each_posting(bodies_[t].data, bodies_[t].size, [&](std::uint32_t local, std::uint32_t frequency) {
      const std::uint64_t bit = std::uint64_t{1} << local;
      if ((candidates & bit) == 0) return;
      const float before = (touched & bit) != 0 ? scores_[local] : 0.0f;
      scores_[local] = before + weight * norm_.fraction(frequency, lengths[local]);
      touched |= bit;
    });
  }
  documents_scored_ += static_cast<std::uint64_t>(std::popcount(touched));
  collect(block, candidates & touched);
}

// Returns the candidates whose score can still reach the floor if the remaining terms add at most `rest`. Documents
// that no term has touched cannot.
std::uint64_t BlockMaxSearch::survivors(std::uint64_t candidates, std::uint64_t touched, float rest) const noexcept {
  std::uint64_t left = 0;
  for (std::uint64_t word = candidates & touched; word != 0; word &= word - 1) {
    const int local = std::countr_zero(word);
    if (scores_[local] + rest >= floor_) left |= word & -word;
  }
  return left;
}

void BlockMaxSearch::collect(std::uint32_t block, std::uint64_t documents) {
  bool changed = false;
  for (; documents != 0; documents &= documents - 1) {
    const auto local = static_cast<std::uint32_t>(std::countr_zero(documents));
    changed |= best_.push({scores_[local], block * kBlockDocuments + local});
  }
  if (changed && best_.full()) floor_ = best_.worst().score * (1.0f - rounding_);
}

}  // namespace lorekeep::text
