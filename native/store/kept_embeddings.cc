#include "store/kept_embeddings.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "core/values/error.h"

namespace lorekeep::store {
namespace {

constexpr std::size_t kTextGrain = 4096;  // texts

Digest digest_of(std::string_view text) noexcept {
  return digest(std::as_bytes(std::span(text.data(), text.size())));
}

using Files = std::vector<std::unique_ptr<EmbeddingsFile>>;

Files usable(std::span<const std::filesystem::path> paths, const EmbeddingsKind& kind, const CancelToken* cancel) {
  Files files;
  for (const std::filesystem::path& path : paths) {
    try {
      files.push_back(std::make_unique<EmbeddingsFile>(path, kind.key, kind.dimension, cancel));
    } catch (const Error& error) {
      if (error.code() == Code::kCancelled || error.code() == Code::kOutOfMemory) throw;
    }
  }
  return files;
}

struct Row {
  Digest text;
  const float* numbers;
  bool truncated;
};

void add_own(const EmbeddingsUnion& parts, std::size_t dimension, std::vector<Row>& rows) {
  for (std::size_t i = 0; i < parts.texts.size(); ++i) {
    rows.push_back({digest_of(parts.texts[i]), parts.rows.data() + i * dimension, false});
  }
}

}  // namespace

FoundEmbeddings find_embeddings(const TextArena& texts, std::span<const std::filesystem::path> files,
                                const EmbeddingsKind& kind, const CancelToken* cancel) {
  const Files usable_files = usable(files, kind, cancel);
  FoundEmbeddings found;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (cancel != nullptr && i % kTextGrain == 0) cancel->check();
    const Digest text = digest_of(texts[i]);
    for (const auto& file : usable_files) {
      const auto row = file->find(text);
      if (!row || row->truncated) continue;
      found.texts.push_back(static_cast<std::uint32_t>(i));
      found.rows.insert(found.rows.end(), row->vector.begin(), row->vector.end());
      break;
    }
  }
  for (const auto& file : usable_files) file->check_unchanged();
  return found;
}

std::size_t unite_embeddings(const std::filesystem::path& path, const EmbeddingsUnion& parts,
                             const EmbeddingsKind& kind, const CancelToken* cancel, const FileOwner* owner) {
  std::vector<Row> all;
  add_own(parts, kind.dimension, all);
  const Files files = usable(parts.files, kind, cancel);
  for (const auto& file : files) {
    for (std::size_t i = 0; i < file->size(); ++i) {
      const EmbeddingsFile::Entry entry = file->entry(i);
      all.push_back({entry.text, entry.row.vector.data(), entry.row.truncated});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Row& a, const Row& b) { return a.text < b.text; });
  std::vector<Digest> digests;
  std::vector<std::uint8_t> truncated;
  std::vector<const float*> rows;
  for (const Row& row : all) {
    if (!digests.empty() && digests.back() == row.text) continue;
    if (std::binary_search(parts.dropped.begin(), parts.dropped.end(), row.text)) continue;
    digests.push_back(row.text);
    truncated.push_back(row.truncated ? 1 : 0);
    rows.push_back(row.numbers);
  }
  for (const auto& file : files) file->check_unchanged();
  if (!digests.empty()) write_embeddings(path, kind.key, {digests, truncated, rows, kind.dimension}, cancel, owner);
  return digests.size();
}

std::vector<Digest> text_digests(const TextArena& texts) {
  std::vector<Digest> digests;
  digests.reserve(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) digests.push_back(digest_of(texts[i]));
  std::sort(digests.begin(), digests.end());
  return digests;
}

}  // namespace lorekeep::store
