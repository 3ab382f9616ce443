// Describes a lorekeep file without loading it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/files/file_owner.h"
#include "core/threads/cancel_token.h"

namespace lorekeep::store {

struct SectionDescription {
  std::uint32_t id;
  std::string name;  // empty: an unknown id
  std::uint64_t offset;
  std::uint64_t size;
  std::optional<bool> sound;  // whether the checksum is right; absent: not checked
};

enum class FileKind { kIndex, kTextIndex, kEmbeddings, kHnswlibIndex, kUnknown };

/// Returns the spelling in results: "index", "text index", "embeddings", "hnswlib index", "unknown".
std::string_view file_kind_name(FileKind kind) noexcept;

struct FileDescription {
  using Fact = std::variant<std::int64_t, std::string>;

  FileKind kind = FileKind::kUnknown;
  std::uint64_t size = 0;
  std::uint32_t version = 0;                        // 0: files of this kind have no version
  std::uint64_t fingerprint = 0;                    // of the file's source; 0: unknown
  std::string refusal;                              // why this program cannot read it; empty: no defect found
  std::vector<std::pair<std::string, Fact>> facts;  // named as in lib/
  std::vector<SectionDescription> sections;
};

/// Checks that a file of `kind` may be written at `path` for a knowledge base (null: for none), see
/// replaces_own_kind(). Throws Error(kInvalidArgument) if not, kIo if the existing file cannot be read.
void check_destination(const std::filesystem::path& path, FileKind kind, const FileOwner* owner);

/// Reads header and tables, with `verify` also the sections. Defects in the content are described, not thrown. Throws
/// Error(kNotFound), kIo, kCancelled (grain: one section).
FileDescription describe_file(const std::filesystem::path& path, bool verify, const CancelToken* cancel = nullptr);

}  // namespace lorekeep::store
