// Our own file of an HNSW index: a checked section file (core/section_file.h) that is mapped and used in place. The
// layout is in docs/files.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "core/section_file.h"
#include "core/work.h"
#include "vector/hnsw_index.h"

namespace lorekeep::vector {

inline constexpr Magic kIndexMagic{{'L', 'K', 'H', 'N', 'S', 'W', '\0', '\0'}};
/// Version 2 allows sections of other modules behind the index's own, version 3 adds the low bits of ten-bit rows,
/// version 5 cells, and sketches by cell. Version 4 had sketches by row, which are no longer used. Files of the
/// versions before are read in the same way.
inline constexpr std::uint32_t kIndexVersion = 5;
inline constexpr std::uint32_t kOldestIndexVersion = 1;
/// Sections of the index itself, with the ids 1 to kIndexSections. Other modules' begin at kFirstOtherSection.
inline constexpr std::uint32_t kIndexSections = 16;
inline constexpr std::uint32_t kFirstOtherSection = 32;

/// `fingerprint` names what the rows were made from (records and embedding model); 0: nothing. Written beside, synced
/// and renamed; throws Error(kIo), kCancelled (polled every 16 MiB). An index that was loaded can be saved again.
void save_index(const HnswIndex& index, const std::filesystem::path& path, std::uint64_t fingerprint,
                const CancelToken* cancel = nullptr, const FileOwner* owner = nullptr);

/// Writes the index's sections to a file that was begun with kIndexMagic and kIndexVersion; what else the file is to
/// hold may follow.
void write_index(SectionFileWriter& file, const HnswIndex& index, const CancelToken* cancel = nullptr);

struct LoadOptions {
  /// Reads all vectors too: checksums, and that every number is finite. Without it a damaged vector gives wrong
  /// distances, never a crash. Graph and header are always checked in full.
  bool verify_vectors = false;
  std::optional<std::size_t> dimension = {};  // expected: another one is an Error(kDimensionMismatch)
  Work work = {};                             // reads the vectors; polled between sections and every 4096 nodes
};

struct LoadedIndex {
  std::shared_ptr<const HnswIndex> index;
  std::uint64_t fingerprint;
};

/// Throws Error(kNotFound), kIo, kCorrupt, kUnsupported (another version, vector type or metric), kDimensionMismatch,
/// each naming the file. Allocates nothing in proportion to numbers in the file.
LoadedIndex load_index(const std::filesystem::path& path, const LoadOptions& options = {});

/// What an index file says of itself.
struct IndexFacts {
  std::uint64_t count;
  std::uint32_t dimension;
  VectorType type;
  std::uint32_t m;
  std::uint32_t ef_construction;
};
/// From the header section, which is checked. Throws as load_index().
IndexFacts read_index_facts(const SectionFileReader& file);
/// "rows", "base lists", ...; empty for an id that is not one of the index's.
std::string_view index_section_name(std::uint32_t id) noexcept;

/// Whether the file begins as ours does; false for a file that is shorter than that. Throws Error(kNotFound), kIo.
bool is_index_file(const std::filesystem::path& path);

}  // namespace lorekeep::vector
