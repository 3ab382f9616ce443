#include "vector/index_file.h"

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/values/error.h"

namespace lorekeep::vector {
namespace {

enum Section : std::uint32_t {
  kHeader = 1,
  kRows = 2,
  kRowScales = 3,  // i8 and i10 rows only, otherwise empty
  kCodes = 4,      // empty if the index has no codes
  kCodeScales = 5,
  kBaseLists = 6,
  kUpperStarts = 7,
  kUpperLists = 8,
  kRowLowBits = 9,     // from version 3; i10 rows only, otherwise empty
  kSketchMiddle = 10,  // this and the next from version 4; empty if the index has no sketches
  kSketches = 11,
  kCellCentres = 12,  // this and the others from version 5; empty if the index has no cells
  kCellScales = 13,
  kCellStarts = 14,
  kCellMembers = 15,
  kCellRadii = 16,
  kCalibration = 17,  // from version 6
};
static_assert(kCalibration == kIndexSections);

constexpr std::uint32_t kMetricCosine = 0;
// Flags.
constexpr std::uint32_t kHasCodes = 1;     // separate from the rows
constexpr std::uint32_t kHasSketches = 2;  // from version 4
constexpr std::uint32_t kHasCells = 4;     // from version 5
constexpr std::uint32_t kTenBitVersion = 3;
constexpr std::uint32_t kSketchVersion = 4;
constexpr std::uint32_t kCellVersion = 5;
constexpr std::uint32_t kCalibrationVersion = 6;

std::uint32_t known_flags(std::uint32_t version) noexcept {
  if (version < kSketchVersion) return kHasCodes;
  return version < kCellVersion ? kHasCodes | kHasSketches : kHasCodes | kHasSketches | kHasCells;
}

struct Header {
  std::uint64_t count;
  std::uint64_t seed;
  std::uint32_t dimension;
  std::uint32_t vector_type;
  std::uint32_t metric;
  std::uint32_t flags;
  std::uint32_t m;
  std::uint32_t ef_construction;
  std::uint32_t entry;
  std::uint32_t top_level;
  float code_error;
  std::uint32_t zero;
};
static_assert(sizeof(Header) == 56);
static_assert(sizeof(Calibration) == 12);

constexpr std::size_t kRowsPerCheck = 4096;

[[noreturn]] void refuse(const std::string& name, const std::string& reason) {
  fail_file(Code::kCorrupt, name, reason);
}

[[noreturn]] void unsupported(const std::string& name, const std::string& what) {
  fail_file(Code::kUnsupported, name, what + " is not supported by this program");
}

Header read_header(const SectionFileReader& file) {
  const std::string& name = file.name();
  const auto bytes = file.section(kHeader);
  if (bytes.size() != sizeof(Header)) refuse(name, "its header section has a broken size");
  file.verify(kHeader);
  Header header;
  std::memcpy(&header, bytes.data(), sizeof(Header));
  const VectorType newest = file.version() < kTenBitVersion ? VectorType::kI8 : VectorType::kI10;
  if (header.vector_type > static_cast<std::uint32_t>(newest)) {
    unsupported(name, "vector type " + std::to_string(header.vector_type));
  }
  if (header.vector_type == static_cast<std::uint32_t>(VectorType::kI10) && (header.flags & kHasCodes) != 0) {
    refuse(name, "it has separate codes, but its rows contain codes");
  }
  const bool coded =
      (header.flags & kHasCodes) != 0 || header.vector_type == static_cast<std::uint32_t>(VectorType::kI10);
  if ((header.flags & kHasSketches) != 0 && !coded) refuse(name, "it has sketches but no codes");
  if ((header.flags & kHasCells) != 0 && !coded) refuse(name, "it has cells but no codes");
  if (file.version() >= kCellVersion && (header.flags & kHasSketches) != 0 && (header.flags & kHasCells) == 0) {
    refuse(name, "it has sketches but no cells");
  }
  if (header.metric != kMetricCosine) unsupported(name, "metric " + std::to_string(header.metric));
  if ((header.flags & ~known_flags(file.version())) != 0 || header.zero != 0) unsupported(name, "a flag of its header");
  if (header.dimension == 0 || header.dimension > kMaxDimension) refuse(name, "its dimension is out of range");
  if (header.count > kMaxRows) refuse(name, "its number of rows is out of range");
  if (header.m < kMinM || header.m > kMaxM) refuse(name, "its M is out of range");
  if (header.ef_construction < 1 || header.ef_construction > kMaxEfConstruction) {
    refuse(name, "its ef_construction is out of range");
  }
  if (!std::isfinite(header.code_error) || header.code_error < 0) refuse(name, "its code error is not a length");
  if (header.top_level > kMaxLevel) refuse(name, "its top level is out of range");
  if (header.count == 0 && header.entry != kNoNode) refuse(name, "an empty graph has an entry");
  return header;
}

class Loader {
 public:
  Loader(const std::filesystem::path& path, const LoadOptions& options)
      : options_(options), file_(path, kIndexMagic, kOldestIndexVersion, kIndexVersion), header_(read_header(file_)) {}

  LoadedIndex load() {
    if (options_.dimension && *options_.dimension != header_.dimension) mismatch();
    HnswParts parts;
    parts.params.m = header_.m;
    parts.params.ef_construction = header_.ef_construction;
    parts.params.seed = header_.seed;
    parts.params.type = static_cast<VectorType>(header_.vector_type);
    parts.rows = matrix(parts.params.type, kRows, kRowScales, low_bits(parts.params.type), header_.count);
    const bool coded = (header_.flags & kHasCodes) != 0;
    parts.codes.matrix = matrix(VectorType::kI8, kCodes, kCodeScales, {}, coded ? header_.count : 0);
    if (parts.params.type == VectorType::kI10) parts.codes.matrix = parts.rows.codes();
    parts.codes.row_error = header_.code_error;
    parts.cells = cells();
    parts.sketches = sketches();
    parts.graph = graph();
    parts.calibration = calibration();
    if (options_.verify_vectors) verify_vectors(parts);
    parts.file = file_.mapping();
    return {std::make_shared<const HnswIndex>(std::move(parts)), file_.fingerprint()};
  }

 private:
  /// Verifies the sections of vectors. Other modules verify their own sections.
  void verify_vectors(const HnswParts& parts) const {
    std::vector<Section> sections{kRows, kRowScales, kCodes, kCodeScales};
    if (file_.version() >= kTenBitVersion) sections.push_back(kRowLowBits);
    if (file_.version() >= kSketchVersion) sections.insert(sections.end(), {kSketchMiddle, kSketches});
    if (file_.version() >= kCellVersion) sections.insert(sections.end(), {kCellCentres, kCellScales});
    for (const std::uint32_t id : {kOwnerSection, kMarkSection}) {
      if (file_.has(id)) sections.push_back(static_cast<Section>(id));
    }
    parallel_for(options_.work, sections.size(), 1,
                 [&](std::size_t begin, std::size_t, std::size_t) { file_.verify(sections[begin]); });
    for (const VectorMatrix* matrix : {&parts.rows, &parts.codes.matrix, &parts.cells.centres()}) {
      parallel_for(options_.work, matrix->size(), kRowsPerCheck, [&](std::size_t begin, std::size_t end, std::size_t) {
        matrix->check_finite(begin, end, file_.name());
      });
    }
  }

  VectorMatrix matrix(VectorType type, Section rows, Section scales, std::span<const std::byte> low,
                      std::uint64_t count) {
    const auto row_bytes = sized(rows, count * row_stride(type, header_.dimension));
    const bool scaled = type == VectorType::kI8 || type == VectorType::kI10;
    const auto scale_bytes = sized(scales, scaled ? count * sizeof(float) : 0);
    const VectorMatrix::Memory memory{row_bytes.data(), reinterpret_cast<const float*>(scale_bytes.data()),
                                      reinterpret_cast<const std::uint8_t*>(low.data())};
    return VectorMatrix::view(type, static_cast<std::size_t>(count), header_.dimension, memory, file_.mapping());
  }

  std::span<const std::byte> low_bits(VectorType type) const {
    if (file_.version() < kTenBitVersion) return {};
    return sized(kRowLowBits, type == VectorType::kI10 ? header_.count * low_stride(header_.dimension) : 0);
  }

  Cells cells() {
    if (file_.version() < kCellVersion) return {};
    const bool present = (header_.flags & kHasCells) != 0 && header_.count > 0;
    const std::uint64_t count = present ? file_.section(kCellRadii).size() / sizeof(float) : 0;
    if (count > header_.count) refuse(file_.name(), "it has more cells than rows");
    sized(kCellStarts, present ? (count + 1) * sizeof(std::uint32_t) : 0);
    sized(kCellMembers, present ? header_.count * sizeof(std::uint32_t) : 0);
    sized(kCellRadii, count * sizeof(float));
    VectorMatrix centres = matrix(VectorType::kI8, kCellCentres, kCellScales, {}, count);
    if (!present) return {};
    const auto copies = std::make_shared<const std::array<SectionCopy, 3>>(
        std::array{file_.copy(kCellStarts), file_.copy(kCellMembers), file_.copy(kCellRadii)});
    const auto& [starts, members, radii] = *copies;
    Cells::Memory memory{std::move(centres), starts.values<std::uint32_t>(), members.values<std::uint32_t>(),
                         radii.values<float>(), copies};
    return Cells::view(std::move(memory), file_.name());
  }

  /// Returns the sketches. Ignores sketches of version 4, which are not by cell.
  Sketches sketches() const {
    if (file_.version() < kCellVersion) return {};
    const bool present = (header_.flags & kHasSketches) != 0 && header_.count > 0;
    const auto middle = sized(kSketchMiddle, present ? header_.dimension * sizeof(float) : 0);
    const auto rows = sized(kSketches, present ? header_.count * sketch_stride(header_.dimension) : 0);
    if (!present) return {};
    return Sketches::view(static_cast<std::size_t>(header_.count), header_.dimension, values<float>(middle).data(),
                          rows.data(), file_.mapping());
  }

  Graph graph() {
    GraphView view;
    view.size = static_cast<std::size_t>(header_.count);
    view.entry = header_.entry;
    view.top_level = header_.top_level;
    view.base_stride = list_stride(2 * std::size_t{header_.m});
    view.upper_stride = list_stride(header_.m);
    sized(kBaseLists, header_.count * view.base_stride * sizeof(std::uint32_t));
    sized(kUpperStarts, (header_.count + 1) * sizeof(std::uint32_t));
    const auto copies = std::make_shared<const std::array<SectionCopy, 3>>(
        std::array{copy(kBaseLists), copy(kUpperStarts), copy(kUpperLists)});
    const auto& [base, starts, upper] = *copies;
    view.base = base.values<std::uint32_t>().data();
    view.upper_start = starts.values<std::uint32_t>().data();
    const std::uint64_t lists = view.upper_start[view.size];
    sized(kUpperLists, lists * view.upper_stride * sizeof(std::uint32_t));
    view.upper = upper.values<std::uint32_t>().data();
    validate_graph(view, file_.name(), options_.work.cancel);
    return Graph(view, copies);
  }

  Calibration calibration() const {
    Calibration read;
    if (file_.version() < kCalibrationVersion) return read;
    const auto bytes = sized(kCalibration, sizeof(Calibration));
    file_.verify(kCalibration);
    std::memcpy(&read, bytes.data(), sizeof(read));
    const bool walks = read.walk_factor == 0 || (read.walk_factor >= 1 && read.walk_factor <= kMaxWalkFactor);
    const auto is_margin = [](float margin) { return margin >= 0 && margin <= kMaxMargin; };
    if (!walks || !is_margin(read.cell_margin) || !is_margin(read.sketch_margin)) {
      refuse(file_.name(), "its calibration is out of range");
    }
    return read;
  }

  SectionCopy copy(Section id) const {
    options_.work.check();
    return file_.copy(id);
  }

  template <class T>
  static std::span<const T> values(std::span<const std::byte> bytes) noexcept {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  std::span<const std::byte> sized(Section id, std::uint64_t size) const {
    const auto bytes = file_.section(id);
    if (bytes.size() != size) {
      refuse(file_.name(), "section " + std::to_string(id) + " has " + std::to_string(bytes.size()) +
                               " bytes; its header requires " + std::to_string(size));
    }
    return bytes;
  }
  [[noreturn]] void mismatch() const {
    const std::string expected = std::to_string(*options_.dimension);
    fail_file(
        Code::kDimensionMismatch, file_.name(),
        "the index has dimension " + std::to_string(header_.dimension) + ", not " + expected,
        {{"dimension", std::int64_t{header_.dimension}}, {"expected", static_cast<std::int64_t>(*options_.dimension)}});
  }

  const LoadOptions& options_;
  SectionFileReader file_;
  Header header_;
};

}  // namespace

void write_index(SectionFileWriter& file, const HnswIndex& index, const CancelToken* cancel) {
  const HnswParts& parts = index.parts();
  const GraphView& graph = parts.graph.view();
  Header header{};
  header.count = parts.rows.size();
  header.seed = parts.params.seed;
  header.dimension = static_cast<std::uint32_t>(parts.rows.dimension());
  header.vector_type = static_cast<std::uint32_t>(parts.rows.type());
  header.metric = kMetricCosine;
  const bool coded = !parts.codes.empty() && parts.rows.type() != VectorType::kI10;
  const VectorMatrix none;
  const VectorMatrix& codes = coded ? parts.codes.matrix : none;
  header.flags =
      (coded ? kHasCodes : 0) | (parts.sketches.empty() ? 0 : kHasSketches) | (parts.cells.empty() ? 0 : kHasCells);
  header.m = static_cast<std::uint32_t>(parts.params.m);
  header.ef_construction = static_cast<std::uint32_t>(parts.params.ef_construction);
  header.entry = graph.entry;
  header.top_level = graph.top_level;
  header.code_error = parts.codes.row_error;
  file.section(kHeader, std::as_bytes(std::span(&header, 1)), cancel);
  file.section(kRows, parts.rows.row_bytes(), cancel);
  file.section(kRowScales, std::as_bytes(parts.rows.scale_values()), cancel);
  file.section(kCodes, codes.row_bytes(), cancel);
  file.section(kCodeScales, std::as_bytes(codes.scale_values()), cancel);
  file.section(kBaseLists, std::as_bytes(parts.graph.base_values()), cancel);
  file.section(kUpperStarts, std::as_bytes(parts.graph.upper_start_values()), cancel);
  file.section(kUpperLists, std::as_bytes(parts.graph.upper_values()), cancel);
  file.section(kRowLowBits, std::as_bytes(parts.rows.low_bytes()), cancel);
  file.section(kSketchMiddle, std::as_bytes(parts.sketches.mean()), cancel);
  file.section(kSketches, parts.sketches.row_bytes(), cancel);
  file.section(kCellCentres, parts.cells.centres().row_bytes(), cancel);
  file.section(kCellScales, std::as_bytes(parts.cells.centres().scale_values()), cancel);
  file.section(kCellStarts, std::as_bytes(parts.cells.starts()), cancel);
  file.section(kCellMembers, std::as_bytes(parts.cells.members()), cancel);
  file.section(kCellRadii, std::as_bytes(parts.cells.radii()), cancel);
  file.section(kCalibration, std::as_bytes(std::span(&parts.calibration, 1)), cancel);
}

void save_index(const HnswIndex& index, const std::filesystem::path& path, std::uint64_t fingerprint,
                const CancelToken* cancel, const FileOwner* owner) {
  SectionFileWriter file(path, kIndexMagic, kIndexVersion, fingerprint, kIndexSections, owner, Damaged::kRemade);
  write_index(file, index, cancel);
  index.check_file();
  file.commit();
}

LoadedIndex load_index(const std::filesystem::path& path, const LoadOptions& options) {
  return Loader(path, options).load();
}

IndexFacts read_index_facts(const SectionFileReader& file) {
  const Header header = read_header(file);
  return {header.count, header.dimension, static_cast<VectorType>(header.vector_type), header.m,
          header.ef_construction};
}

std::string_view index_section_name(std::uint32_t id) noexcept {
  switch (id) {
    case kHeader: return "header";
    case kRows: return "rows";
    case kRowScales: return "row scales";
    case kCodes: return "codes";
    case kCodeScales: return "code scales";
    case kBaseLists: return "base lists";
    case kUpperStarts: return "upper starts";
    case kUpperLists: return "upper lists";
    case kRowLowBits: return "row low bits";
    case kSketchMiddle: return "sketch middle";
    case kSketches: return "sketches";
    case kCellCentres: return "cell centres";
    case kCellScales: return "cell scales";
    case kCellStarts: return "cell starts";
    case kCellMembers: return "cell members";
    case kCellRadii: return "cell radii";
    case kCalibration: return "calibration";
    default: return "";
  }
}

bool is_index_file(const std::filesystem::path& path) {
  const MappedFile file(path);
  return file.bytes().size() >= sizeof(Magic) && std::memcmp(file.bytes().data(), &kIndexMagic, sizeof(Magic)) == 0;
}

}  // namespace lorekeep::vector
