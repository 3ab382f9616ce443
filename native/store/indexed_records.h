// An index file that also contains its records, so that opening a storage need not parse them. See
// docs/internals/file-formats.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/files/section_file.h"
#include "core/threads/work.h"
#include "store/records_reader.h"
#include "vector/hnsw_index.h"

namespace lorekeep::store {

/// Writes index and records to one file (vector/index_file.h), as save_index() does. Throws Error(kInvalidArgument) if
/// the numbers of rows and records differ; as SectionFileWriter; kCancelled.
void save_indexed_records(const vector::HnswIndex& index, const Records& records, const std::filesystem::path& path,
                          std::uint64_t fingerprint, const CancelToken* cancel = nullptr,
                          const FileOwner* owner = nullptr);

struct IndexedRecordsOptions {
  std::shared_ptr<const filter::Schema> schema;  // null: skip metadata
  Work work = {};  // for checking sections; grain of cancellation: one section, 1 MiB of the records file
};

struct IndexedRecords {
  Records records;    // in the mapped file; empty if `stale` is set
  std::string stale;  // why the records file must be read instead; empty: it need not
};

/// Returns the records in an index file if they match the records file and the schema: the records file has the
/// recorded size and time, or else the recorded content. The records keep the mapping alive. Throws Error(kNotFound),
/// kIo for either file; kUnsupported for another version of the index file; kCorrupt, naming the file; kCancelled.
IndexedRecords open_indexed_records(const std::filesystem::path& index_file, const std::filesystem::path& records_file,
                                    const IndexedRecordsOptions& options);

/// The origin of the records in an index file.
struct IndexedRecordsFacts {
  std::uint64_t file_size;      // of the records file
  std::uint64_t file_checksum;  // XXH3-64 of its content
  std::uint64_t fingerprint;    // of the texts
};
/// Precondition: has_records(file). Throws Error(kCorrupt).
IndexedRecordsFacts read_indexed_records_facts(const SectionFileReader& file);
bool has_records(const SectionFileReader& file) noexcept;
/// Returns "records file", "texts", ...; empty for an id of another section.
std::string_view records_section_name(std::uint32_t id) noexcept;

}  // namespace lorekeep::store
