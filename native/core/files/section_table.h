// The container format of all files of lorekeep: a header, a table of sections, the sections.
//
//   offset  size  field
//        0     8  magic of the kind of file
//        8     4  format version of that kind
//       12     4  number of sections, at most kMaxSections
//       16     8  size of the whole file in bytes
//       24     8  fingerprint of the file's source (0: none)
//       32     8  XXH3-64 of the section table
//       40     8  XXH3-64 of bytes 0..39
//       48  32*n  section table: id u32, zero u32, offset u64, size u64, XXH3-64 of the content u64
//
// Sections follow in table order, each at the next multiple of kSectionAlignment, for use in place when mapped. Gaps
// are zero, and the last section ends the file, so every bit is covered by a check. Numbers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lorekeep {

inline constexpr std::size_t kSectionAlignment = 64;
inline constexpr std::uint32_t kMaxSections = 64;
/// The optional section that names the owner (file_owner.h), in files of any kind; only kMarkSection follows it.
inline constexpr std::uint32_t kOwnerSection = 255;
/// The optional EndMark, always the last section.
inline constexpr std::uint32_t kMarkSection = 254;

/// The use of a damaged file of some kind.
enum class Damaged : bool {
  kRefused,
  kRemade,  // it is made again from its sources, so it has to be recognised: such files end with an EndMark
};

struct Magic {
  char bytes[8];
  friend bool operator==(const Magic&, const Magic&) = default;
};

/// As stored in the file.
struct SectionFileHeader {
  Magic magic;
  std::uint32_t version;
  std::uint32_t sections;
  std::uint64_t file_size;
  std::uint64_t fingerprint;
  std::uint64_t table_checksum;
  std::uint64_t header_checksum;
};
static_assert(sizeof(SectionFileHeader) == 48);
inline constexpr std::size_t kCheckedHeaderBytes = 40;

/// As stored at the end of the file: recognises a file whose first bytes are damaged.
struct EndMark {
  char text[24];
  Magic magic;
  std::uint64_t file_size;  // so that a mark copied to another file proves nothing
  std::uint64_t checksum;   // XXH3-64 of the fields above
};
static_assert(sizeof(EndMark) == 48);

/// One row of the section table, as stored in the file.
struct SectionEntry {
  std::uint32_t id;
  std::uint32_t zero;
  std::uint64_t offset;
  std::uint64_t size;
  std::uint64_t checksum;
};
static_assert(sizeof(SectionEntry) == 32);

}  // namespace lorekeep
