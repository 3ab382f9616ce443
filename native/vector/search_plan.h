// Which branch a search takes: estimated from numbers that are known before it starts.
#pragma once

#include <cstddef>

namespace lorekeep::vector {

/// Distances per unit of `ef` that an unfiltered walk computes (measured: 17 at ef 64 and M 16, fewer above).
inline constexpr double kVisitsPerEf = 17;
/// What a row of a scan costs in visits of a walk: it knows its next rows, and keeps no frontier (measured: 0.4 to
/// 0.6).
inline constexpr double kScanCost = 0.5;

/// Whether scanning the `matched` of `size` rows is no slower than walking the graph until `ef` of them are found. A
/// walk meets a matching row once in size / matched visits.
inline bool scan_is_cheaper(std::size_t size, std::size_t matched, std::size_t ef) noexcept {
  const double scan = kScanCost * static_cast<double>(matched);
  return scan * static_cast<double>(matched) <= kVisitsPerEf * static_cast<double>(ef) * static_cast<double>(size);
}

}  // namespace lorekeep::vector
