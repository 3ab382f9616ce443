// Embeddings of texts that no record has at present, in embeddings files of their own.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "core/files/section_file.h"
#include "core/threads/cancel_token.h"
#include "core/values/checksum.h"
#include "core/values/text_arena.h"
#include "store/embeddings_file.h"

namespace lorekeep::store {

/// Identifies the embeddings files of one model.
struct EmbeddingsKind {
  Digest key;
  std::size_t dimension;
};

/// The embeddings of some texts. Texts are given by their position.
struct FoundEmbeddings {
  std::vector<std::uint32_t> texts;
  std::vector<float> rows;
};

/// Looks up whole texts in files, of which the first wins; rows of truncated texts are no embeddings of them. Files
/// that are absent, damaged or of another kind are left out. Throws Error(kCancelled), kOutOfMemory.
FoundEmbeddings find_embeddings(const TextArena& texts, std::span<const std::filesystem::path> files,
                                const EmbeddingsKind& kind, const CancelToken* cancel = nullptr);

/// Rows to write: those of `files`, of which the first wins, and of `texts`, which win over them, without those of
/// `dropped`.
struct EmbeddingsUnion {
  std::span<const std::filesystem::path> files;
  const TextArena& texts;
  std::span<const float> rows;
  std::span<const Digest> dropped;
};

/// Writes a file with these rows and returns their number. Writes nothing for none. Files that cannot be used are left
/// out. Throws as write_embeddings().
std::size_t unite_embeddings(const std::filesystem::path& path, const EmbeddingsUnion& parts,
                             const EmbeddingsKind& kind, const CancelToken* cancel, const FileOwner* owner = nullptr);

/// The digests by which embeddings files know texts, ascending.
std::vector<Digest> text_digests(const TextArena& texts);

}  // namespace lorekeep::store
