#include "vector/hnswlib_file.h"

#include <cstring>
#include <limits>
#include <numeric>

#include "hnswlib_sample.h"
#include "sample_vectors.h"
#include "vector/flat_index.h"
#include "vector/index_file.h"

namespace lorekeep::vector {
namespace {

using test::clustered_rows;
using test::HnswlibSample;
using test::TemporaryFolder;
using test::write_hnswlib_file;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// What import says of these bytes.
std::string refusal(const std::filesystem::path& path, Code code, std::size_t dimension = 6) {
  try {
    import_hnswlib_file(path, dimension);
    return "nothing was thrown";
  } catch (const Error& error) {
    CHECK_EQ(std::string(code_name(error.code())), std::string(code_name(code)));
    CHECK(contains(error.what(), path.string()));
    return error.what();
  }
}

TEST("hnswlib file: what hnswlib wrote is found again, its labels as ordinals") {
  const TemporaryFolder folder;
  for (std::size_t dimension : {std::size_t{6}, std::size_t{80}}) {
    const auto rows = clustered_rows(800, dimension, 10, test::seed());
    HnswlibSample sample{.dimension = dimension, .m = 8};
    sample.labels.resize(800);
    std::iota(sample.labels.begin(), sample.labels.end(), 0);
    std::shuffle(sample.labels.begin(), sample.labels.end(), std::mt19937_64(test::seed()));
    std::vector<float> by_label(rows.size());
    for (std::size_t i = 0; i < 800; ++i) {
      std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(i * dimension), dimension,
                  by_label.begin() + static_cast<std::ptrdiff_t>(sample.labels[i] * dimension));
    }
    write_hnswlib_file(folder / "index.bin", rows, sample);
    const auto index = import_hnswlib_file(folder / "index.bin", dimension);
    const auto truth = FlatIndex::build(by_label, dimension);
    CHECK_EQ(index->size(), 800u);
    CHECK_EQ(index->params().m, 8u);
    double same = 0;
    for (std::size_t q = 0; q < 20; ++q) {
      const auto query = std::span<const float>(by_label).subspan(q * dimension, dimension);
      CHECK(index->search(query, {.path = SearchPath::kExact}).hits[0].ordinal == q);
      const auto ours = index->search(query, {.k = 10, .ef = 64, .path = SearchPath::kGraph}).hits;
      CHECK(test::recall(ours, truth->search(query, {}).hits) >= 0.9);
      const auto theirs = test::search_hnswlib_file(folder / "index.bin", dimension, query, 10, 64);
      for (const Scored& hit : ours) same += std::count(theirs.begin(), theirs.end(), hit.ordinal);
    }
    CHECK(same >= 195);  // of 200: the same graph, searched as wide
  }
}

TEST("hnswlib file: an imported index can be saved in our format") {
  const TemporaryFolder folder;
  const auto rows = clustered_rows(300, 70, 10, test::seed());
  write_hnswlib_file(folder / "index.bin", rows, {.dimension = 70});
  const auto imported = import_hnswlib_file(folder / "index.bin", 70);
  save_index(*imported, folder / "index.lkh", 3);
  const auto loaded = load_index(folder / "index.lkh").index;
  const auto query = std::span(rows).first(70);
  for (SearchPath path : {SearchPath::kGraph, SearchPath::kExact}) {
    CHECK(loaded->search(query, {.path = path}).hits == imported->search(query, {.path = path}).hits);
  }
}

TEST("hnswlib file: empty and single-element files work") {
  const TemporaryFolder folder;
  for (std::size_t count : {0, 1}) {
    write_hnswlib_file(folder / "index.bin", clustered_rows(count, 6, 1, 1), {});
    const auto index = import_hnswlib_file(folder / "index.bin", 6);
    CHECK_EQ(index->size(), count);
    CHECK_EQ(index->search(std::vector<float>(6, 1.0f), {.path = SearchPath::kGraph}).hits.size(), count);
  }
}

TEST("hnswlib file: what cannot be used is refused with its reason") {
  const TemporaryFolder folder;
  const auto rows = clustered_rows(50, 6, 3, test::seed());
  const auto path = folder / "index.bin";
  const auto with = [&](HnswlibSample sample) { write_hnswlib_file(path, rows, sample); };
  with({.normalised = false});
  CHECK(contains(refusal(path, Code::kUnsupported), "L2-normalised"));
  with({.normalised = false, .l2 = true});
  CHECK(contains(refusal(path, Code::kUnsupported), "L2-normalised"));
  with({.deleted = {7}});
  CHECK(contains(refusal(path, Code::kUnsupported), "record 7 is marked as deleted"));
  HnswlibSample gap;
  gap.labels.resize(50);
  std::iota(gap.labels.begin(), gap.labels.end(), 1);
  with(gap);
  CHECK(contains(refusal(path, Code::kUnsupported), "label 50 is not the ordinal"));
  with({});
  CHECK(contains(refusal(path, Code::kDimensionMismatch, 7), "the index has dimension 6, not 7"));
  CHECK_FAILS(Code::kInvalidArgument, import_hnswlib_file(path, 0));
  CHECK_FAILS(Code::kNotFound, import_hnswlib_file(folder / "none", 6));
  CancelToken cancel;
  cancel.cancel();
  CHECK_FAILS(Code::kCancelled, import_hnswlib_file(path, 6, &cancel));
}

// Offsets in the file's preamble.
enum Field : std::size_t {
  kBaseOffset = 0,
  kCapacity = 8,
  kCount = 16,
  kElementSize = 24,
  kLabelOffset = 32,
  kVectorOffset = 40,
  kTopLevel = 48,
  kEntry = 52,
  kUpperM = 56,
  kBaseM = 64,
  kMField = 72,
  kEfConstruction = 88,
  kElements = 96,
};

TEST("hnswlib file: numbers that contradict the file are refused, whatever they claim") {
  const TemporaryFolder folder;
  const auto path = folder / "index.bin";
  write_hnswlib_file(path, clustered_rows(50, 6, 3, test::seed()), {});
  const auto bytes = test::read_file(path);
  constexpr std::size_t kElement = 4 + 8 * 4 + 6 * 4 + 8;
  const auto refused = [&](std::size_t at, auto value, Code code, const std::string& reason) {
    auto broken = bytes;
    std::memcpy(broken.data() + at, &value, sizeof(value));
    test::write_file(path, broken);
    const std::string got = refusal(path, code);
    CHECK(contains(got, reason));
    if (!contains(got, reason)) std::printf("    got: %s\n", got.c_str());
  };
  refused(kBaseOffset, std::uint64_t{8}, Code::kCorrupt, "nor an hnswlib index");
  refused(kCapacity, std::uint64_t{49}, Code::kCorrupt, "number of elements");
  refused(kCount, std::uint64_t{51}, Code::kCorrupt, "");
  refused(kCount, std::uint64_t{49}, Code::kCorrupt, "upper lists");
  refused(kCount, ~std::uint64_t{0}, Code::kCorrupt, "number of elements");
  refused(kElementSize, std::uint64_t{kElement + 1}, Code::kCorrupt, "layout");
  refused(kElementSize, ~std::uint64_t{0}, Code::kCorrupt, "layout");
  refused(kLabelOffset, std::uint64_t{kElement}, Code::kCorrupt, "layout");
  refused(kLabelOffset, std::uint64_t{0}, Code::kCorrupt, "layout");
  refused(kVectorOffset, std::uint64_t{0}, Code::kCorrupt, "layout");
  refused(kTopLevel, std::int32_t{-1}, Code::kCorrupt, "top level");
  refused(kTopLevel, std::int32_t{32}, Code::kCorrupt, "top level");
  refused(kTopLevel, std::int32_t{20}, Code::kCorrupt, "entry");
  refused(kEntry, std::uint32_t{50}, Code::kCorrupt, "entry");
  refused(kUpperM, std::uint64_t{1} << 60, Code::kUnsupported, "its M");
  refused(kBaseM, std::uint64_t{9}, Code::kUnsupported, "its M");
  refused(kMField, std::uint64_t{5}, Code::kUnsupported, "its M");
  refused(kEfConstruction, std::uint64_t{0}, Code::kCorrupt, "ef_construction");
  refused(kElements, std::uint16_t{9}, Code::kCorrupt, "more neighbours than a list holds");
  refused(kElements + 4, std::uint32_t{50}, Code::kCorrupt, "neighbour 50 does not exist");
  refused(kElements + 4 + 32, std::numeric_limits<float>::quiet_NaN(), Code::kCorrupt, "not finite");
  refused(kElements + 4 + 32, 100.0f, Code::kUnsupported, "L2-normalised");
  refused(kElements + kElement - 8, std::uint64_t{1}, Code::kCorrupt, "label 1 occurs twice");
  refused(kElements + 50 * kElement, std::uint32_t{7}, Code::kCorrupt, "broken upper lists");
  refused(kElements + 50 * kElement, std::uint32_t{20 * 32}, Code::kCorrupt, "");
  auto longer = bytes;
  longer.push_back(0);
  test::write_file(path, longer);
  CHECK(contains(refusal(path, Code::kCorrupt), "bytes follow its end"));
  for (std::size_t size = 0; size < bytes.size(); size += 29) {
    test::write_file(path, std::span(bytes).first(size));
    CHECK(contains(refusal(path, Code::kCorrupt), "truncated"));
  }
}

}  // namespace
}  // namespace lorekeep::vector
