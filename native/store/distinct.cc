#include "store/distinct.h"

#include <algorithm>

#include "vector/distance.h"

namespace lorekeep::store {

std::vector<std::uint32_t> distinct(const Storage& storage, std::span<const std::uint32_t> ordinals, float distance,
                                    std::size_t most, const CancelToken* cancel) {
  const std::size_t dimension = storage.vectors()->dimension();
  std::vector<std::uint32_t> positions;
  std::vector<std::vector<float>> kept;
  for (std::uint32_t i = 0; i < ordinals.size() && positions.size() < most; ++i) {
    if (cancel != nullptr) cancel->check();
    std::vector<float> row = storage.vectors()->row(ordinals[i]);
    const auto repeats = [&](const std::vector<float>& earlier) {
      return vector::cosine_distance(vector::kernels().dot_f32(row.data(), earlier.data(), dimension)) <= distance;
    };
    if (std::any_of(kept.begin(), kept.end(), repeats)) continue;
    positions.push_back(i);
    kept.push_back(std::move(row));
  }
  return positions;
}

}  // namespace lorekeep::store
