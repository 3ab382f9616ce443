// The owner of a section file. Files of one kind share a magic, so a file for a knowledge base names it in a section.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "core/files/destination.h"
#include "core/files/section_table.h"

namespace lorekeep {

/// A knowledge base. Paths may refer to open files (/proc/self/fd/N).
struct FileOwner {
  std::filesystem::path config;
  std::filesystem::path records;
};

/// Returns the content of the owner section of a file at `target`: both paths, relative to the file's folder, so that a
/// folder may be moved or copied as a whole. Empty if the folder cannot be resolved.
std::vector<std::byte> owner_bytes(const std::filesystem::path& target, const FileOwner& owner);

/// Returns the mark at the end of a file of `file_size` bytes.
EndMark end_mark(Magic magic, std::uint64_t file_size) noexcept;

/// Returns a rule that allows files that begin with `magic`, even damaged, of any version. Of a kind that is remade, it
/// also allows files with a damaged beginning, recognised by the rest of the header or by the mark at the end, and
/// files of zeros up to 1 GiB, which a lost write leaves. With an owner it refuses files of other knowledge bases: the
/// config file still exists, and config and records both differ from the owner's.
ReplacementRule replaces_own_kind(const std::filesystem::path& target, Magic magic, const FileOwner* owner,
                                  Damaged damaged = Damaged::kRefused);

}  // namespace lorekeep
