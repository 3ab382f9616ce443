#include "store/embeddings_file.h"

#include <limits>

#include "harness.h"
#include "scratch_folder.h"

namespace lorekeep::store {
namespace {

constexpr Digest kFileKey{1, 2};
constexpr std::size_t kFileDimension = 3;

struct SampleFile {
  std::vector<Digest> digests{{0, 5}, {0, 9}, {4, 1}};
  std::vector<std::uint8_t> truncated{0, 1, 0};
  std::vector<float> numbers{1, 2, 3, 4, 5, 6, 7, 8, 9};
  test::ScratchFolder folder;

  std::filesystem::path path() const { return folder / "kb.embeddings"; }
  void write() const {
    const std::vector<const float*> rows{numbers.data(), numbers.data() + 3, numbers.data() + 6};
    write_embeddings(path(), kFileKey, {digests, truncated, rows, kFileDimension}, nullptr);
  }
};

TEST("a written file gives each text's vector, and none for other texts") {
  const SampleFile sample;
  sample.write();
  const EmbeddingsFile file(sample.path(), kFileKey, kFileDimension);
  CHECK_EQ(file.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto row = file.find(sample.digests[i]);
    REQUIRE(row.has_value());
    CHECK_EQ(row->vector[0], sample.numbers[i * kFileDimension]);
    CHECK_EQ(row->truncated, sample.truncated[i] == 1);
  }
  CHECK(!file.find({0, 6}).has_value());
  CHECK(!file.find({9, 9}).has_value());
}

TEST("another key or dimension is not this file") {
  const SampleFile sample;
  sample.write();
  CHECK_FAILS(Code::kUnsupported, EmbeddingsFile(sample.path(), {1, 3}, kFileDimension));
  CHECK_FAILS(Code::kUnsupported, EmbeddingsFile(sample.path(), kFileKey, 4));
  CHECK_FAILS(Code::kNotFound, EmbeddingsFile(sample.folder / "absent", kFileKey, kFileDimension));
}

TEST("a file whose checksums are right and whose content is not is refused") {
  SampleFile unordered;
  std::swap(unordered.digests[0], unordered.digests[1]);
  SampleFile repeated;
  repeated.digests[1] = repeated.digests[0];
  SampleFile neither;
  neither.truncated[0] = 2;
  SampleFile no_number;
  no_number.numbers[4] = std::numeric_limits<float>::quiet_NaN();
  for (const SampleFile* sample : {&unordered, &repeated, &neither, &no_number}) {
    sample->write();
    CHECK_FAILS(Code::kCorrupt, EmbeddingsFile(sample->path(), kFileKey, kFileDimension));
  }
}

TEST("every single flipped bit is noticed") {
  const SampleFile sample;
  sample.write();
  const std::vector<std::uint8_t> right = test::read_file(sample.path());
  for (std::size_t bit = 0; bit < right.size() * 8; ++bit) {
    std::vector<std::uint8_t> bytes = right;
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    test::write_file(sample.path(), bytes);
    bool refused = false;
    try {
      const EmbeddingsFile file(sample.path(), kFileKey, kFileDimension);
    } catch (const Error& error) {
      refused = error.code() == Code::kCorrupt || error.code() == Code::kUnsupported;
    }
    if (!refused) test::report_failure(__FILE__, __LINE__, "bit " + std::to_string(bit) + " was not noticed");
  }
}

}  // namespace
}  // namespace lorekeep::store
