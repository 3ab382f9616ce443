// The records file of a knowledge base: a JSON array of {"id": string, "text": string, "metadata"?: object}. What each
// irregularity leads to is in docs/knowledge-base-files.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/cancel_token.h"
#include "core/mapped_file.h"
#include "core/text_arena.h"
#include "filter/columns.h"
#include "store/file_identity.h"

namespace lorekeep::store {

struct Records {
  TextArena ids;                                    // unique, not blank
  TextArena texts;                                  // not blank
  std::shared_ptr<const filter::Columns> metadata;  // null: read without a schema
  std::uint64_t fingerprint = 0;                    // of the texts and their order; differs when any text differs
  std::filesystem::path path;                       // of the file that they were read from
  FileIdentity identity;                            // of its content
  std::shared_ptr<const MappedFile> file;           // of the texts; null: they are in memory

  std::size_t size() const noexcept { return ids.size(); }
  std::size_t memory_bytes() const noexcept;
  /// As VectorIndex::check_file().
  void check_file() const {
    if (file) file->check_unchanged();
  }
};

/// Longest record in bytes: far more than a text that fits a model's context needs, and a bound on what parsing it
/// takes.
inline constexpr std::size_t kLongestRecord = std::size_t{16} << 20;

struct ReadOptions {
  std::shared_ptr<const filter::Schema> schema;  // null: metadata are not kept
  const CancelToken* cancel = nullptr;           // grain: 256 records
  std::size_t longest_record = kLongestRecord;   // bytes of JSON
};

/// How many issues an error lists; reading ends at the next one.
inline constexpr std::size_t kListedIssues = 20;

/// Parses record by record: beside what is returned there are only a window of four records' length and one record at a
/// time. Throws Error(kNotFound), kIo (also when the file is changed meanwhile); Error(kCorrupt) when the file is not a
/// JSON array of records, Error(kInvalidArgument) when records break a rule; the message has a line per issue
/// (file:line, record, field, what was expected and found), the details are of the first. Error(kUnsupported) for more
/// records than a storage holds; kCancelled.
Records read_records(const std::filesystem::path& path, const ReadOptions& options);

}  // namespace lorekeep::store
