#include "store/distinct.h"

#include <algorithm>

#include "vector/distance.h"

namespace lorekeep::store {
namespace {

// Largest rounding error of a distance between rows that were computed from equal texts.
constexpr float kRounding = 1e-6f;

}  // namespace

std::vector<std::uint32_t> distinct(const Storage& storage, std::span<const std::uint32_t> ordinals, float distance,
                                    std::size_t most, const CancelToken* cancel) {
  const std::size_t dimension = storage.vectors()->dimension();
  std::vector<std::uint32_t> positions;
  std::vector<std::vector<float>> kept;
  for (std::uint32_t i = 0; i < ordinals.size() && positions.size() < most; ++i) {
    if (cancel != nullptr) cancel->check();
    std::vector<float> row = storage.embedding(ordinals[i]);
    const auto repeats = [&](const std::vector<float>& earlier) {
      if (row == earlier) return true;  // rows of f16 are not quite of length 1
      const float dot = vector::kernels().dot_f32(row.data(), earlier.data(), dimension);
      return vector::cosine_distance(dot) <= distance + kRounding;
    };
    if (std::any_of(kept.begin(), kept.end(), repeats)) continue;
    positions.push_back(i);
    kept.push_back(std::move(row));
  }
  return positions;
}

}  // namespace lorekeep::store
