// What a file of ours is, without loading it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/cancel_token.h"
#include "core/file_owner.h"

namespace lorekeep::store {

struct SectionDescription {
  std::uint32_t id;
  std::string name;  // empty: an id that this program does not know
  std::uint64_t offset;
  std::uint64_t size;
  std::optional<bool> sound;  // whether the content has its checksum; absent: not looked at
};

enum class FileKind { kIndex, kTextIndex, kEmbeddings, kHnswlibIndex, kUnknown };

/// The spelling in results: "index", "text index", "embeddings", "hnswlib index", "unknown".
std::string_view file_kind_name(FileKind kind) noexcept;

struct FileDescription {
  using Fact = std::variant<std::int64_t, std::string>;

  FileKind kind = FileKind::kUnknown;
  std::uint64_t size = 0;
  std::uint32_t version = 0;      // 0: files of this kind have none
  std::uint64_t fingerprint = 0;  // of what it was made from; 0: it does not say
  std::string refusal;            // why this program does not read it; empty: it does, as far as was looked
  std::vector<std::pair<std::string, Fact>> facts;  // by the names that lib/ gives them
  std::vector<SectionDescription> sections;
};

/// Whether a file of `kind` may be written at `path` for a knowledge base (null: for nobody), see replaces_own_kind().
/// Throws Error(kInvalidArgument) when not, kIo when the file there cannot be read.
void check_destination(const std::filesystem::path& path, FileKind kind, const FileOwner* owner);

/// Reads header and tables, with `verify` the sections too. What is wrong inside a file of ours is described, not
/// thrown. Throws Error(kNotFound), kIo, kCancelled (grain: one section).
FileDescription describe_file(const std::filesystem::path& path, bool verify, const CancelToken* cancel = nullptr);

}  // namespace lorekeep::store
