// The records file of a knowledge base: a JSON array of {"id": string, "text": string, "metadata"?: object}. What each
// irregularity leads to is in docs/knowledge-bases.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/cancel_token.h"
#include "core/mapped_file.h"
#include "core/text_arena.h"
#include "filter/columns.h"

namespace lorekeep::store {

struct Records {
  TextArena ids;                                    // unique, not blank
  TextArena texts;                                  // not blank
  std::shared_ptr<const filter::Columns> metadata;  // null: read without a schema
  std::uint64_t fingerprint = 0;                    // of the texts and their order; differs when any text differs

  std::size_t size() const noexcept { return ids.size(); }
  std::size_t memory_bytes() const noexcept;
};

struct ReadOptions {
  std::shared_ptr<const filter::Schema> schema;  // null: metadata are not kept
  const CancelToken* cancel = nullptr;           // grain: 256 records, each at most kMaxElementBytes
};

/// How many issues an error lists; reading ends at the next one.
inline constexpr std::size_t kListedIssues = 20;

/// Parses record by record: beside the mapped file there are only what is returned and one record at a time. Throws
/// Error(kCorrupt) when the file is not a JSON array of records, Error(kInvalidArgument) when records break a rule; the
/// message has a line per issue (file:line, record, field, what was expected and found), the details are of the first.
/// Error(kUnsupported) for more records than a storage holds; kCancelled.
Records read_records(const MappedFile& file, const ReadOptions& options);

}  // namespace lorekeep::store
