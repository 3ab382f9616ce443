#include "store/fusion.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace lorekeep::store {
namespace {

bool by_score(const Fused& a, const Fused& b) {
  return a.score != b.score ? a.score > b.score : a.ordinal < b.ordinal;
}

double share(double weight, double k, std::uint32_t rank) {
  return weight / (k + rank);
}

/// Maps ordinals to ranks: a hash table with open addressing, at most half full.
class RankTable {
 public:
  explicit RankTable(std::size_t most) : slots_(std::bit_ceil(2 * most + 1)) {}

  /// Preconditions: the ordinal is new, rank > 0.
  void add(std::uint32_t ordinal, std::uint32_t rank) noexcept { slots_[find(ordinal)] = {ordinal, rank}; }
  /// Returns 0 for an unknown ordinal.
  std::uint32_t rank_of(std::uint32_t ordinal) const noexcept { return slots_[find(ordinal)].rank; }

 private:
  struct Slot {
    std::uint32_t ordinal = 0;
    std::uint32_t rank = 0;  // 0: free
  };
  static constexpr std::uint32_t kGolden = 0x9E3779B1;  // 2^32 / golden ratio: spreads neighbours

  std::size_t find(std::uint32_t ordinal) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (ordinal * kGolden >> 7) & mask;
    while (slots_[at].rank != 0 && slots_[at].ordinal != ordinal) at = (at + 1) & mask;
    return at;
  }

  std::vector<Slot> slots_;
};

}  // namespace

std::vector<Fused> fuse(std::span<const Scored> dense, std::span<const Scored> lexical, const RrfOptions& options,
                        std::size_t top_k) {
  std::vector<Fused> all;
  all.reserve(dense.size() + lexical.size());
  RankTable dense_ranks(dense.size());
  for (std::uint32_t rank = 1; rank <= dense.size(); ++rank) {
    all.push_back({dense[rank - 1].ordinal, share(options.dense_weight, options.k, rank), rank, std::nullopt});
    dense_ranks.add(dense[rank - 1].ordinal, rank);
  }
  for (std::uint32_t rank = 1; rank <= lexical.size(); ++rank) {
    const std::uint32_t ordinal = lexical[rank - 1].ordinal;
    const double score = share(options.lexical_weight, options.k, rank);
    if (const std::uint32_t dense_rank = dense_ranks.rank_of(ordinal); dense_rank != 0) {
      Fused& both = all[dense_rank - 1];
      both.score += score;
      both.lexical_rank = rank;
    } else {
      all.push_back({ordinal, score, std::nullopt, rank});
    }
  }
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(top_k, all.size()));
  std::partial_sort(all.begin(), end, all.end(), by_score);
  all.erase(end, all.end());
  return all;
}

}  // namespace lorekeep::store
