#include "store/indexed_records.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "core/values/error.h"
#include "filter/columns_file.h"
#include "vector/index_file.h"

namespace lorekeep::store {
namespace {

enum Section : std::uint32_t {
  kOrigin = vector::kFirstOtherSection,
  kIdEnds,
  kIds,
  kTextEnds,
  kTexts,
  kSchema,   // empty: the records were read without one
  kColumns,  // likewise
};
constexpr std::array kSections{kOrigin, kIdEnds, kIds, kTextEnds, kTexts, kSchema, kColumns};

constexpr std::uint32_t kSettled = 1;  // flag

/// The records file at the time it was read.
struct Origin {
  std::uint64_t file_size;
  std::int64_t file_changed;
  std::uint64_t file_checksum;
  std::uint64_t fingerprint;  // of the texts
  std::uint64_t count;
  std::uint32_t flags;
  std::uint32_t zero;
};
static_assert(sizeof(Origin) == 48);

[[noreturn]] void refuse(const std::string& name, const std::string& reason) {
  fail_file(Code::kCorrupt, name, reason);
}

/// Identifies a file again if it was written shortly before it was read: now it may have settled.
FileIdentity settled_identity(const Records& records, const CancelToken* cancel) {
  if (records.identity.settled || !is_settled(records.identity.stamp)) return records.identity;
  try {
    const FileIdentity now = identify_file(records.path, cancel);
    if (now.stamp == records.identity.stamp && now.checksum == records.identity.checksum) return now;
  } catch (const Error& error) {
    if (error.code() == Code::kCancelled) throw;  // else the file is gone, but the index is made of the records as read
  }
  return records.identity;
}

Origin read_origin(const SectionFileReader& file) {
  const auto origin = file.value<Origin>(kOrigin);
  if (origin.flags > kSettled || origin.zero != 0) refuse(file.name(), "its description of the records is invalid");
  if (origin.count == 0 || origin.count > vector::kMaxRows)
    refuse(file.name(), "its number of records is out of range");
  return origin;
}

TextArena read_texts(const SectionFileReader& file, Section ends_id, Section bytes_id, std::uint64_t count) {
  if (file.array<std::uint64_t>(ends_id).size() != count) {
    refuse(file.name(),
           "the number of " + std::string(records_section_name(bytes_id)) + " is not the number of records");
  }
  struct Owner {
    SectionCopy ends;
    std::shared_ptr<const MappedFile> file;
  };
  const auto owner = std::make_shared<const Owner>(Owner{file.copy(ends_id), file.mapping()});
  const auto ends = owner->ends.values<std::uint64_t>();
  const auto bytes = file.array<char>(bytes_id);
  const std::string name(records_section_name(bytes_id));
  // An id or a text is never empty.
  if (ends.front() == 0 || std::adjacent_find(ends.begin(), ends.end(), std::greater_equal<>()) != ends.end() ||
      ends.back() != bytes.size()) {
    refuse(file.name(), "the ends of its " + name + " are out of order");
  }
  return {std::string_view(bytes.data(), bytes.size()), ends, owner};
}

/// Returns why the records of the file must not be used, or an empty string.
std::string staleness(const SectionFileReader& file, const Origin& origin, const std::filesystem::path& records_file,
                      const IndexedRecordsOptions& options) {
  const std::vector<std::byte> wanted =
      options.schema ? filter::schema_bytes(*options.schema) : std::vector<std::byte>{};
  file.verify(kSchema);
  const auto found = file.section(kSchema);
  if (!std::equal(found.begin(), found.end(), wanted.begin(), wanted.end())) {
    return "the index file's metadata were read under other fields";
  }
  const FileStamp stamp = read_stamp(records_file);
  if (stamp.size != origin.file_size) return "the records file has changed since the index file was built";
  const bool same_stamp = (origin.flags & kSettled) != 0 && stamp.changed == origin.file_changed;
  if (!same_stamp && identify_file(records_file, options.work.cancel).checksum != origin.file_checksum) {
    return "the records file has changed since the index file was built";
  }
  return "";
}

}  // namespace

void save_indexed_records(const vector::HnswIndex& index, const Records& records, const std::filesystem::path& path,
                          std::uint64_t fingerprint, const CancelToken* cancel, const FileOwner* owner) {
  if (index.size() != records.size()) {
    fail(Code::kInvalidArgument,
         "records: " + std::to_string(records.size()) + " for an index of " + std::to_string(index.size()) + " rows");
  }
  const FileIdentity identity = settled_identity(records, cancel);
  const Origin origin{identity.stamp.size,
                      identity.stamp.changed,
                      identity.checksum,
                      records.fingerprint,
                      records.size(),
                      identity.settled ? kSettled : 0,
                      0};
  const auto schema = records.metadata ? filter::schema_bytes(records.metadata->schema()) : std::vector<std::byte>{};
  SectionFileWriter file(path, vector::kIndexMagic, vector::kIndexVersion, fingerprint,
                         vector::kIndexSections + static_cast<std::uint32_t>(kSections.size()), owner,
                         Damaged::kRemade);
  const auto write = [&](Section id, std::span<const std::byte> bytes) { file.section(id, bytes, cancel); };
  vector::write_index(file, index, cancel);
  write(kOrigin, std::as_bytes(std::span(&origin, 1)));
  write(kIdEnds, std::as_bytes(records.ids.ends()));
  write(kIds, std::as_bytes(std::span(records.ids.bytes())));
  write(kTextEnds, std::as_bytes(records.texts.ends()));
  write(kTexts, std::as_bytes(std::span(records.texts.bytes())));
  write(kSchema, schema);
  file.begin(kColumns);
  if (records.metadata) {
    filter::write_columns(*records.metadata, [&](std::span<const std::byte> bytes) { file.write(bytes); });
  }
  index.check_file();
  records.check_file();
  file.commit();
}

IndexedRecords open_indexed_records(const std::filesystem::path& index_file, const std::filesystem::path& records_file,
                                    const IndexedRecordsOptions& options) {
  if (!vector::is_index_file(index_file)) return {{}, "the index file was not built by lorekeep"};
  const SectionFileReader file(index_file, vector::kIndexMagic, vector::kOldestIndexVersion, vector::kIndexVersion);
  if (!has_records(file)) return {{}, "the index file does not carry the records"};
  const Origin origin = read_origin(file);
  if (std::string reason = staleness(file, origin, records_file, options); !reason.empty()) return {{}, reason};
  parallel_for(options.work, kSections.size(), 1,
               [&](std::size_t begin, std::size_t, std::size_t) { file.verify(kSections[begin]); });
  IndexedRecords opened;
  Records& records = opened.records;
  records.ids = read_texts(file, kIdEnds, kIds, origin.count);
  records.texts = read_texts(file, kTextEnds, kTexts, origin.count);
  if (options.schema) {
    const SectionCopy columns = file.copy(kColumns);
    records.metadata = std::make_shared<const filter::Columns>(
        filter::read_columns(columns.bytes, options.schema, records.ids.size(), file.name(), columns.owner));
  } else if (!file.section(kColumns).empty()) {
    refuse(file.name(), "it has columns and no fields");
  }
  records.fingerprint = origin.fingerprint;
  records.path = records_file;
  records.file = file.mapping();
  records.identity = {{origin.file_size, origin.file_changed}, origin.file_checksum, (origin.flags & kSettled) != 0};
  return opened;
}

IndexedRecordsFacts read_indexed_records_facts(const SectionFileReader& file) {
  const Origin origin = read_origin(file);
  return {origin.file_size, origin.file_checksum, origin.fingerprint};
}

bool has_records(const SectionFileReader& file) noexcept {
  return file.has(kOrigin);
}

std::string_view records_section_name(std::uint32_t id) noexcept {
  switch (id) {
    case kOrigin: return "records file";
    case kIdEnds: return "id ends";
    case kIds: return "ids";
    case kTextEnds: return "text ends";
    case kTexts: return "texts";
    case kSchema: return "fields";
    case kColumns: return "columns";
    case kOwnerSection: return "owner";
    case kMarkSection: return "mark";
    default: return "";
  }
}

}  // namespace lorekeep::store
