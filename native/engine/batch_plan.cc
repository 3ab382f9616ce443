#include "engine/batch_plan.h"

#include <algorithm>

namespace lorekeep::engine {

std::vector<Batch> plan_batches(std::span<const std::uint32_t> token_counts, const BatchLimits& limits) {
  std::vector<std::uint32_t> order;
  order.reserve(token_counts.size());
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < token_counts.size(); ++i) {
    if (token_counts[i] == 0) continue;
    order.push_back(i);
    total += token_counts[i];
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return token_counts[a] > token_counts[b]; });

  const std::uint64_t workers = std::max<std::size_t>(1, limits.workers);
  const std::uint64_t share = (total + workers - 1) / workers;
  const auto budget =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(limits.tokens, std::max<std::uint64_t>(1, share)));

  std::vector<Batch> batches;
  for (std::uint32_t item : order) {
    const std::uint32_t tokens = token_counts[item];
    const bool fits = !batches.empty() && batches.back().items.size() < limits.sequences && tokens <= budget &&
                      batches.back().tokens <= budget - tokens;
    if (!fits) batches.emplace_back();
    batches.back().items.push_back(item);
    batches.back().tokens += tokens;
  }
  return batches;
}

}  // namespace lorekeep::engine
