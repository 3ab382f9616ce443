#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/values/top_k.h"
#include "store/search.h"

namespace lorekeep::store {

struct Fused {
  std::uint32_t ordinal;
  double score;
  std::optional<std::uint32_t> dense_rank;  // from 1
  std::optional<std::uint32_t> lexical_rank;
  friend bool operator==(const Fused&, const Fused&) = default;
};

/// Returns the top_k records of two ranked lists by weighted reciprocal rank (formula at RrfOptions), best first, ties
/// by ordinal. Each list is best first, without duplicate ordinals; its scores are ignored.
std::vector<Fused> fuse(std::span<const Scored> dense, std::span<const Scored> lexical, const RrfOptions& options,
                        std::size_t top_k);

}  // namespace lorekeep::store
