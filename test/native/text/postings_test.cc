#include "text/postings.h"

#include <map>

#include "harness.h"
#include "sample_texts.h"
#include "text/posting_blocks.h"
#include "text/query_term_postings.h"

namespace lorekeep::text {
namespace {

using Document = std::pair<std::uint32_t, std::uint32_t>;  // local ordinal, frequency

struct SampleBlock {
  std::vector<Document> documents;
  std::uint8_t impact;
};

std::map<std::uint32_t, SampleBlock> random_blocks(test::Random& random, std::uint32_t index_blocks) {
  static constexpr std::uint32_t kFrequencies[] = {1, 1, 1, 2, 3, 4, 5, 255, 256, 65535};
  std::map<std::uint32_t, SampleBlock> blocks;
  const std::size_t one_in = 1 + test::below(random, 40);
  for (std::uint32_t block = 0; block < index_blocks; ++block) {
    if (test::below(random, one_in) != 0) continue;
    SampleBlock& made = blocks[block];
    made.impact = static_cast<std::uint8_t>(1 + test::below(random, 255));
    const std::size_t gap = 1 + test::below(random, 64);
    for (std::size_t local = test::below(random, 64); local < 64; local += 1 + test::below(random, gap)) {
      made.documents.push_back(
          {static_cast<std::uint32_t>(local), kFrequencies[test::below(random, std::size(kFrequencies))]});
    }
  }
  return blocks;
}

std::vector<std::byte> encode(const std::map<std::uint32_t, SampleBlock>& blocks, std::uint32_t index_blocks) {
  TermEncoder encoder(index_blocks);
  encoder.start("term");
  for (const auto& [number, block] : blocks) {
    std::byte body[kBlockDocuments * kMaxPostingBytes];
    std::byte* end = body;
    for (const auto& [local, frequency] : block.documents) end = write_posting(end, local, frequency);
    const auto size = static_cast<std::size_t>(end - body);
    encoder.add(number, static_cast<std::uint32_t>(block.documents.size()), block.impact, body, size);
  }
  std::vector<std::byte> entry;
  encoder.finish(entry);
  return entry;
}

TEST("numbers survive as varints, and cut or endless ones are refused") {
  for (const std::uint64_t value : {0ull, 1ull, 127ull, 128ull, 16383ull, 16384ull, 0xFFFFFFFFull, ~0ull >> 1}) {
    std::vector<std::byte> bytes;
    write_varint(bytes, value);
    const std::byte* at = bytes.data();
    CHECK_EQ(read_varint(at), value);
    CHECK(at == bytes.data() + bytes.size());
    at = bytes.data();
    std::uint64_t checked = 0;
    CHECK(read_varint_checked(at, bytes.data() + bytes.size(), checked) && checked == value);
    at = bytes.data();
    CHECK(!read_varint_checked(at, bytes.data() + bytes.size() - 1, checked));
  }
  const std::vector<std::byte> endless(32, std::byte{0x80});
  const std::byte* at = endless.data();
  std::uint64_t value = 0;
  CHECK(!read_varint_checked(at, endless.data() + endless.size(), value));
}

TEST("an impact is an upper bound of its fraction and as tight as a byte allows") {
  for (int i = 0; i <= 100000; ++i) {
    const float fraction = static_cast<float>(i) / 100000.0f;
    const float bound = static_cast<float>(impact_of(fraction)) / static_cast<float>(kImpactScale);
    REQUIRE(bound >= fraction && bound <= fraction + 1.01f / static_cast<float>(kImpactScale));
  }
}

TEST("what the encoder wrote is found block by block, sparse and dense") {
  test::Random random(test::seed());
  bool saw_sparse = false;
  bool saw_dense = false;
  for (int round = 0; round < 300; ++round) {
    const auto index_blocks = static_cast<std::uint32_t>(1 + test::below(random, 700));
    const auto blocks = random_blocks(random, index_blocks);
    if (blocks.empty()) continue;
    const auto bytes = encode(blocks, index_blocks);
    const std::byte* at = bytes.data();
    const TermEntry entry = TermEntry::parse(at);
    REQUIRE(at == bytes.data() + bytes.size());
    CHECK_EQ(entry.term, "term");
    CHECK_EQ(entry.blocks, blocks.size());
    (is_dense(entry.blocks, index_blocks) ? saw_dense : saw_sparse) = true;

    const QueryTermPostings postings({entry, 255.0f}, index_blocks);
    std::vector<float> bounds(index_blocks);
    postings.add_bounds(bounds);
    std::size_t documents = 0;
    for (std::uint32_t number = 0; number < index_blocks; ++number) {
      const auto found = postings.find(number);
      const auto expected = blocks.find(number);
      REQUIRE((found.size != 0) == (expected != blocks.end()));
      REQUIRE(bounds[number] == found.bound);
      if (found.size == 0) continue;
      REQUIRE(found.bound == static_cast<float>(expected->second.impact));
      std::vector<Document> read;
      for_each_posting(found.data, found.size,
                       [&](std::uint32_t local, std::uint32_t frequency) { read.push_back({local, frequency}); });
      REQUIRE(read == expected->second.documents);
      documents += read.size();
    }
    CHECK_EQ(entry.documents, documents);

    auto next = blocks.begin();
    for_each_block(entry, index_blocks, [&](std::uint32_t number, const std::byte* body, std::size_t size) {
      const auto found = postings.find(number);
      REQUIRE(next != blocks.end() && number == (next++)->first);
      REQUIRE(body == found.data && size == found.size);
    });
    CHECK(next == blocks.end());
  }
  CHECK(saw_sparse && saw_dense);
}

}  // namespace
}  // namespace lorekeep::text
