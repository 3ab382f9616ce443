// The file beside a knowledge base that keeps its text index: a section file (core/section_file.h) of
//
//   magic "LKBM25\0\0", format version 2, fingerprint: the caller's name for what was indexed
//   section 1  header: tokenizer u32, analysis revision u32, documents u32, documents per block u32, terms u64,
//              tokens u64, k1 f32, b f32
//   section 2  tokens of each document, u32
//   section 3  dictionary: u64 offset of each bucket's first entry, then the end (index_data.h)
//   section 4  entries (postings.h)
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/cancel_token.h"
#include "core/section_file.h"
#include "text/text_index.h"

namespace lorekeep::text {

inline constexpr Magic kSidecarMagic{{'L', 'K', 'B', 'M', '2', '5', '\0', '\0'}};
inline constexpr std::uint32_t kSidecarVersion = 2;

/// What a caller needs a sidecar to be.
struct SidecarExpectation {
  Tokenizer tokenizer;
  std::uint32_t documents;
  std::uint64_t fingerprint;
};

struct Sidecar {
  std::shared_ptr<const TextIndex> index;  // in memory of its own
  std::uint64_t fingerprint;
};

/// What a sidecar says of itself.
struct SidecarFacts {
  std::string tokenizer;
  std::uint32_t documents;
  std::uint64_t terms;   // distinct
  std::uint64_t tokens;  // of all documents
};
/// From the header section, which is checked. Throws as load_sidecar().
SidecarFacts read_sidecar_facts(const SectionFileReader& file);
/// "header", "lengths", ...; empty for an id that is none of a sidecar's.
std::string_view sidecar_section_name(std::uint32_t id) noexcept;

/// Writes beside `path` and renames. Throws as SectionFileWriter, Error(kCancelled) (grain: 16 MiB).
void save_sidecar(const TextIndex& index, const std::filesystem::path& path, std::uint64_t fingerprint,
                  const CancelToken* cancel = nullptr, const FileOwner* owner = nullptr);

struct SidecarLoadOptions {
  const SidecarExpectation* expected = nullptr;  // null: any sidecar will do
  bool complete = false;                         // check_index() now, instead of each word when it is first asked for
  Work work = {};  // a complete check uses at most 4 threads; polled per section, then per 128 blocks of postings
};

/// Maps a sidecar and checks header, checksums of all bytes, and sizes; then all postings, or each word's postings when
/// it is first asked for, which matters for forged files alone. Whatever is thrown, the caller's remedy is to rebuild:
///   kNotFound, kIo  the file cannot be read
///   kUnsupported    another format version (1 among them), tokenizer, analysis revision, number of documents or
///                   fingerprint than this program or `expected` wants; detail "mismatch" is one of "version",
///                   "tokenizer", "analysis", "documents", "fingerprint"
///   kCorrupt        anything else that is wrong with it
Sidecar load_sidecar(const std::filesystem::path& path, const SidecarLoadOptions& options = {});

}  // namespace lorekeep::text
