// The scan of many rows by their sketches: most are ruled out by one cache line each, the rest is scored on codes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/bitmap.h"
#include "core/cancel_token.h"
#include "core/top_k.h"
#include "vector/graph_search.h"
#include "vector/scorer.h"
#include "vector/sketch.h"

namespace lorekeep::vector {

/// Fewer rows are scanned by their codes as quickly, and that is exact.
inline constexpr std::size_t kLeastSketched = 2048;

struct SketchedScan {
  const Sketches& sketches;
  const Scorer& codes;  // of the query, over the codes of the same rows
  std::span<const float> query;
  std::size_t k;
  float code_error;                     // the most by which a distance differs from that of codes
  const Bitmap& filter;                 // of sketches.size() bits
  const CancelToken* cancel = nullptr;  // polled every 1024 rows
};

/// What may be among the k nearest rows of the filter, at least min(k, members) of them, by their codes' distance,
/// nearest first. A row that is among them is missed with the probability that its estimate is further off than
/// kSketchMargin standard deviations: 0.4 % for one that only just belongs, far less for the others.
std::vector<Scored> scan_sketches(const SketchedScan& scan, SearchWork& work);
inline constexpr float kSketchMargin = 2.65f;

}  // namespace lorekeep::vector
