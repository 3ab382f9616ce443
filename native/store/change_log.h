// The change log: the write-ahead file of a knowledge base. It lists the changes since its records file was written, so
// that an acknowledged change survives the end of the process. See docs/internals/file-formats.md.
//
//   header, kChangeLogHeaderBytes
//   frames, each at a multiple of 8 bytes: ChangeFrame, then its payload
//
// The payload of a batch is a list of operations, each at a multiple of 8 bytes: LoggedOperation; for a put, the
// vector (dimension f32) and the record as JSON; for both kinds, the id before the JSON. The payload of a merge is a
// MergeMark.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/section_table.h"
#include "core/threads/cancel_token.h"
#include "core/values/text_arena.h"
#include "filter/columns.h"

namespace lorekeep::store {

inline constexpr Magic kChangeLogMagic{{'L', 'K', 'C', 'H', 'N', 'G', 'E', '\0'}};
inline constexpr std::uint32_t kChangeLogVersion = 1;

/// The base of the changes. As stored in the file.
struct ChangeLogHeader {
  Magic magic;
  std::uint32_t version;
  std::uint32_t dimension;         // numbers per vector
  std::uint64_t id;                // random; part of every checksum, so that no frame fits another log
  std::uint64_t records_size;      // of the records file, in bytes
  std::uint64_t records_checksum;  // XXH3-64 of the records file
  std::uint64_t model;             // digest of what a vector depends on besides its text
  std::uint64_t base_version;      // version of the storage without the changes
  std::uint64_t checksum;          // XXH3-64 of the bytes before
};
static_assert(sizeof(ChangeLogHeader) == 64);

enum class FrameKind : std::uint32_t { kBatch = 1, kMerge = 2 };

/// As stored in the file.
struct ChangeFrame {
  std::uint32_t magic;  // kFrameMagic
  FrameKind kind;
  std::uint64_t version;  // of the storage after the batch; of a merge: the last one in the merged files
  std::int64_t time;      // of the batch: milliseconds since 1970 by the writer's clock, which may jump
  std::uint64_t durable;  // bytes of the file that were on the device when the frame was written
  std::uint64_t size;     // of the payload, a multiple of 8
  std::uint32_t operations;
  std::uint32_t zero;
  std::uint64_t payload_checksum;  // XXH3-64 with the log's id as seed
  std::uint64_t checksum;          // likewise, of the bytes before
};
static_assert(sizeof(ChangeFrame) == 64);
inline constexpr std::uint32_t kFrameMagic = 0x54424b4c;  // "LKBT"

enum class ChangeKind : std::uint32_t { kPut = 1, kRemove = 2 };

/// As stored in the file.
struct LoggedOperation {
  ChangeKind kind;
  std::uint32_t id_bytes;
  std::uint32_t json_bytes;  // 0 for a removal
  std::uint32_t zero;
};
static_assert(sizeof(LoggedOperation) == 16);

/// The records file that a merge writes. As stored in the file.
struct MergeMark {
  std::uint64_t records_size;
  std::uint64_t records_checksum;
};
static_assert(sizeof(MergeMark) == 16);

/// A merge that was begun: the records file that it writes, and the last version in it.
struct LoggedMerge {
  MergeMark files;
  std::uint64_t version;
};

struct LoggedFrame {
  std::uint64_t begin;  // of the frame, in bytes from the beginning of the file
  std::uint64_t end;
  std::uint64_t version;
  std::int64_t time;
  FrameKind kind;
  std::uint32_t operations;
};

/// The part of a log that cannot be used.
struct LogDamage {
  std::uint64_t at;  // end of the last good frame
  std::string reason;
  /// The bytes were never acknowledged as durable: the process or the machine ended while it wrote them. Otherwise
  /// later frames say that they were on the device, so the file was damaged.
  bool torn;
};

/// Overwrites memory that is freed: its texts may be forgotten.
struct WipedBytes {
  std::size_t size = 0;
  void operator()(std::byte* bytes) const noexcept;
};

/// The content of a change log, copied from the file: a writer may append to it or cut it meanwhile. Immutable.
class ChangeLog {
 public:
  /// Reads the file. With `from`, reads the header and the frames from there on, which must continue `version`. Throws
  /// Error(kNotFound), kIo; kCorrupt for a header that is damaged, kUnsupported for another version of the format;
  /// kCancelled.
  static ChangeLog read(const std::filesystem::path& path, std::uint64_t from = 0, std::uint64_t version = 0,
                        const CancelToken* cancel = nullptr);
  /// Like read(), of bytes. Precondition: `from` is 0.
  ChangeLog(std::span<const std::byte> bytes, std::string name);

  const ChangeLogHeader& header() const noexcept { return header_; }
  const std::string& name() const noexcept { return name_; }
  std::span<const LoggedFrame> frames() const noexcept { return frames_; }
  /// End of the last good frame in the file.
  std::uint64_t end() const noexcept { return end_; }
  /// Version of the storage with all changes.
  std::uint64_t version() const noexcept { return version_; }
  const std::optional<LogDamage>& damage() const noexcept { return damage_; }
  /// Identifies the batches up to a version: no other content of a log, of this base or of another, has the same
  /// digest.
  std::uint64_t digest(std::uint64_t version) const;
  /// Returns the version whose batches have this digest.
  std::optional<std::uint64_t> version_with(std::uint64_t digest) const;
  /// The last merge that was begun.
  std::optional<LoggedMerge> mark() const;
  std::size_t memory_bytes() const noexcept { return size_; }
  /// Keeps the memory of operations. FileWindow::kPadding bytes are readable behind it.
  const std::shared_ptr<const std::byte[]>& bytes() const noexcept { return bytes_; }

  struct Operation {
    ChangeKind kind;
    std::string_view id;
    std::string_view json;
    std::span<const std::byte> vector;  // dimension f32, at any address
  };
  /// Calls `visit` with each operation of a batch.
  template <class Visit>
  void each_operation(const LoggedFrame& frame, Visit&& visit) const {
    for (std::uint64_t at = frame.begin + sizeof(ChangeFrame); at < frame.end;) visit(next_operation(at));
  }

 private:
  ChangeLog() = default;
  void read_header(std::span<const std::byte> bytes);
  void read_frames(const CancelToken* cancel);
  std::optional<std::string> read_frame(std::uint64_t at);
  std::optional<ChangeFrame> frame_head(std::uint64_t at) const;
  bool is_sound(std::uint64_t at, const ChangeFrame& frame) const;
  bool has_operations(std::uint64_t at, const ChangeFrame& frame) const;
  void find_damage(std::string reason, const CancelToken* cancel);
  Operation next_operation(std::uint64_t& at) const;
  /// Bytes of the file from `at` on. Precondition: they were read.
  const std::byte* data(std::uint64_t at) const noexcept { return bytes_.get() + (at - from_); }
  std::uint64_t digest_with(std::uint64_t before, const LoggedFrame& frame) const;

  std::string name_;
  std::byte* allocate(std::size_t size);

  ChangeLogHeader header_{};
  std::shared_ptr<const std::byte[]> bytes_;  // of the file, from from_ on; FileWindow::kPadding more are readable
  std::size_t size_ = 0;
  std::uint64_t from_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t version_ = 0;
  std::vector<LoggedFrame> frames_;
  std::optional<LogDamage> damage_;
};

/// The effect of batches, record by record: each id is in `ids` or in `removed`, once. Texts are overwritten when they
/// are freed.
struct LoggedChanges {
  LoggedChanges() = default;
  LoggedChanges(LoggedChanges&&) = default;
  LoggedChanges& operator=(LoggedChanges&&) = default;
  ~LoggedChanges();

  TextArena ids;                        // in the order of their last put
  TextArena texts;                      // one per id, like the following
  std::vector<std::string_view> jsons;  // in the log
  std::shared_ptr<const std::byte[]> log;
  std::shared_ptr<const filter::Columns> metadata;  // null: read without a schema
  std::vector<float> vectors;                       // row-major
  TextArena removed;
  std::uint64_t version = 0;  // of the last batch; 0 without any

  std::size_t memory_bytes() const noexcept;
};

/// Folds the batches with versions in (after, up_to]. Throws Error(kCorrupt) naming the log for a record that breaks
/// the rules of records files, or whose vector is not finite; kCancelled (grain: 1024 operations).
LoggedChanges fold_changes(const ChangeLog& log, std::uint64_t after, std::uint64_t up_to,
                           std::shared_ptr<const filter::Schema> schema, const CancelToken* cancel = nullptr);

/// Writes the checksums of a header, or of a frame with its payload. Precondition: `bytes` is exactly that.
void seal_header(std::span<std::byte> bytes);
void seal_frame(std::span<std::byte> bytes, std::uint64_t id);

}  // namespace lorekeep::store
