#include "store/fusion.h"

#include <algorithm>

namespace lorekeep::store {
namespace {

bool by_score(const Fused& a, const Fused& b) {
  return a.score != b.score ? a.score > b.score : a.ordinal < b.ordinal;
}

double share(double weight, double k, const std::optional<std::uint32_t>& rank) {
  return rank ? weight / (k + *rank) : 0;
}

}  // namespace

std::vector<Fused> fuse(std::span<const Scored> dense, std::span<const Scored> lexical, const RrfOptions& options,
                        std::size_t top_k) {
  std::vector<Fused> all;
  all.reserve(dense.size() + lexical.size());
  for (std::uint32_t i = 0; i < dense.size(); ++i) all.push_back({dense[i].ordinal, 0, i + 1, std::nullopt});
  for (std::uint32_t i = 0; i < lexical.size(); ++i) all.push_back({lexical[i].ordinal, 0, std::nullopt, i + 1});
  std::sort(all.begin(), all.end(), [](const Fused& a, const Fused& b) { return a.ordinal < b.ordinal; });

  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.size(); ++kept) {
    Fused fused = all[i++];
    if (i < all.size() && all[i].ordinal == fused.ordinal) {
      if (!fused.dense_rank) fused.dense_rank = all[i].dense_rank;
      if (!fused.lexical_rank) fused.lexical_rank = all[i].lexical_rank;
      ++i;
    }
    fused.score = share(options.dense_weight, options.k, fused.dense_rank) +
                  share(options.lexical_weight, options.k, fused.lexical_rank);
    all[kept] = fused;
  }
  all.resize(kept);
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(top_k, kept));
  std::partial_sort(all.begin(), end, all.end(), by_score);
  all.erase(end, all.end());
  return all;
}

}  // namespace lorekeep::store
