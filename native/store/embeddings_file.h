// The cache of embeddings, a section file (core/files/section_file.h): the vectors of texts under one model.
//
//   section  content
//         1  header: key u64 u64, dimension u32, zero u32, rows u64
//         2  XXH3-128 of each text, 16 bytes, ascending
//         3  one byte per row: 1 if the text was truncated before embedding, else 0
//         4  rows x dimension f32, in the order of section 2
//
// The key is a digest of everything that an embedding depends on besides the text. The header's fingerprint is 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/files/section_file.h"
#include "core/threads/cancel_token.h"
#include "core/values/checksum.h"

namespace lorekeep::store {

inline constexpr Magic kEmbeddingsMagic{{'L', 'K', 'E', 'M', 'B', 'E', 'D', '\0'}};
inline constexpr std::uint32_t kEmbeddingsVersion = 1;

struct EmbeddingsFacts {
  std::uint64_t rows;
  std::uint32_t dimension;
};

/// Reads only the header. Throws Error(kCorrupt).
EmbeddingsFacts read_embeddings_facts(const SectionFileReader& file);

/// Returns an empty name for an unknown id.
std::string_view embeddings_section_name(std::uint32_t id) noexcept;

/// An embeddings file, mapped and checked.
class EmbeddingsFile {
 public:
  struct Row {
    std::span<const float> vector;
    bool truncated;
  };

  /// Throws Error naming the file: kNotFound, kIo, kCorrupt, kUnsupported (another version, key or dimension),
  /// kCancelled.
  EmbeddingsFile(const std::filesystem::path& path, const Digest& key, std::size_t dimension,
                 const CancelToken* cancel = nullptr);

  std::size_t size() const noexcept { return digests_.size(); }
  struct Entry {
    Digest text;
    Row row;
  };
  /// Precondition: index < size().
  Entry entry(std::size_t index) const noexcept;
  std::optional<Row> find(const Digest& text) const noexcept;
  /// See MappedFile::check_unchanged().
  void check_unchanged() const { file_.mapping()->check_unchanged(); }

 private:
  void check_rows(const CancelToken* cancel) const;

  SectionFileReader file_;
  std::size_t dimension_;
  std::span<const Digest> digests_;
  std::span<const std::uint8_t> truncated_;
  std::span<const float> rows_;
};

/// The content of a file to write: parallel arrays, digests strictly ascending.
struct EmbeddingsView {
  std::span<const Digest> digests;
  std::span<const std::uint8_t> truncated;
  /// One row of `dimension` numbers per digest.
  std::span<const float* const> rows;
  std::size_t dimension;
};

/// Throws as SectionFileWriter, Error(kCancelled). Grain of cancellation: 1024 rows.
void write_embeddings(const std::filesystem::path& path, const Digest& key, const EmbeddingsView& embeddings,
                      const CancelToken* cancel, const FileOwner* owner = nullptr);

}  // namespace lorekeep::store
