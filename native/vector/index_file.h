// The file of an HNSW index: a checked section file (core/files/section_file.h), mapped and used in place. See
// docs/internals/file-formats.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "core/files/section_file.h"
#include "core/threads/work.h"
#include "vector/hnsw_index.h"

namespace lorekeep::vector {

inline constexpr Magic kIndexMagic{{'L', 'K', 'H', 'N', 'S', 'W', '\0', '\0'}};
/// Version 2 allows sections of other modules after the index's own, version 3 adds the low bits of ten-bit rows,
/// version 5 adds cells, and sketches by cell, version 6 the calibration. Version 4 had sketches by row, which are
/// ignored. All are readable.
inline constexpr std::uint32_t kIndexVersion = 6;
inline constexpr std::uint32_t kOldestIndexVersion = 1;
/// The index's own sections have the ids 1 to kIndexSections; sections of other modules begin at kFirstOtherSection.
inline constexpr std::uint32_t kIndexSections = 17;
inline constexpr std::uint32_t kFirstOtherSection = 32;

/// `fingerprint` identifies the source of the rows (records and embedding model); 0: unknown. Writes a temporary file,
/// flushes and renames it. Throws Error(kIo), kCancelled (polled every 16 MiB). A loaded index can be saved again.
void save_index(const HnswIndex& index, const std::filesystem::path& path, std::uint64_t fingerprint,
                const CancelToken* cancel = nullptr, const FileOwner* owner = nullptr);

/// Writes the index's sections to a file with kIndexMagic and kIndexVersion. Other sections may follow.
void write_index(SectionFileWriter& file, const HnswIndex& index, const CancelToken* cancel = nullptr);

struct LoadOptions {
  /// Also checks all vectors: checksums, and that every number is finite. Without it, a damaged vector causes wrong
  /// distances, never a crash. Graph and header are always checked in full.
  bool verify_vectors = false;
  std::optional<std::size_t> dimension = {};  // expected dimension; another one is an Error(kDimensionMismatch)
  Work work = {};                             // for reading the vectors; polled between sections and every 4096 nodes
};

struct LoadedIndex {
  std::shared_ptr<const HnswIndex> index;
  std::uint64_t fingerprint;
};

/// Throws Error(kNotFound), kIo, kCorrupt, kUnsupported (another version, vector type or metric), kDimensionMismatch,
/// each naming the file. Allocates nothing in proportion to numbers in the file.
LoadedIndex load_index(const std::filesystem::path& path, const LoadOptions& options = {});

/// A summary from an index file's header.
struct IndexFacts {
  std::uint64_t count;
  std::uint32_t dimension;
  VectorType type;
  std::uint32_t m;
  std::uint32_t ef_construction;
};
/// Checks and reads the header section. Throws as load_index().
IndexFacts read_index_facts(const SectionFileReader& file);
/// Returns "rows", "base lists", ...; empty for an id of another section.
std::string_view index_section_name(std::uint32_t id) noexcept;

/// Returns whether the file begins with kIndexMagic. Throws Error(kNotFound), kIo.
bool is_index_file(const std::filesystem::path& path);

}  // namespace lorekeep::vector
