#include "store/embedding_rows.h"

#include <string>
#include <vector>

#include "core/values/error.h"
#include "harness.h"
#include "records_sample.h"
#include "store/kept_embeddings.h"

namespace lorekeep::store {
namespace {

constexpr Digest kKey{1, 2};
constexpr std::size_t kDimension = 2;
using Ordinals = std::vector<std::uint32_t>;

/// Records 0 and 2 have the same text.
struct Sample {
  RecordsFile file;
  Records records = file.read(R"([{"id": "a", "text": "bee"}, {"id": "b", "text": "moon"},
                                  {"id": "c", "text": "bee"}, {"id": "d", "text": "tide"}])");
  test::ScratchFolder folder;

  std::filesystem::path cache() const { return folder / "kb.embeddings"; }
  EmbeddingRows rows(const Digest& key = kKey) const { return {records, kDimension, key}; }
};

TEST("portions name each text once, as many as fit, and at least one") {
  const Sample sample;
  EmbeddingRows rows = sample.rows();
  CHECK_EQ(rows.missing(), 3u);
  CHECK(rows.next_portion(sample.records, 4).ordinals == (Ordinals{0, 1}));
  CHECK(rows.next_portion(sample.records, 1).ordinals == (Ordinals{3}));
  CHECK(rows.next_portion(sample.records, 1).ordinals.empty());
}

TEST("records with equal texts share an embedding, and a failed text has none") {
  const Sample sample;
  EmbeddingRows rows = sample.rows();
  const Ordinals portion = rows.next_portion(sample.records, 100).ordinals;
  REQUIRE(portion == (Ordinals{0, 1, 3}));
  const std::vector<float> vectors{1, 2, 3, 4, 5, 6};
  rows.fill(portion, vectors, Ordinals{0}, Ordinals{1});
  CHECK_EQ(rows.missing(), 1u);
  CHECK_EQ(rows.truncated(), 2u);
  CHECK(rows.take() == (std::vector<float>{1, 2, 0, 0, 1, 2, 5, 6}));
}

TEST("a cache file spares its texts, truncated ones where that is wanted") {
  const Sample sample;
  EmbeddingRows made = sample.rows();
  made.fill(Ordinals{0, 1}, std::vector<float>{1, 2, 3, 4}, Ordinals{1});
  made.save(sample.cache(), nullptr);
  for (const bool truncated_too : {false, true}) {
    EmbeddingRows rows = sample.rows();
    rows.take_over(sample.cache(), truncated_too);
    CHECK_EQ(rows.refusal(), "");
    CHECK_EQ(rows.reused(), truncated_too ? 3u : 2u);
    CHECK_EQ(rows.missing(), truncated_too ? 1u : 2u);
  }
}

TEST("a cache file that cannot be used leaves all texts missing, and says why") {
  const Sample sample;
  EmbeddingRows rows = sample.rows();
  rows.take_over(sample.cache(), true);
  CHECK_EQ(rows.refusal(), "there is none");
  EmbeddingRows made = sample.rows();
  made.fill(Ordinals{0}, std::vector<float>{1, 2});
  made.save(sample.cache(), nullptr);
  EmbeddingRows other = sample.rows({1, 3});
  other.take_over(sample.cache(), true);
  CHECK(other.refusal().find(".embeddings") != std::string::npos);
  CHECK_EQ(other.missing(), 3u);
}

TEST("taking a cache file over can be cancelled") {
  const Sample sample;
  EmbeddingRows made = sample.rows();
  made.fill(Ordinals{0}, std::vector<float>{1, 2});
  made.save(sample.cache(), nullptr);
  CancelToken cancel;
  cancel.cancel();
  EmbeddingRows rows = sample.rows();
  CHECK_FAILS(Code::kCancelled, rows.take_over(sample.cache(), true, &cancel));
  CHECK_FAILS(Code::kCancelled, EmbeddingRows(sample.records, kDimension, kKey, &cancel));
}

TEST("further files give the texts that the first one does not have, and texts of no record are kept apart") {
  const Sample sample;
  EmbeddingRows first = sample.rows();
  first.fill(Ordinals{0}, std::vector<float>{1, 2});
  first.save(sample.cache(), nullptr);
  EmbeddingRows second = sample.rows();
  second.fill(Ordinals{0, 1}, std::vector<float>{9, 9, 3, 4});
  const std::filesystem::path more = sample.folder / "more";
  second.save(more, nullptr);
  EmbeddingRows rows = sample.rows();
  rows.take_over(sample.cache(), false);
  rows.take_more(std::vector{sample.folder / "absent", more}, false);
  CHECK_EQ(rows.refusal(), "");
  CHECK_EQ(rows.reused(), 3u);
  CHECK(rows.take() == (std::vector<float>{1, 2, 3, 4, 1, 2, 0, 0}));

  RecordsFile other;
  const Records fewer = other.read(R"([{"id": "a", "text": "bee"}])");
  const std::filesystem::path kept = sample.folder / "kept";
  const std::vector files{sample.cache(), more};
  CHECK_EQ(EmbeddingRows(fewer, kDimension, kKey).save_others(kept, files, nullptr), 1u);
  TextArena texts;
  for (const char* text : {"bee", "moon", "tide"}) texts.append(text);
  const FoundEmbeddings found = find_embeddings(texts, std::vector{kept}, {kKey, kDimension});
  CHECK(found.texts == (Ordinals{1}));
  CHECK(found.rows == (std::vector<float>{3, 4}));
}

TEST("embeddings of texts and files are united without those of dropped texts") {
  const Sample sample;
  EmbeddingRows made = sample.rows();
  made.fill(Ordinals{0, 1}, std::vector<float>{1, 2, 3, 4});
  made.save(sample.cache(), nullptr);
  TextArena own, dropped, all;
  own.append("tide");
  own.append("bee");
  dropped.append("moon");
  for (const char* text : {"bee", "moon", "tide"}) all.append(text);
  const std::vector<float> rows{5, 6, 7, 8};
  const std::vector files{sample.cache()};
  const EmbeddingsKind kind{kKey, kDimension};
  const std::vector<Digest> without = text_digests(dropped);
  CHECK_EQ(unite_embeddings(sample.folder / "out", {files, own, rows, without}, kind, nullptr), 2u);
  const FoundEmbeddings found = find_embeddings(all, std::vector{sample.folder / "out"}, kind);
  CHECK(found.texts == (Ordinals{0, 2}));
  CHECK(found.rows == (std::vector<float>{7, 8, 5, 6}));
  CHECK_EQ(unite_embeddings(sample.folder / "none", {{}, dropped, std::vector<float>{1, 1}, without}, kind, nullptr),
           0u);
  CHECK(!std::filesystem::exists(sample.folder / "none"));
}

}  // namespace
}  // namespace lorekeep::store
