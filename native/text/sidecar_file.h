// The sidecar file of a knowledge base that stores its text index: a section file (core/files/section_file.h) of
//
//   magic "LKBM25\0\0", format version 2, fingerprint: chosen by the caller to identify the indexed documents
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

#include "core/files/section_file.h"
#include "core/threads/cancel_token.h"
#include "text/text_index.h"

namespace lorekeep::text {

inline constexpr Magic kSidecarMagic{{'L', 'K', 'B', 'M', '2', '5', '\0', '\0'}};
inline constexpr std::uint32_t kSidecarVersion = 2;

/// The properties a caller requires of a sidecar.
struct SidecarExpectation {
  Tokenizer tokenizer;
  std::uint32_t documents;
  std::uint64_t fingerprint;
};

struct Sidecar {
  std::shared_ptr<const TextIndex> index;  // owns its memory
  std::uint64_t fingerprint;
};

/// A summary from a sidecar's header.
struct SidecarFacts {
  std::string tokenizer;
  std::uint32_t documents;
  std::uint64_t terms;   // distinct
  std::uint64_t tokens;  // of all documents
};
/// Checks and reads the header section. Throws as load_sidecar().
SidecarFacts read_sidecar_facts(const SectionFileReader& file);
/// Returns "header", "lengths", ...; empty for an unknown id.
std::string_view sidecar_section_name(std::uint32_t id) noexcept;

/// Writes a temporary file next to `path` and renames it. Throws as SectionFileWriter, Error(kCancelled); grain 16 MiB.
void save_sidecar(const TextIndex& index, const std::filesystem::path& path, std::uint64_t fingerprint,
                  const CancelToken* cancel = nullptr, const FileOwner* owner = nullptr);

struct SidecarLoadOptions {
  const SidecarExpectation* expected = nullptr;  // null: accept any sidecar
  bool complete = false;                         // check_index() now instead of checking each bucket on first use
  Work work = {};  // a complete check uses at most 4 threads; polled per section, then per 128 blocks of postings
};

/// Reads a sidecar and checks header, checksums of all bytes, and sizes. Postings are checked now or on first use; only
/// forged files fail there. The remedy for every error is to rebuild:
///   kNotFound, kIo  the file cannot be read
///   kUnsupported    another format version (1 among them), tokenizer, analysis revision, number of documents or
///                   fingerprint than this program or `expected` wants; detail "mismatch" is one of "version",
///                   "tokenizer", "analysis", "documents", "fingerprint"
///   kCorrupt        any other defect
Sidecar load_sidecar(const std::filesystem::path& path, const SidecarLoadOptions& options = {});

}  // namespace lorekeep::text
