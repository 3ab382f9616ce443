// Writes and reads section files (section_table.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/files/atomic_file.h"
#include "core/files/file_owner.h"
#include "core/files/mapped_file.h"
#include "core/files/section_table.h"
#include "core/threads/cancel_token.h"
#include "core/values/bytes.h"

namespace lorekeep {

/// Writes a section file. Replaces only an empty file or a file that replaces_own_kind() allows.
class SectionFileWriter {
 public:
  /// `sections` is the exact number of begin() calls to follow. With an owner, the file names it. Files of kinds that
  /// are remade end with a mark.
  SectionFileWriter(const std::filesystem::path& path, Magic magic, std::uint32_t version, std::uint64_t fingerprint,
                    std::uint32_t sections, const FileOwner* owner = nullptr, Damaged damaged = Damaged::kRefused);
  ~SectionFileWriter();

  /// Starts the next section; `id` is unique within the file.
  void begin(std::uint32_t id);
  /// Appends to the current section.
  void write(std::span<const std::byte> bytes);
  template <class T>
  void write_array(std::span<const T> values) {
    write(std::as_bytes(values));
  }
  /// Calls begin() and write() for a whole section. Polls `cancel` every 16 MiB.
  void section(std::uint32_t id, std::span<const std::byte> bytes, const CancelToken* cancel);
  /// Completes header and table and moves the file to its path.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A copy of a section in memory, aligned to kSectionAlignment.
struct SectionCopy {
  std::shared_ptr<const std::byte> owner;
  std::span<const std::byte> bytes;

  /// Returns the section as an array of T. Precondition: the size was checked.
  template <class T>
  std::span<const T> values() const noexcept {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

class SectionFileReader {
 public:
  /// Maps the file and checks magic, version, sizes, layout and the two header checksums. Does not read the sections.
  /// Throws Error(kCorrupt) or Error(kUnsupported) (another version) naming the file.
  SectionFileReader(const std::filesystem::path& path, Magic magic, std::uint32_t version)
      : SectionFileReader(path, magic, version, version) {}
  /// The same for several readable versions, `oldest` to `newest`.
  SectionFileReader(const std::filesystem::path& path, Magic magic, std::uint32_t oldest, std::uint32_t newest);

  std::uint32_t version() const noexcept { return version_; }
  const std::vector<SectionEntry>& sections() const noexcept { return sections_; }
  std::uint64_t fingerprint() const noexcept { return fingerprint_; }
  const std::string& name() const noexcept { return file_->name(); }
  bool has(std::uint32_t id) const noexcept;
  /// Returns the section's bytes in the mapping. Throws Error(kCorrupt) if the file has no such section.
  std::span<const std::byte> section(std::uint32_t id) const;
  /// Returns the section as an array of T. Throws Error(kCorrupt) unless its size is a multiple of sizeof(T).
  template <class T>
  std::span<const T> array(std::uint32_t id) const {
    static_assert(alignof(T) <= kSectionAlignment);
    const auto bytes = section(id);
    if (bytes.size() % sizeof(T) != 0) refuse("section " + std::to_string(id) + " has a broken size");
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  /// Checks the section's checksum and returns it as one T. Throws Error(kCorrupt) if the section has another size.
  template <class T>
  T value(std::uint32_t id) const {
    verify(id);
    const auto values = array<T>(id);
    if (values.size() != 1) refuse("section " + std::to_string(id) + " has a broken size");
    return values[0];
  }
  /// Checks the checksum of every section. Grain of cancellation: one section.
  void verify(const CancelToken* cancel = nullptr) const;
  void verify(std::uint32_t id) const;
  /// Returns whether the section's checksum is right.
  bool sound(std::uint32_t id) const;

  /// Copies a section and checks its checksum. For offsets, ordinals and other values that a reader checks once and
  /// then relies on: other programs cannot change the copy. Throws Error(kCorrupt), std::bad_alloc.
  SectionCopy copy(std::uint32_t id) const;

  /// Keeps the mapping alive for spans that outlive the reader.
  std::shared_ptr<const MappedFile> mapping() const noexcept { return file_; }

 private:
  [[noreturn]] void refuse(const std::string& reason) const;
  void check_table() const;
  const SectionEntry* find(std::uint32_t id) const noexcept;

  std::shared_ptr<const MappedFile> file_;
  std::uint32_t version_ = 0;
  std::uint64_t fingerprint_ = 0;
  std::vector<SectionEntry> sections_;
};

}  // namespace lorekeep
