// Writes a records file anew with changes merged into it. Records without a change are copied byte for byte: keys that
// lorekeep does not know are the user's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "core/threads/cancel_token.h"
#include "store/change_log.h"
#include "store/file_identity.h"

namespace lorekeep::store {

struct RewrittenRecords {
  std::uint64_t size = 0;      // of the new file in bytes
  std::uint64_t checksum = 0;  // XXH3-64 of its content
  std::size_t records = 0;
};

/// Writes the records of `source` without the changed and the removed ones, then the changed ones in their order, to
/// `target`, which becomes durable. Needs memory for a window of four longest records. Throws Error(kCorrupt) if the
/// source has another size or checksum than `expected` or is not a valid records file, Error(kInvalidArgument) if
/// `target` is a file that does not begin as this function writes it, kIo, kNotFound, kCancelled (grain: 256 records).
RewrittenRecords rewrite_records(const std::filesystem::path& source, const FileIdentity& expected,
                                 const LoggedChanges& changes, const std::filesystem::path& target,
                                 const CancelToken* cancel = nullptr);

}  // namespace lorekeep::store
