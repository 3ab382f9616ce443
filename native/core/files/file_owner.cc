#include "core/files/file_owner.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/files/utf8_path.h"
#include "core/values/bytes.h"
#include "core/values/checksum.h"
#include "core/values/error.h"

namespace lorekeep {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxOwnerBytes = 64 * 1024;
constexpr std::uint64_t kMaxZeroBytes = std::uint64_t{1} << 30;  // some 0.2 s of reading
constexpr std::size_t kZeroGrain = std::size_t{1} << 20;

fs::path real_folder_of(const fs::path& target) {
  std::error_code error;
  return fs::canonical(folder_of(target), error);
}

/// Resolves the links in a path's folders. Keeps the last name, because a link there may be changed to another file.
fs::path place_of(const fs::path& file) {
  std::error_code error;
  if (file.parent_path() == "/proc/self/fd") return fs::read_symlink(file, error);
  const fs::path absolute = fs::absolute(file, error);
  const fs::path folder = fs::canonical(absolute.parent_path(), error);
  return folder.empty() ? fs::path() : folder / absolute.filename();
}

void write_path(ByteWriter& writer, const fs::path& path) {
  const std::string bytes = path.generic_string();
  writer.write(std::uint64_t{bytes.size()});
  writer.append(std::as_bytes(std::span(bytes)));
}

fs::path read_path(ByteReader& reader) {
  const auto bytes = reader.take(reader.read<std::uint64_t>());
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

template <class T>
bool read_values(const FoundFile& file, std::uint64_t offset, std::span<T> values) {
  return file.read(offset, std::as_writable_bytes(values));
}

/// Returns the owner section; nullopt if there is none or the file is damaged.
std::optional<std::vector<std::byte>> read_owner(const FoundFile& file, const SectionFileHeader& header) {
  if (header.sections > kMaxSections) return std::nullopt;
  std::vector<SectionEntry> table(header.sections);
  if (!read_values(file, sizeof(header), std::span(table))) return std::nullopt;
  if (checksum(std::as_bytes(std::span(table))) != header.table_checksum) return std::nullopt;
  const auto found = std::ranges::find(table, kOwnerSection, &SectionEntry::id);
  if (found == table.end() || found->size > kMaxOwnerBytes) return std::nullopt;
  std::vector<std::byte> content(static_cast<std::size_t>(found->size));
  if (!file.read(found->offset, content) || checksum(content) != found->checksum) return std::nullopt;
  return content;
}

Refusal owned_by_another(const std::vector<std::byte>& content, const fs::path& folder, const FileOwner& owner) {
  try {
    ByteReader reader(content, "");
    const fs::path named = read_path(reader);
    const fs::path config = (folder / named).lexically_normal();
    const fs::path records = (folder / read_path(reader)).lexically_normal();
    std::error_code error;
    if (!fs::exists(config, error) || same_file(config, owner.config) || same_file(records, owner.records)) return {};
    return {"belongs to another knowledge base", utf8_path(named)};
  } catch (const Error&) {
    return {};
  }
}

/// Whether a file begins with `magic`. A file truncated within its magic does, too.
bool begins_with(const FoundFile& file, Magic magic) {
  Magic found{};
  const auto beginning = std::as_writable_bytes(std::span(&found, 1))
                             .first(static_cast<std::size_t>(std::min<std::uint64_t>(sizeof(magic), file.size())));
  return file.read(0, beginning) && std::memcmp(&found, &magic, beginning.size()) == 0;
}

/// Whether only the magic of the file's header is damaged.
bool has_header_of(const FoundFile& file, Magic magic) {
  SectionFileHeader header{};
  if (!read_values(file, 0, std::span(&header, 1))) return false;
  header.magic = magic;
  return header.header_checksum == checksum(std::as_bytes(std::span(&header, 1)).first(kCheckedHeaderBytes));
}

bool ends_with_mark(const FoundFile& file, Magic magic) {
  EndMark found{};
  if (file.size() < sizeof(found) || !read_values(file, file.size() - sizeof(found), std::span(&found, 1)))
    return false;
  const EndMark mark = end_mark(magic, file.size());
  return std::memcmp(&found, &mark, sizeof(mark)) == 0;
}

/// Whether each byte is zero or, in the places of the magic and of the mark, theirs.
bool is_zeroed(const FoundFile& file, Magic magic) {
  if (file.size() > kMaxZeroBytes) return false;
  const auto size = static_cast<std::size_t>(file.size());
  const EndMark mark = end_mark(magic, size);
  const auto head = std::as_bytes(std::span(&magic, 1));
  const auto tail = std::as_bytes(std::span(&mark, 1));
  const auto is_left = [&](std::size_t at, std::byte value) {
    return value == std::byte{0} || (at < head.size() && value == head[at]) ||
           (size >= tail.size() && at >= size - tail.size() && value == tail[at - (size - tail.size())]);
  };
  std::vector<std::byte> bytes(std::min(kZeroGrain, size));
  for (std::size_t from = 0; from < size; from += bytes.size()) {
    const auto part = std::span(bytes).first(std::min(bytes.size(), size - from));
    if (!file.read(from, part)) return false;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (!is_left(from + i, part[i])) return false;
    }
  }
  return true;
}

bool is_own_kind(const FoundFile& file, Magic magic, Damaged damaged) {
  if (begins_with(file, magic)) return true;
  return damaged == Damaged::kRemade &&
         (has_header_of(file, magic) || ends_with_mark(file, magic) || is_zeroed(file, magic));
}

std::string shown(Magic magic) {
  const auto end = std::find(std::begin(magic.bytes), std::end(magic.bytes), '\0');
  return {std::begin(magic.bytes), end};
}

}  // namespace

std::vector<std::byte> owner_bytes(const fs::path& target, const FileOwner& owner) {
  const fs::path folder = real_folder_of(target);
  const fs::path config = place_of(owner.config);
  const fs::path records = place_of(owner.records);
  if (folder.empty() || config.empty() || records.empty()) return {};
  ByteWriter writer;
  write_path(writer, config.lexically_relative(folder));
  write_path(writer, records.lexically_relative(folder));
  return {writer.bytes().begin(), writer.bytes().end()};
}

EndMark end_mark(Magic magic, std::uint64_t file_size) noexcept {
  EndMark mark{"end of a lorekeep file\n", magic, file_size, 0};
  mark.checksum = checksum(std::as_bytes(std::span(&mark, 1)).first(offsetof(EndMark, checksum)));
  return mark;
}

ReplacementRule replaces_own_kind(const fs::path& target, Magic magic, const FileOwner* owner, Damaged damaged) {
  return [folder = real_folder_of(target), magic, damaged,
          owner = owner == nullptr ? std::nullopt : std::optional(*owner)](const FoundFile& file) -> Refusal {
    if (!is_own_kind(file, magic, damaged)) {
      return {"is not a file of the kind that lorekeep writes there (such files begin with " + shown(magic) + ")", {}};
    }
    SectionFileHeader header{};
    if (!owner || !read_values(file, 0, std::span(&header, 1))) return {};
    const auto content = read_owner(file, header);
    return content ? owned_by_another(*content, folder, *owner) : Refusal{};
  };
}

}  // namespace lorekeep
