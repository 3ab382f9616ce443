// Import of the files that hnswlib's C++ and Python libraries write (saveIndex, save_index): no magic, no checksum, no
// version, no dimension; a hostile file looks like any other. Read by our own checks, never by hnswlib's loader.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "core/cancel_token.h"
#include "vector/hnsw_index.h"

namespace lorekeep::vector {

/// What a plain hnswlib file says of itself, or implies.
struct HnswlibFacts {
  std::uint64_t count;
  std::uint64_t dimension;
  std::uint64_t m;
  std::uint64_t ef_construction;
};
/// Reads the file's beginning only. Throws as import_hnswlib_file() when that is no such file's.
HnswlibFacts read_hnswlib_facts(const std::filesystem::path& path);

/// Reads a file of float32 vectors of `dimension`, in the cosine space or in the ip space over L2-normalised vectors,
/// in which the label of each element is its record's ordinal: 0 to n-1, each once. The graph is kept as it is.
///
/// Throws, naming file and reason: Error(kNotFound), kIo; kDimensionMismatch; kUnsupported for deleted elements,
/// vectors that are not of length 1 (the l2 space, or ip over raw vectors: their graph is not one of cosine distance),
/// labels that are not ordinals, and M beyond [kMinM, kMaxM]; kCorrupt for everything that contradicts itself.
/// Allocates in proportion to the file's size alone. Grain of cancellation: 4096 elements.
std::shared_ptr<const HnswIndex> import_hnswlib_file(const std::filesystem::path& path, std::size_t dimension,
                                                     const CancelToken* cancel = nullptr);

}  // namespace lorekeep::vector
