#include "vector/index_file.h"

#include <limits>

#include "core/values/checksum.h"
#include "sample_vectors.h"
#include "vector/flat_index.h"

namespace lorekeep::vector {
namespace {

using test::clustered_rows;
using test::TemporaryFolder;

constexpr std::size_t kHeaderSection = 0;  // places in the section table
constexpr std::size_t kRowsSection = 1;
constexpr std::size_t kCodesSection = 3;
constexpr std::size_t kBaseSection = 5;
constexpr std::size_t kStartsSection = 6;
constexpr std::size_t kCellStartsSection = 13;
constexpr std::size_t kCellMembersSection = 14;
constexpr std::size_t kCellRadiiSection = 15;
constexpr std::size_t kLowBitsSection = 8;
constexpr std::size_t kCalibrationSection = 16;

/// A file that can be edited section by section, its checksums mended.
class Editor {
 public:
  explicit Editor(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  void put(std::size_t section, std::size_t offset, T value) {
    std::memcpy(bytes_.data() + number(section, 8) + offset, &value, sizeof(value));
  }
  template <class T>
  T get(std::size_t section, std::size_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + number(section, 8) + offset, sizeof(value));
    return value;
  }
  std::size_t size_of(std::size_t section) const { return number(section, 16); }

  const std::vector<std::uint8_t>& bytes() const noexcept { return bytes_; }
  std::vector<std::uint8_t> mended() const {
    auto bytes = bytes_;
    const auto sum = [&](std::size_t from, std::size_t size) {
      return checksum(std::as_bytes(std::span(bytes)).subspan(from, size));
    };
    const auto write = [&](std::size_t at, std::uint64_t value) { std::memcpy(bytes.data() + at, &value, 8); };
    std::uint32_t sections;
    std::memcpy(&sections, bytes.data() + 12, sizeof(sections));
    for (std::size_t i = 0; i < sections; ++i) write(48 + 32 * i + 24, sum(number(i, 8), number(i, 16)));
    write(32, sum(48, 32 * sections));
    write(40, sum(0, 40));
    return bytes;
  }

 private:
  std::size_t number(std::size_t section, std::size_t field) const {
    std::uint64_t value;
    std::memcpy(&value, bytes_.data() + 48 + 32 * section + field, sizeof(value));
    return static_cast<std::size_t>(value);
  }
  std::vector<std::uint8_t> bytes_;
};

// Offsets within the header section.
enum Field : std::size_t {
  kCount = 0,
  kSeed = 8,
  kDimension = 16,
  kType = 20,
  kMetric = 24,
  kFlags = 28,
  kM = 32,
  kEfConstruction = 36,
  kEntry = 40,
  kTopLevel = 44,
  kCodeError = 48,
  kZero = 52,
};

struct Saved {
  TemporaryFolder folder;
  std::filesystem::path path = folder / "index.lkh";
  std::shared_ptr<const HnswIndex> index;
  std::vector<float> rows;

  explicit Saved(std::size_t dimension, VectorType type = VectorType::kF32, std::size_t count = 400)
      : rows(clustered_rows(count, dimension, 8, test::seed())) {
    index = HnswIndex::build(rows, dimension, {{.m = 4, .ef_construction = 20, .seed = 5}, type});
    save_index(*index, path, 0xfeedULL);
  }
  Editor edit() const { return Editor(test::read_file(path)); }
  std::string refusal(const std::vector<std::uint8_t>& bytes, Code code, bool verify = false) const {
    test::write_file(path, bytes);
    std::string got;
    try {
      load_index(path, {.verify_vectors = verify, .dimension = {}});
      return "nothing was thrown";
    } catch (const Error& error) {
      CHECK_EQ(std::string(code_name(error.code())), std::string(code_name(code)));
      CHECK(std::string(error.what()).find("index.lkh") != std::string::npos);
      return error.what();
    }
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST("index file: a loaded index gives the same results as the one saved, for all types, with codes and without") {
  for (VectorType type : {VectorType::kF32, VectorType::kF16, VectorType::kI8, VectorType::kI10}) {
    for (std::size_t dimension : {std::size_t{5}, std::size_t{72}}) {
      const Saved saved(dimension, type);
      for (bool verify : {false, true}) {
        const LoadedIndex loaded = load_index(saved.path, {.verify_vectors = verify, .dimension = dimension});
        CHECK_EQ(loaded.fingerprint, 0xfeedULL);
        CHECK_EQ(loaded.index->size(), 400u);
        CHECK(loaded.index->type() == type);
        CHECK_EQ(loaded.index->params().m, 4u);
        CHECK_EQ(loaded.index->params().ef_construction, 20u);
        CHECK_EQ(loaded.index->params().seed, 5u);
        CHECK_EQ(loaded.index->memory_bytes(), saved.index->memory_bytes());
        for (SearchPath path : {SearchPath::kGraph, SearchPath::kExact}) {
          for (std::size_t q = 0; q < 10; ++q) {
            const auto query = std::span(saved.rows).subspan(q * dimension, dimension);
            CHECK(loaded.index->search(query, {.path = path}).hits == saved.index->search(query, {.path = path}).hits);
            CHECK(loaded.index->row(q) == saved.index->row(q));
          }
        }
      }
    }
  }
}

TEST("index file: empty and single-row indexes survive the round trip") {
  for (std::size_t count : {0, 1}) {
    const Saved saved(3, VectorType::kF32, count);
    const auto loaded = load_index(saved.path).index;
    CHECK_EQ(loaded->size(), count);
    CHECK_EQ(loaded->search(std::vector<float>(3, 1.0f), {.path = SearchPath::kGraph}).hits.size(), count);
  }
}

TEST("index file: saving what was loaded gives the same bytes, over the file it came from too") {
  const Saved saved(72);
  const auto before = test::read_file(saved.path);
  const auto loaded = load_index(saved.path).index;
  save_index(*loaded, saved.path, 0xfeedULL);
  CHECK(test::read_file(saved.path) == before);
  CHECK(loaded->search(std::span(saved.rows).first(72), {}).hits[0].ordinal == 0);
}

TEST("index file: the index outlives its file's name") {
  const Saved saved(72);
  const auto loaded = load_index(saved.path).index;
  std::filesystem::remove(saved.path);
  CHECK(loaded->search(std::span(saved.rows).first(72), {}).hits[0].ordinal == 0);
}

TEST("index file: another dimension than expected is refused with both") {
  const Saved saved(5);
  try {
    load_index(saved.path, {.verify_vectors = false, .dimension = 384});
    CHECK(false);
  } catch (const Error& error) {
    CHECK(error.code() == Code::kDimensionMismatch);
    CHECK(contains(error.what(), "the index has dimension 5, not 384"));
  }
}

TEST("index file: a missing file, a folder and other kinds of files are told apart") {
  const TemporaryFolder folder;
  CHECK_FAILS(Code::kNotFound, load_index(folder / "none"));
  CHECK_FAILS(Code::kIo, load_index(folder / ""));
  test::write_file(folder / "text", std::vector<std::uint8_t>(500, 'x'));
  CHECK_FAILS(Code::kCorrupt, load_index(folder / "text"));
  CHECK(!is_index_file(folder / "text"));
  test::write_file(folder / "empty", {});
  CHECK_FAILS(Code::kCorrupt, load_index(folder / "empty"));
  CHECK(!is_index_file(folder / "empty"));
  const Saved saved(5);
  CHECK(is_index_file(saved.path));
}

TEST("index file: every flipped bit is noticed under verification, and without it every one of header and table") {
  const Saved saved(66, VectorType::kF32, 60);
  const auto bytes = test::read_file(saved.path);
  std::mt19937_64 random(test::seed());
  std::size_t noticed = 0;
  std::size_t damaged = 0;
  for (int round = 0; round < 300; ++round) {
    auto broken = bytes;
    broken[random() % broken.size()] ^= static_cast<std::uint8_t>(1u << (random() % 8));
    test::write_file(saved.path, broken);
    ++damaged;
    try {
      load_index(saved.path, {.verify_vectors = true, .dimension = {}});
    } catch (const Error&) {
      ++noticed;
    }
  }
  CHECK_EQ(noticed, damaged);
  for (std::size_t at = 0; at < 48 + kIndexSections * 32; ++at) {
    auto broken = bytes;
    broken[at] ^= 0x10;
    test::write_file(saved.path, broken);
    bool refused = false;
    try {
      load_index(saved.path);
    } catch (const Error&) {
      refused = true;
    }
    CHECK(refused);
  }
}

TEST("index file: a file cut anywhere is refused") {
  const Saved saved(5, VectorType::kF32, 60);
  const auto bytes = test::read_file(saved.path);
  for (std::size_t size = 0; size < bytes.size(); size += 37) {
    CHECK(saved.refusal({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}, Code::kCorrupt) !=
          "nothing was thrown");
  }
}

TEST("index file: header fields beyond their ranges are refused though the checksums are right") {
  const Saved saved(72);
  const auto with = [&](auto field, auto value) {
    Editor file = saved.edit();
    file.put(kHeaderSection, field, value);
    return file.mended();
  };
  const auto original = test::read_file(saved.path);
  const auto restore = [&] { test::write_file(saved.path, original); };
  const auto corrupt = [&](std::vector<std::uint8_t> bytes, const std::string& reason) {
    CHECK(contains(saved.refusal(bytes, Code::kCorrupt), reason));
    restore();
  };
  corrupt(with(kCount, std::uint64_t{401}), "section 2");
  corrupt(with(kCount, std::uint64_t{1} << 31), "number of rows");
  corrupt(with(kCount, ~std::uint64_t{0}), "number of rows");
  corrupt(with(kDimension, std::uint32_t{0}), "dimension");
  corrupt(with(kDimension, std::uint32_t{65537}), "dimension");
  corrupt(with(kDimension, std::uint32_t{1000}), "section 2");
  corrupt(with(kM, std::uint32_t{1}), "its M");
  corrupt(with(kM, std::uint32_t{100}), "section 6");
  corrupt(with(kEfConstruction, std::uint32_t{0}), "ef_construction");
  corrupt(with(kEntry, std::uint32_t{400}), "entry");
  corrupt(with(kEntry, kNoNode), "entry");
  corrupt(with(kTopLevel, std::uint32_t{40}), "top level");
  corrupt(with(kTopLevel, saved.index->parts().graph.view().top_level + 1), "top level");
  corrupt(with(kCodeError, std::numeric_limits<float>::quiet_NaN()), "code error");
  corrupt(with(kFlags, std::uint32_t{0}), "section 4");
  corrupt(with(kFlags, std::uint32_t{2}), "sketches but no codes");
  corrupt(with(kFlags, std::uint32_t{4}), "cells but no codes");
  corrupt(with(kFlags, std::uint32_t{3}), "sketches but no cells");
  corrupt(with(kFlags, std::uint32_t{5}), "section 14");
  corrupt(with(kFlags, std::uint32_t{7}), "section 14");
  corrupt(with(kType, std::uint32_t{3}), "separate codes");
  for (auto bytes : {with(kType, std::uint32_t{4}), with(kMetric, std::uint32_t{1}), with(kFlags, std::uint32_t{9}),
                     with(kZero, std::uint32_t{1})}) {
    CHECK(contains(saved.refusal(bytes, Code::kUnsupported), "not supported"));
    restore();
  }
  auto version = original;
  version[8] = kIndexVersion + 1;
  CHECK(contains(saved.refusal(Editor(version).mended(), Code::kUnsupported), "version"));
}

TEST("index file: cells and sketches are kept, and an older file, without them, is searched and saved without") {
  constexpr std::size_t kRows = kMinCelledRows + 100;
  const Saved saved(200, VectorType::kF32, kRows);
  const auto& made = saved.index->parts();
  const auto loaded = load_index(saved.path).index;
  CHECK(!made.sketches.empty() && !made.cells.empty());
  CHECK(std::ranges::equal(loaded->parts().sketches.row_bytes(), made.sketches.row_bytes()));
  CHECK(std::ranges::equal(loaded->parts().sketches.mean(), made.sketches.mean()));
  CHECK(std::ranges::equal(loaded->parts().cells.members(), made.cells.members()));
  CHECK(std::ranges::equal(loaded->parts().cells.starts(), made.cells.starts()));
  CHECK(std::ranges::equal(loaded->parts().cells.radii(), made.cells.radii()));
  CHECK(std::ranges::equal(loaded->parts().cells.centres().row_bytes(), made.cells.centres().row_bytes()));
  Bitmap filter(kRows, true);
  filter.reset(7);
  const std::span<const float> query = std::span(saved.rows).first(200);
  CHECK(loaded->search(query, {.filter = &filter}).hits == saved.index->search(query, {.filter = &filter}).hits);
  Editor older = saved.edit();
  older.put(kHeaderSection, kFlags, std::uint32_t{1});
  auto bytes = older.mended();
  bytes[8] = 3;
  test::write_file(saved.path, Editor(bytes).mended());
  const auto without = load_index(saved.path).index;
  CHECK(without->parts().sketches.empty() && without->parts().cells.empty());
  save_index(*without, saved.path, 0);
  CHECK(load_index(saved.path).index->parts().cells.empty());
}

TEST("index file: cells that do not hold every row once are refused though the checksums are right") {
  const Saved saved(72, VectorType::kI10, kMinCelledRows);
  const auto with = [&](std::size_t section, std::size_t offset, auto value) {
    Editor file = saved.edit();
    file.put(section, offset, value);
    return saved.refusal(file.mended(), Code::kCorrupt);
  };
  const auto original = test::read_file(saved.path);
  CHECK(contains(with(kCellStartsSection, 0, std::uint32_t{1}), "ranges of its cells"));
  test::write_file(saved.path, original);
  CHECK(contains(with(kCellMembersSection, 8, std::uint32_t{0x7fffffff}), "every row once"));
  test::write_file(saved.path, original);
  CHECK(contains(with(kCellRadiiSection, 0, -1.0f), "radius"));
}

TEST("index file: ten-bit rows want their low bits, and a file of a version that did not know them is refused") {
  const Saved saved(72, VectorType::kI10);
  Editor other = saved.edit();
  other.put(kHeaderSection, kType, static_cast<std::uint32_t>(VectorType::kI8));
  CHECK(contains(saved.refusal(other.mended(), Code::kCorrupt), "section 9"));
  auto older = other.mended();
  older[8] = 2;
  Editor edited(older);
  edited.put(kHeaderSection, kType, static_cast<std::uint32_t>(VectorType::kI10));
  CHECK(contains(saved.refusal(edited.mended(), Code::kUnsupported), "vector type 3"));
  const Saved plain(72, VectorType::kI8);
  Editor without = plain.edit();
  without.put(kHeaderSection, kType, static_cast<std::uint32_t>(VectorType::kI10));
  CHECK(contains(plain.refusal(without.mended(), Code::kCorrupt), "section 9"));
}

TEST("index file: damaged low bits are noticed under verification, and harmless without") {
  const Saved saved(72, VectorType::kI10);
  Editor file = saved.edit();
  file.put(kLowBitsSection, 0, ~file.get<std::uint32_t>(kLowBitsSection, 0));
  CHECK(contains(saved.refusal(file.bytes(), Code::kCorrupt, true), "checksum"));
  const auto index = load_index(saved.path).index;
  CHECK_EQ(index->search(std::span(saved.rows).first(72), {.k = 400}).hits.size(), 400u);
}

TEST("index file: the calibration is kept, and one out of range is refused") {
  const Saved saved(72);
  const auto original = test::read_file(saved.path);
  Editor file(original);
  const Calibration written{2.0f, 7.5f, 3.25f};
  for (std::size_t i = 0; i < 3; ++i) {
    const float values[] = {written.walk_factor, written.cell_margin, written.sketch_margin};
    file.put(kCalibrationSection, 4 * i, values[i]);
  }
  test::write_file(saved.path, file.mended());
  CHECK(load_index(saved.path).index->parts().calibration == written);
  for (std::size_t i = 0; i < 3; ++i) {
    for (const float bad : {-1.0f, 1e9f, std::nanf(""), HUGE_VALF}) {
      Editor edited(original);
      edited.put(kCalibrationSection, 4 * i, bad);
      CHECK(contains(saved.refusal(edited.mended(), Code::kCorrupt), "calibration"));
    }
  }
}

TEST("index file: broken graphs are refused though the checksums are right") {
  const Saved saved(72);
  const auto original = test::read_file(saved.path);
  const auto refused = [&](std::size_t section, std::size_t offset, std::uint32_t value, const std::string& reason) {
    test::write_file(saved.path, original);
    Editor file = saved.edit();
    file.put(section, offset, value);
    const std::string got = saved.refusal(file.mended(), Code::kCorrupt);
    CHECK(contains(got, reason));
    if (!contains(got, reason)) std::printf("    got: %s\n", got.c_str());
  };
  const std::size_t starts = saved.edit().size_of(kStartsSection);
  refused(kBaseSection, 0, 400, "neighbour 400 does not exist");
  refused(kBaseSection, 0, kNoNode, "after its end");
  refused(kBaseSection, 7 * 64 + 60, 3, "after its end");
  refused(kStartsSection, 0, 1, "do not start at 0");
  refused(kStartsSection, 200 * 4, 0xfffffff0u, "too many levels");
  refused(kStartsSection, starts - 8, 0xfffffff0u, "too many levels");
  refused(kStartsSection, starts - 4, 0xfffffff0u, "section 8");
  refused(kStartsSection, starts - 4, 0, "section 8");
  // A neighbour on a level that it does not have: the last upper list gets a node of the base level.
  std::uint32_t base_only = 0;
  while (saved.index->parts().graph.view().level_of(base_only) != 0) ++base_only;
  refused(kStartsSection + 1, 0, base_only, "not on its level");
}

TEST("index file: a value that is not finite is refused under verification, and harmless without") {
  for (std::size_t section : {kRowsSection, kCodesSection + 1}) {
    const Saved saved(72);
    Editor file = saved.edit();
    file.put(section, section == kRowsSection ? 320 + 4 : 4, std::numeric_limits<float>::quiet_NaN());
    CHECK(contains(saved.refusal(file.mended(), Code::kCorrupt, true), "not finite"));
    const auto index = load_index(saved.path).index;
    for (SearchPath path : {SearchPath::kGraph, SearchPath::kExact}) {
      const auto hits = index->search(std::span(saved.rows).first(72), {.k = 400, .path = path}).hits;
      CHECK_EQ(hits.size(), 400u);
      CHECK(std::is_sorted(hits.begin(), hits.end(), NearestFirst()));
    }
  }
}

TEST("index file: a folder that cannot be written, and a raised token, leave nothing behind") {
  const Saved saved(5);
  CHECK_FAILS(Code::kIo, save_index(*saved.index, saved.folder / "no/such/folder/index", 0));
  CancelToken cancel;
  cancel.cancel();
  CHECK_FAILS(Code::kCancelled, save_index(*saved.index, saved.folder / "other", 0, &cancel));
  CHECK(!std::filesystem::exists(saved.folder / "other"));
  CHECK_FAILS(Code::kCancelled,
              load_index(saved.path, {.verify_vectors = false, .dimension = {}, .work = {.cancel = &cancel}}));
}

}  // namespace
}  // namespace lorekeep::vector
