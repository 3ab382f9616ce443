// Shared code of the fuzz targets for vector loaders.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/values/error.h"
#include "sample_vectors.h"
#include "vector/hnsw_index.h"

namespace lorekeep::test {

/// The one file that a target's inputs are written to.
inline std::filesystem::path write_fuzz_input(std::span<const std::uint8_t> input) {
  static const TemporaryFolder folder;
  const auto path = folder / "input";
  write_file(path, input);
  return path;
}

/// Uses an accepted index, which must be safe even if its numbers are wrong.
inline void use_index(const vector::HnswIndex& index) {
  using vector::SearchPath;
  const std::vector<float> query(index.dimension(), 1.0f);
  Bitmap filter(index.size());
  for (std::size_t i = 0; i < index.size(); i += 2) filter.set(i);
  for (SearchPath path : {SearchPath::kAuto, SearchPath::kGraph, SearchPath::kExact}) {
    for (const Bitmap* some : {static_cast<const Bitmap*>(nullptr), static_cast<const Bitmap*>(&filter)}) {
      for (const Scored& hit : index.search(query, {.k = 5, .filter = some, .path = path}).hits) {
        if (hit.ordinal >= index.size() || !(hit.score >= 0 && hit.score <= 2)) std::abort();
      }
    }
  }
  if (index.size() > 0) index.row(index.size() - 1);
}

/// Refusals that a loader may give to bytes.
inline void expect_refusal(const Error& error) {
  switch (error.code()) {
    case Code::kCorrupt:
    case Code::kUnsupported:
    case Code::kDimensionMismatch: return;
    default: std::fprintf(stderr, "unexpected error: %s\n", error.what()); std::abort();
  }
}

}  // namespace lorekeep::test
