// The records file of a knowledge base: a JSON array of {"id": string, "text": string, "metadata"?: object}. See
// docs/reference/knowledge-base-files.md for the handling of errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/files/mapped_file.h"
#include "core/threads/cancel_token.h"
#include "core/values/text_arena.h"
#include "filter/columns.h"
#include "store/file_identity.h"

namespace lorekeep::store {

struct Records {
  TextArena ids;                                    // unique, not blank
  TextArena texts;                                  // not blank
  std::shared_ptr<const filter::Columns> metadata;  // null: read without a schema
  std::uint64_t fingerprint = 0;                    // of the texts and their order
  std::filesystem::path path;                       // of the source file
  FileIdentity identity;                            // of its content
  std::shared_ptr<const MappedFile> file;           // mapped file with the texts; null: they are in memory

  std::size_t size() const noexcept { return ids.size(); }
  std::size_t memory_bytes() const noexcept;
  /// See VectorIndex::check_file().
  void check_file() const {
    if (file) file->check_unchanged();
  }
};

/// Longest record in bytes: far more than a text that fits a model's context, and a bound on the cost of parsing.
inline constexpr std::size_t kLongestRecord = std::size_t{16} << 20;

struct ReadOptions {
  std::shared_ptr<const filter::Schema> schema;  // null: metadata are skipped
  const CancelToken* cancel = nullptr;           // grain: 256 records
  std::size_t longest_record = kLongestRecord;   // bytes of JSON
};

/// Maximum number of issues listed in an error; reading ends at the next issue.
inline constexpr std::size_t kListedIssues = 20;

/// Parses record by record: needs memory for the result, a window of four longest records and one record. Throws
/// Error(kNotFound), kIo (also if the file changes meanwhile); Error(kCorrupt) if the file is not a JSON array,
/// Error(kInvalidArgument) for invalid records. The message has a line per issue (file:line, record, field, expected,
/// found); the details describe the first. Error(kUnsupported) for more records than a storage holds; kCancelled.
Records read_records(const std::filesystem::path& path, const ReadOptions& options);

}  // namespace lorekeep::store
