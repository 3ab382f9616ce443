#include "store/embeddings_file.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/values/error.h"

namespace lorekeep::store {
namespace {

enum Section : std::uint32_t { kHeader = 1, kDigests = 2, kTruncated = 3, kRows = 4 };
constexpr std::uint32_t kSections = 4;
constexpr std::size_t kRowGrain = 1024;  // rows

struct Header {
  Digest key;
  std::uint32_t dimension;
  std::uint32_t zero;
  std::uint64_t rows;
};
static_assert(sizeof(Digest) == 16 && sizeof(Header) == 32);

[[noreturn]] void refuse_other(const SectionFileReader& file, const char* mismatch, const std::string& reason) {
  fail_file(Code::kUnsupported, file.name(), reason, {{"mismatch", std::string(mismatch)}});
}

[[noreturn]] void refuse_damage(const SectionFileReader& file, const char* what) {
  fail_file(Code::kCorrupt, file.name(), what);
}

}  // namespace

EmbeddingsFacts read_embeddings_facts(const SectionFileReader& file) {
  const auto header = file.value<Header>(kHeader);
  return {header.rows, header.dimension};
}

std::string_view embeddings_section_name(std::uint32_t id) noexcept {
  switch (id) {
    case kHeader: return "header";
    case kDigests: return "text digests";
    case kTruncated: return "truncated texts";
    case kRows: return "rows";
    case kOwnerSection: return "owner";
    case kMarkSection: return "mark";
    default: return {};
  }
}

EmbeddingsFile::EmbeddingsFile(const std::filesystem::path& path, const Digest& key, std::size_t dimension,
                               const CancelToken* cancel)
    : file_(path, kEmbeddingsMagic, kEmbeddingsVersion), dimension_(dimension) {
  const auto header = file_.value<Header>(kHeader);
  if (header.key != key) refuse_other(file_, "model", "built with another embedding model, prefix or context size");
  if (header.dimension != dimension) refuse_other(file_, "dimension", "built for vectors of another dimension");
  file_.verify(cancel);
  digests_ = file_.array<Digest>(kDigests);
  truncated_ = file_.array<std::uint8_t>(kTruncated);
  rows_ = file_.array<float>(kRows);
  const bool parallel = digests_.size() == header.rows && truncated_.size() == header.rows &&
                        rows_.size() / dimension == header.rows && rows_.size() % dimension == 0;
  if (!parallel) refuse_damage(file_, "its sections have inconsistent sizes");
  check_rows(cancel);
}

// Checks the values: checksums detect damage, not forgery.
void EmbeddingsFile::check_rows(const CancelToken* cancel) const {
  for (std::size_t i = 0; i < digests_.size(); ++i) {
    if (cancel != nullptr && i % kRowGrain == 0) cancel->check();
    if (i > 0 && !(digests_[i - 1] < digests_[i])) refuse_damage(file_, "its texts are not in order");
    if (truncated_[i] > 1) refuse_damage(file_, "a row has an invalid truncation flag");
    const auto row = rows_.subspan(i * dimension_, dimension_);
    if (!std::all_of(row.begin(), row.end(), [](float value) { return std::isfinite(value); })) {
      refuse_damage(file_, "a vector has values that are not finite");
    }
  }
}

std::optional<EmbeddingsFile::Row> EmbeddingsFile::find(const Digest& text) const noexcept {
  const auto found = std::lower_bound(digests_.begin(), digests_.end(), text);
  if (found == digests_.end() || *found != text) return std::nullopt;
  return entry(static_cast<std::size_t>(found - digests_.begin())).row;
}

EmbeddingsFile::Entry EmbeddingsFile::entry(std::size_t index) const noexcept {
  return {digests_[index], {rows_.subspan(index * dimension_, dimension_), truncated_[index] == 1}};
}

void write_embeddings(const std::filesystem::path& path, const Digest& key, const EmbeddingsView& embeddings,
                      const CancelToken* cancel, const FileOwner* owner) {
  const Header header{key, static_cast<std::uint32_t>(embeddings.dimension), 0, embeddings.digests.size()};
  SectionFileWriter file(path, kEmbeddingsMagic, kEmbeddingsVersion, 0, kSections, owner, Damaged::kRemade);
  file.begin(kHeader);
  file.write(std::as_bytes(std::span(&header, 1)));
  file.begin(kDigests);
  file.write_array(embeddings.digests);
  file.begin(kTruncated);
  file.write_array(embeddings.truncated);
  file.begin(kRows);
  for (std::size_t i = 0; i < embeddings.rows.size(); ++i) {
    if (cancel != nullptr && i % kRowGrain == 0) cancel->check();
    file.write_array(std::span(embeddings.rows[i], embeddings.dimension));
  }
  file.commit();
}

}  // namespace lorekeep::store
