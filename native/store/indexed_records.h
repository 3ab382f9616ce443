// An index file that also carries its records, so that opening a storage need not parse them. The layout is in
// docs/files.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/section_file.h"
#include "core/work.h"
#include "store/records_reader.h"
#include "vector/hnsw_index.h"

namespace lorekeep::store {

/// Writes index and records to one file (vector/index_file.h), in the way of save_index(). Throws
/// Error(kInvalidArgument) when the index has another number of rows than there are records; as SectionFileWriter;
/// kCancelled.
void save_indexed_records(const vector::HnswIndex& index, const Records& records, const std::filesystem::path& path,
                          std::uint64_t fingerprint, const CancelToken* cancel = nullptr,
                          const FileOwner* owner = nullptr);

struct IndexedRecordsOptions {
  std::shared_ptr<const filter::Schema> schema;  // null: metadata are not wanted
  Work work = {};  // checks the sections; grain of cancellation: one section, 1 MiB of the records file
};

struct IndexedRecords {
  Records records;    // in the mapped file; empty when there is a reason against them
  std::string stale;  // why the records file has to be read instead; empty: it need not
};

/// The records that an index file carries, as long as they are those of the records file under this schema: the file
/// has the size and time that it had, or else the same content. The records keep the mapping, so that they stay as they
/// are whatever becomes of both files. Throws Error(kNotFound), kIo for either file; kUnsupported for an index file of
/// a version that this program does not read; kCorrupt, naming the file; kCancelled.
IndexedRecords open_indexed_records(const std::filesystem::path& index_file, const std::filesystem::path& records_file,
                                    const IndexedRecordsOptions& options);

/// What an index file says of the records that it carries.
struct IndexedRecordsFacts {
  std::uint64_t file_size;      // of the records file
  std::uint64_t file_checksum;  // XXH3-64 of its content
  std::uint64_t fingerprint;    // of the texts
};
/// Precondition: has_records(file). Throws Error(kCorrupt).
IndexedRecordsFacts read_indexed_records_facts(const SectionFileReader& file);
bool has_records(const SectionFileReader& file) noexcept;
/// "records file", "texts", ...; empty for an id that is none of the records' sections.
std::string_view records_section_name(std::uint32_t id) noexcept;

}  // namespace lorekeep::store
