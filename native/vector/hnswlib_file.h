// Imports files of hnswlib's C++ and Python libraries (saveIndex, save_index). They have no magic, checksum, version or
// dimension. Read with our own checks, never by hnswlib's loader.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "core/threads/cancel_token.h"
#include "vector/hnsw_index.h"

namespace lorekeep::vector {

/// A summary of an hnswlib file's header.
struct HnswlibFacts {
  std::uint64_t count;
  std::uint64_t dimension;
  std::uint64_t m;
  std::uint64_t ef_construction;
};
/// Reads only the file's header. Throws as import_hnswlib_file() if it is not valid.
HnswlibFacts read_hnswlib_facts(const std::filesystem::path& path);

/// Reads a file of float32 vectors of `dimension`, in the cosine space or in the ip space over L2-normalised vectors,
/// whose labels are the records' ordinals, 0 to n-1, each once. The graph is not changed.
///
/// Throws, naming file and reason: Error(kNotFound), kIo; kDimensionMismatch; kUnsupported for deleted elements,
/// vectors whose length is not 1 (the l2 space, or ip over raw vectors: their graph is not for cosine distance), labels
/// that are not ordinals, and M outside of [kMinM, kMaxM]; kCorrupt for inconsistent data. Allocates only in proportion
/// to the file's size. Grain of cancellation: 4096 elements.
std::shared_ptr<const HnswIndex> import_hnswlib_file(const std::filesystem::path& path, std::size_t dimension,
                                                     const CancelToken* cancel = nullptr);

}  // namespace lorekeep::vector
