#include "core/files/section_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "core/values/checksum.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

namespace lorekeep {
namespace {

using Header = SectionFileHeader;

constexpr std::size_t kBytesPerPoll = std::size_t{16} << 20;

constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

struct SectionFileWriter::Impl {
  AtomicFile file;
  Header header;
  std::vector<SectionEntry> table;
  std::uint32_t expected;
  XXH3_state_t hash;  // of the current section

  std::vector<std::byte> owner;  // empty: the file names no owner
  bool marked;

  Impl(const std::filesystem::path& path, Magic magic, std::uint32_t version, std::uint64_t fingerprint,
       std::uint32_t sections, const FileOwner* whose, Damaged damaged)
      : file(path, replaces_own_kind(path, magic, whose, damaged)),
        header{magic, version, sections, 0, fingerprint, 0, 0},
        expected(sections),
        owner(whose == nullptr ? std::vector<std::byte>{} : owner_bytes(path, *whose)),
        marked(damaged == Damaged::kRemade) {
    if (!owner.empty()) header.sections = ++expected;
    if (marked) header.sections = ++expected;
    const std::vector<std::byte> blank(sizeof(Header) + sizeof(SectionEntry) * expected);
    file.write(blank);
  }

  void end_section() {
    if (table.empty()) return;
    table.back().size = file.size() - table.back().offset;
    table.back().checksum = XXH3_64bits_digest(&hash);
  }
};

SectionFileWriter::SectionFileWriter(const std::filesystem::path& path, Magic magic, std::uint32_t version,
                                     std::uint64_t fingerprint, std::uint32_t sections, const FileOwner* owner,
                                     Damaged damaged) {
  constexpr std::uint32_t kOwn = 2;  // owner and mark
  if (sections > kMaxSections - kOwn) fail(Code::kInternal, "too many sections");
  impl_ = std::make_unique<Impl>(path, magic, version, fingerprint, sections, owner, damaged);
}

SectionFileWriter::~SectionFileWriter() = default;

void SectionFileWriter::begin(std::uint32_t id) {
  for (const SectionEntry& entry : impl_->table) {
    if (entry.id == id) fail(Code::kInternal, "section " + std::to_string(id) + " is begun twice");
  }
  impl_->end_section();
  static constexpr std::array<std::byte, kSectionAlignment> kPadding{};
  const std::uint64_t size = impl_->file.size();
  impl_->file.write(std::span(kPadding).first(static_cast<std::size_t>(aligned(size) - size)));
  impl_->table.push_back({id, 0, impl_->file.size(), 0, 0});
  XXH3_64bits_reset(&impl_->hash);
}

void SectionFileWriter::write(std::span<const std::byte> bytes) {
  if (impl_->table.empty()) fail(Code::kInternal, "write() before begin()");
  impl_->file.write(bytes);
  XXH3_64bits_update(&impl_->hash, bytes.data(), bytes.size());
}

void SectionFileWriter::section(std::uint32_t id, std::span<const std::byte> bytes, const CancelToken* cancel) {
  begin(id);
  for (std::size_t at = 0; at < bytes.size(); at += kBytesPerPoll) {
    if (cancel != nullptr) cancel->check();
    write(bytes.subspan(at, std::min(kBytesPerPoll, bytes.size() - at)));
  }
}

void SectionFileWriter::commit() {
  if (!impl_->owner.empty()) section(kOwnerSection, impl_->owner, nullptr);
  if (impl_->marked) {
    begin(kMarkSection);
    write(bytes_of(end_mark(impl_->header.magic, impl_->file.size() + sizeof(EndMark))));
  }
  impl_->end_section();
  if (impl_->table.size() != impl_->expected)
    fail(Code::kInternal, "the number of sections differs from the announced one");
  Header& header = impl_->header;
  header.file_size = impl_->file.size();
  const auto table = std::as_bytes(std::span(impl_->table));
  header.table_checksum = checksum(table);
  header.header_checksum = checksum(bytes_of(header).first(kCheckedHeaderBytes));
  impl_->file.rewrite(0, bytes_of(header));
  impl_->file.rewrite(sizeof(Header), table);
  impl_->file.commit();
}

SectionFileReader::SectionFileReader(const std::filesystem::path& path, Magic magic, std::uint32_t oldest,
                                     std::uint32_t newest)
    : file_(std::make_shared<MappedFile>(path)) {
  const auto bytes = file_->bytes();
  if (bytes.size() < sizeof(Header)) refuse("not a file of this kind (too short)");
  ByteReader reader(bytes, file_->name());
  const auto header = reader.read<Header>();
  if (!(header.magic == magic)) refuse("not a file of this kind (wrong magic)");
  if (header.header_checksum != checksum(bytes.first(kCheckedHeaderBytes))) refuse("the header's checksum is wrong");
  if (header.version < oldest || header.version > newest) {
    const std::string readable = oldest == newest ? "version " : "versions " + std::to_string(oldest) + " to ";
    fail_file(Code::kUnsupported, file_->name(),
              "format version " + std::to_string(header.version) + ", this program reads " + readable +
                  std::to_string(newest),
              {{"version", std::int64_t{header.version}}});
  }
  if (header.file_size != bytes.size()) {
    refuse("the file has " + std::to_string(bytes.size()) + " bytes, its header says " +
           std::to_string(header.file_size));
  }
  if (header.sections > kMaxSections) refuse("too many sections");
  const std::uint64_t table_size = std::uint64_t{header.sections} * sizeof(SectionEntry);
  if (table_size > reader.remaining()) refuse("the section table is truncated");
  const auto table = reader.take(table_size);
  if (header.table_checksum != checksum(table)) refuse("the section table's checksum is wrong");
  version_ = header.version;
  fingerprint_ = header.fingerprint;
  sections_.resize(header.sections);
  if (!sections_.empty()) std::memcpy(sections_.data(), table.data(), table.size());
  check_table();
}

void SectionFileReader::check_table() const {
  const auto bytes = file_->bytes();
  std::uint64_t end = sizeof(Header) + sections_.size() * sizeof(SectionEntry);
  for (const SectionEntry& section : sections_) {
    const std::string name = "section " + std::to_string(section.id);
    if (find(section.id) != &section) refuse(name + " occurs twice");
    if (section.offset != aligned(end) || section.offset > bytes.size() ||
        section.size > bytes.size() - section.offset) {
      refuse(name + " is at a wrong offset");
    }
    const auto gap = bytes.subspan(static_cast<std::size_t>(end), static_cast<std::size_t>(section.offset - end));
    const bool clean = std::all_of(gap.begin(), gap.end(), [](std::byte b) { return b == std::byte{0}; });
    if (!clean || section.zero != 0) refuse("the padding of " + name + " is not zero");
    end = section.offset + section.size;
  }
  if (end != bytes.size()) refuse("there are bytes after the last section");
}

void SectionFileReader::refuse(const std::string& reason) const {
  fail_file(Code::kCorrupt, file_->name(), reason);
}

const SectionEntry* SectionFileReader::find(std::uint32_t id) const noexcept {
  const auto found =
      std::find_if(sections_.begin(), sections_.end(), [id](const SectionEntry& s) { return s.id == id; });
  return found == sections_.end() ? nullptr : &*found;
}

bool SectionFileReader::has(std::uint32_t id) const noexcept {
  return find(id) != nullptr;
}

std::span<const std::byte> SectionFileReader::section(std::uint32_t id) const {
  const SectionEntry* found = find(id);
  if (found == nullptr) refuse("section " + std::to_string(id) + " is missing");
  return file_->bytes().subspan(static_cast<std::size_t>(found->offset), static_cast<std::size_t>(found->size));
}

SectionCopy SectionFileReader::copy(std::uint32_t id) const {
  const auto bytes = section(id);
  constexpr std::align_val_t kAlignment{kSectionAlignment};
  const auto release = [](const std::byte* memory) { ::operator delete(const_cast<std::byte*>(memory), kAlignment); };
  auto* const memory = static_cast<std::byte*>(::operator new(std::max<std::size_t>(1, bytes.size()), kAlignment));
  const SectionCopy copied{{memory, release}, {memory, bytes.size()}};
  std::copy(bytes.begin(), bytes.end(), memory);
  if (checksum(copied.bytes) != find(id)->checksum) {
    refuse("section " + std::to_string(id) + ": the checksum is wrong");
  }
  file_->forget(bytes);
  return copied;
}

bool SectionFileReader::sound(std::uint32_t id) const {
  return checksum(section(id)) == find(id)->checksum;
}

void SectionFileReader::verify(std::uint32_t id) const {
  if (!sound(id)) refuse("section " + std::to_string(id) + ": the checksum is wrong");
}

void SectionFileReader::verify(const CancelToken* cancel) const {
  for (const SectionEntry& section : sections_) {
    if (cancel != nullptr) cancel->check();
    verify(section.id);
  }
}

}  // namespace lorekeep
