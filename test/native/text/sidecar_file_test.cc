#include "text/sidecar_file.h"

#include <cstring>

#include "core/values/checksum.h"
#include "fuzz_driver.h"
#include "harness.h"
#include "sample_texts.h"
#include "scratch_folder.h"
#include "text/term_buckets.h"
#include "text/tokenizer_fit.h"

namespace lorekeep::text {
namespace {

constexpr std::uint64_t kFingerprint = 0x1234;
constexpr std::size_t kAtVersion = 8;

struct Sample {
  test::ScratchFolder folder;
  std::vector<std::string> texts;
  std::shared_ptr<const TextIndex> index;
  std::vector<std::string> queries;

  explicit Sample(std::size_t documents) {
    test::Random random(test::seed());
    texts = test::random_texts(random, documents, 30, 800);
    index = TextIndex::build(test::views(texts), {});
    for (int i = 0; i < 20; ++i) queries.push_back(test::random_text(random, 4, 800));
    save_sidecar(*index, path(), kFingerprint);
  }
  std::filesystem::path path() const { return folder / "kb.bm25"; }
  SidecarExpectation expectation() const { return {Tokenizer::kBasic, index->documents(), kFingerprint}; }
  bool answers_alike(const TextIndex& other) const {
    for (const std::string& query : queries) {
      if (index->search(query, {}).hits != other.search(query, {}).hits) return false;
    }
    return true;
  }
};

// Returns detail "mismatch" of the Error(kUnsupported) that `body` throws, or describes another outcome.
template <class Body>
std::string reason_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    if (error.code() != Code::kUnsupported) return std::string("another code: ") + error.what();
    for (const auto& [name, value] : error.details()) {
      if (name == "mismatch") return std::get<std::string>(value);
    }
    return "no reason";
  }
  return "nothing was thrown";
}

TEST("a saved index is loaded with everything it had") {
  for (const std::size_t documents : {0u, 1u, 64u, 700u}) {
    const Sample sample(documents);
    const Sidecar loaded = load_sidecar(sample.path());
    CHECK_EQ(loaded.fingerprint, kFingerprint);
    CHECK(loaded.index->tokenizer() == Tokenizer::kBasic);
    CHECK_EQ(loaded.index->documents(), documents);
    CHECK_EQ(loaded.index->terms(), sample.index->terms());
    CHECK_EQ(loaded.index->tokens(), sample.index->tokens());
    CHECK(sample.answers_alike(*loaded.index));
  }
}

TEST("a saved enhanced index with capped frequencies is loaded") {
  std::string repeated;
  for (std::uint32_t i = 0; i < kMaxTermFrequency + 10; ++i) repeated += "again ";
  const std::vector<std::string> texts = {repeated, "again and again", "other"};
  const auto index = TextIndex::build(test::views(texts), {.tokenizer = Tokenizer::kEnhanced});
  const test::ScratchFolder folder;
  save_sidecar(*index, folder / "kb.bm25", 0);
  const Sidecar loaded = load_sidecar(folder / "kb.bm25");
  CHECK(loaded.index->tokenizer() == Tokenizer::kEnhanced);
  CHECK(loaded.index->search("again", {}).hits == index->search("again", {}).hits);
}

TEST("a multilingual index, with its extra tokens, is loaded") {
  const std::vector<std::string> texts = {"Crème brûlée 北京大学", "creme", "京"};
  const auto index = TextIndex::build(test::views(texts), {.tokenizer = Tokenizer::kMultilingual});
  const test::ScratchFolder folder;
  save_sidecar(*index, folder / "kb.bm25", 0);
  const Sidecar loaded = load_sidecar(folder / "kb.bm25");
  CHECK(loaded.index->tokenizer() == Tokenizer::kMultilingual);
  for (const char* query : {"creme", "京", "北京 brulee"}) {
    CHECK(!loaded.index->search(query, {}).hits.empty());
    CHECK(loaded.index->search(query, {}).hits == index->search(query, {}).hits);
  }
}

TEST("a word's postings are checked when it is first asked for, and only its bucket's") {
  const std::vector<std::string> texts = {"alpha beta", "alpha gamma", "alpha"};
  const test::ScratchFolder folder;
  const auto index = TextIndex::build(test::views(texts), {});
  IndexData data = index->data();
  std::vector<std::byte> entries(data.entries.begin(), data.entries.end());
  const auto entry = TermBuckets().find(data, "gamma", data.bucket("gamma"), nullptr);
  entries[static_cast<std::size_t>(entry->directory - data.entries.data())] ^= std::byte{1};  // its first impact
  data.entries = entries;
  const TextIndex damaged(data, nullptr, std::make_unique<FirstUseCheck>(data, "damaged"));
  CHECK_EQ(damaged.search("alpha", {}).hits.size(), 3u);
  for (int n = 0; n < 2; ++n) CHECK_FAILS(Code::kCorrupt, damaged.search("gamma", {}));
  CHECK_EQ(damaged.search("alpha", {}).hits.size(), 3u);
  CHECK_FAILS(Code::kCorrupt, damaged.sample_terms(10));
}

TEST("a sidecar of another tokenizer, count or origin is refused by its reason") {
  const Sample sample(100);
  const auto load = [&](SidecarExpectation expected) {
    return reason_of([&] { load_sidecar(sample.path(), {.expected = &expected}); });
  };
  CHECK_EQ(load(sample.expectation()), "nothing was thrown");
  CHECK_EQ(load({Tokenizer::kEnhanced, 100, kFingerprint}), "tokenizer");
  CHECK_EQ(load({Tokenizer::kBasic, 101, kFingerprint}), "documents");
  CHECK_EQ(load({Tokenizer::kBasic, 100, 5}), "fingerprint");
}

TEST("files of other versions are unsupported, an older one whatever else it holds") {
  const Sample sample(70);
  auto file = test::read_file(sample.path());
  file[kAtVersion] = 1;
  test::write_file(sample.path(), file);
  CHECK_EQ(reason_of([&] { load_sidecar(sample.path()); }), "version");
  file.resize(12);
  test::write_file(sample.path(), file);
  CHECK_EQ(reason_of([&] { load_sidecar(sample.path()); }), "version");
  file = test::read_file((save_sidecar(*sample.index, sample.path(), 0), sample.path()));
  file[kAtVersion] = 3;
  test::repair_section_file(file);
  test::write_file(sample.path(), file);
  CHECK_FAILS(Code::kUnsupported, load_sidecar(sample.path()));
}

TEST("an analysis that this program does not do any more is refused by its reason") {
  const Sample sample(70);
  const auto original = test::read_file(sample.path());
  const SectionFileReader reader(sample.path(), kSidecarMagic, kSidecarVersion);
  const auto header = static_cast<std::size_t>(reader.section(1).data() - reader.mapping()->bytes().data());
  const auto load_with = [&](std::size_t offset, std::uint8_t value) {
    auto file = original;
    file[header + offset] = value;
    test::repair_section_file(file);
    test::write_file(sample.path(), file);
    return reason_of([&] { load_sidecar(sample.path()); });
  };
  CHECK_EQ(load_with(0, 9), "tokenizer");
  CHECK_EQ(load_with(4, 99), "analysis");   // analysis revision
  CHECK_EQ(load_with(12, 32), "analysis");  // documents per block
  CHECK_EQ(load_with(32, 1), "analysis");   // k1
}

TEST("a missing file, a folder and an unwritable place are said to be so") {
  const test::ScratchFolder folder;
  CHECK_FAILS(Code::kNotFound, load_sidecar(folder / "absent.bm25"));
  CHECK_FAILS(Code::kIo, load_sidecar(folder / "."));
  CHECK_FAILS(Code::kIo, save_sidecar(*Sample(1).index, folder / "no/such/folder/kb.bm25", 0));
}

TEST("a raised cancel token stops save and load, and a stopped save leaves the old file") {
  const Sample sample(70);
  CancelToken cancel;
  cancel.cancel();
  CHECK_FAILS(Code::kCancelled, save_sidecar(*sample.index, sample.path(), 77, &cancel));
  CHECK_EQ(load_sidecar(sample.path()).fingerprint, kFingerprint);
  CHECK_FAILS(Code::kCancelled, load_sidecar(sample.path(), {.work = {.cancel = &cancel}}));
}

TEST("a file cut anywhere is corrupt") {
  const Sample sample(70);
  const auto file = test::read_file(sample.path());
  std::vector<std::size_t> cuts;
  for (std::size_t size = 0; size < 300; ++size) cuts.push_back(size);
  for (std::size_t size = 320; size < file.size(); size += 64) cuts.insert(cuts.end(), {size - 1, size, size + 1});
  for (const std::size_t size : cuts) {
    test::write_file(sample.path(), std::span(file).first(std::min(size, file.size() - 1)));
    CHECK_FAILS(Code::kCorrupt, load_sidecar(sample.path()));
  }
}

TEST("a flipped bit is found by the checksums, unless it lies between sections") {
  const Sample sample(200);
  const auto original = test::read_file(sample.path());
  test::Random random(test::seed());
  std::size_t refused = 0;
  for (int round = 0; round < 600; ++round) {
    auto file = original;
    file[test::below(random, file.size())] ^= static_cast<std::uint8_t>(1u << test::below(random, 8));
    test::write_file(sample.path(), file);
    try {
      CHECK(sample.answers_alike(*load_sidecar(sample.path()).index));
    } catch (const Error& error) {
      CHECK(error.code() == Code::kCorrupt || error.code() == Code::kUnsupported);
      ++refused;
    }
  }
  CHECK(refused > 550);
}

// For a forged file, the load or a search throws, or hits are documents of the index.
bool refused_when_used(const Sample& sample, const SidecarExpectation& expected) {
  try {
    const Sidecar loaded = load_sidecar(sample.path(), {.expected = &expected});
    for (const std::string& query : sample.queries) {
      for (const Scored& hit : loaded.index->search(query, {}).hits) CHECK(hit.ordinal < loaded.index->documents());
    }
    tokenizer_fit(*loaded.index);
    return false;
  } catch (const Error& error) {
    CHECK(error.code() == Code::kCorrupt || error.code() == Code::kUnsupported);
    return true;
  }
}

TEST("damage with mended checksums is found by the checks, or does no harm") {
  const Sample sample(300);
  const auto original = test::read_file(sample.path());
  const SidecarExpectation expected = sample.expectation();
  test::Random random(test::seed());
  std::size_t refused = 0;
  std::size_t refused_in_use = 0;
  for (int round = 0; round < 1500; ++round) {
    auto file = original;
    for (std::size_t n = 1 + test::below(random, 2); n > 0; --n) {
      file[test::below(random, file.size())] = static_cast<std::uint8_t>(random());
    }
    test::repair_section_file(file);
    test::write_file(sample.path(), file);
    try {
      const Sidecar loaded = load_sidecar(sample.path(), {.expected = &expected, .complete = true});
      CHECK(sample.answers_alike(*loaded.index));
    } catch (const Error& error) {
      CHECK(error.code() == Code::kCorrupt || error.code() == Code::kUnsupported);
      ++refused;
    }
    refused_in_use += refused_when_used(sample, expected);
  }
  CHECK(refused > 1300);
  CHECK(refused_in_use > 750);
}

}  // namespace
}  // namespace lorekeep::text
