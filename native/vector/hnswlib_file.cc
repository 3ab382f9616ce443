#include "vector/hnswlib_file.h"

#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/files/mapped_file.h"
#include "core/values/bytes.h"
#include "core/values/error.h"

namespace lorekeep::vector {
namespace {

constexpr std::size_t kElementsPerPoll = 4096;
// Rows normalised in f32 have lengths within about 1e-6 of 1. Rows of other spaces differ by far more.
constexpr double kLengthTolerance = 1e-3;

/// The header of the file, in file order.
struct Preamble {
  std::uint64_t base_offset;
  std::uint64_t capacity;
  std::uint64_t count;
  std::uint64_t element_size;
  std::uint64_t label_offset;
  std::uint64_t vector_offset;
  std::int32_t top_level;
  std::uint32_t entry;
  std::uint64_t upper_m;
  std::uint64_t base_m;
  std::uint64_t m;
  double level_factor;
  std::uint64_t ef_construction;
};
static_assert(sizeof(Preamble) == 96);

/// The head of a list: count u16, deletion mark u8, unused u8; then room for the level's largest number of u32.
struct ListHead {
  std::uint16_t count;
  std::uint8_t deleted;
  std::uint8_t unused;
};
static_assert(sizeof(ListHead) == 4);

class Importer {
 public:
  Importer(const std::filesystem::path& path, std::size_t dimension, const CancelToken* cancel)
      : file_(path), dimension_(dimension), cancel_(cancel), reader_(file_.bytes(), file_.name()) {}

  HnswlibFacts facts() {
    read_preamble();
    return {preamble_.count, vector_length(), preamble_.upper_m, preamble_.ef_construction};
  }

  std::shared_ptr<const HnswIndex> load() {
    read_preamble();
    check_dimension();
    elements_ = reader_.take(count_ * preamble_.element_size);
    find_upper_lists();
    read_labels();
    HnswParts parts;
    parts.params.m = static_cast<std::size_t>(preamble_.upper_m);
    parts.params.ef_construction = static_cast<std::size_t>(preamble_.ef_construction);
    parts.params.seed = 0;  // not in the file
    parts.rows = read_rows();
    parts.graph = read_graph();
    validate_graph(parts.graph.view(), file_.name(), cancel_);
    file_.check_unchanged();
    if (dimension_ >= kMinCodedDimension) parts.codes = encode_codes(parts.rows, {.cancel = cancel_});
    return std::make_shared<const HnswIndex>(std::move(parts));
  }

 private:
  void read_preamble() {
    preamble_ = reader_.read<Preamble>();
    const Preamble& p = preamble_;
    if (p.base_offset != 0) refuse("neither a lorekeep index nor an hnswlib index (whose first number is 0)");
    if (p.count > kMaxRows || p.count > p.capacity) refuse("its number of elements is out of range");
    if (p.upper_m < kMinM || p.upper_m > kMaxM || p.m != p.upper_m || p.base_m != 2 * p.upper_m) {
      unsupported("its M (" + std::to_string(p.upper_m) + ", base " + std::to_string(p.base_m) + ") is out of range");
    }
    if (p.ef_construction < 1 || p.ef_construction > kMaxEfConstruction) refuse("its ef_construction is out of range");
    check_element_layout();
    count_ = static_cast<std::size_t>(p.count);
    if (count_ == 0) return;
    if (p.entry >= p.count) refuse("its entry is not an element");
    if (p.top_level < 0 || p.top_level > static_cast<std::int32_t>(kMaxLevel)) refuse("its top level is out of range");
  }

  void check_element_layout() const {
    const Preamble& p = preamble_;
    const std::uint64_t list = sizeof(ListHead) + p.base_m * sizeof(std::uint32_t);
    if (p.vector_offset != list || p.label_offset <= list || p.label_offset - list > kMaxDimension * sizeof(float) ||
        (p.label_offset - list) % sizeof(float) != 0 || p.element_size != p.label_offset + sizeof(std::uint64_t)) {
      refuse("its element layout is inconsistent, or its vectors are not float32");
    }
  }

  /// Precondition: the element layout was checked.
  std::uint64_t vector_length() const noexcept {
    return (preamble_.label_offset - preamble_.vector_offset) / sizeof(float);
  }

  void check_dimension() const {
    const std::uint64_t found = vector_length();
    if (found == dimension_) return;
    fail_file(Code::kDimensionMismatch, file_.name(),
              "the index has dimension " + std::to_string(found) + ", not " + std::to_string(dimension_),
              {{"dimension", static_cast<std::int64_t>(found)}, {"expected", static_cast<std::int64_t>(dimension_)}});
  }

  void read_labels() {
    ordinals_.resize(count_);
    std::vector<bool> seen(count_, false);
    for (std::size_t i = 0; i < count_; ++i) {
      std::uint64_t label;
      std::memcpy(&label, element(i) + preamble_.label_offset, sizeof(label));
      if (label >= count_) {
        unsupported("label " + std::to_string(label) + " is not the ordinal of one of " + std::to_string(count_) +
                    " records");
      }
      if (seen[label]) refuse("label " + std::to_string(label) + " occurs twice");
      seen[label] = true;
      ordinals_[i] = static_cast<std::uint32_t>(label);
    }
  }

  /// Reads the rest of the file: for each element a byte count, then the lists of levels 1, 2, ... in that many bytes.
  void find_upper_lists() {
    const std::uint64_t list = sizeof(ListHead) + preamble_.upper_m * sizeof(std::uint32_t);
    upper_.resize(count_);
    std::uint64_t lists = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      poll(i);
      const auto size = reader_.read<std::uint32_t>();
      if (size % list != 0 || size / list > kMaxLevel) refuse("element " + std::to_string(i) + ": broken upper lists");
      upper_[i] = reader_.take(size);
      lists += size / list;
    }
    if (lists > 0xffffffffu) refuse("it has too many upper lists");
    if (reader_.remaining() != 0) refuse("bytes follow its end");
  }

  VectorMatrix read_rows() {
    VectorMatrix rows = VectorMatrix::allocate(VectorType::kF32, count_, dimension_);
    std::vector<float> values(dimension_);
    for (std::size_t i = 0; i < count_; ++i) {
      poll(i);
      std::memcpy(values.data(), element(i) + preamble_.vector_offset, dimension_ * sizeof(float));
      double squares = 0;
      for (float value : values) squares += static_cast<double>(value) * value;
      if (!std::isfinite(squares)) refuse("record " + std::to_string(ordinals_[i]) + ": its vector is not finite");
      if (squares != 0 && std::abs(std::sqrt(squares) - 1) > kLengthTolerance) {
        unsupported("record " + std::to_string(ordinals_[i]) + ": its vector has length " +
                    std::to_string(std::sqrt(squares)) + ", and cosine distance needs L2-normalised vectors (an " +
                    "index of the l2 space, or of the ip space over raw vectors, cannot be used)");
      }
      normalise(values, values.data(), "a row");
      rows.set(ordinals_[i], values);
    }
    return rows;
  }

  Graph read_graph() {
    const std::size_t list = sizeof(ListHead) + preamble_.upper_m * sizeof(std::uint32_t);
    std::vector<std::uint32_t> starts(count_ + 1, 0);
    for (std::size_t i = 0; i < count_; ++i) {
      starts[ordinals_[i] + 1] = static_cast<std::uint32_t>(upper_[i].size() / list);
    }
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    Graph graph(count_, static_cast<std::size_t>(preamble_.upper_m), starts);
    if (count_ == 0) return graph;
    graph.set_entry(ordinals_[preamble_.entry], static_cast<std::uint32_t>(preamble_.top_level));
    for (std::size_t i = 0; i < count_; ++i) {
      poll(i);
      const std::uint32_t node = ordinals_[i];
      copy_list(i, element(i), preamble_.base_m, graph.base_list(node));
      for (std::uint32_t level = 1; level <= graph.view().level_of(node); ++level) {
        copy_list(i, upper_[i].data() + (level - 1) * list, preamble_.upper_m, graph.upper_list(node, level));
      }
    }
    return graph;
  }

  void copy_list(std::size_t i, const std::byte* from, std::uint64_t room, std::uint32_t* to) const {
    ListHead head;
    std::memcpy(&head, from, sizeof(head));
    if ((head.deleted & 1u) != 0) unsupported("record " + std::to_string(ordinals_[i]) + " is marked as deleted");
    if (head.count > room) refuse("element " + std::to_string(i) + " has more neighbours than a list holds");
    for (std::size_t n = 0; n < head.count; ++n) {
      std::uint32_t neighbour;
      std::memcpy(&neighbour, from + sizeof(head) + n * sizeof(neighbour), sizeof(neighbour));
      if (neighbour >= count_) {
        refuse("element " + std::to_string(i) + ": neighbour " + std::to_string(neighbour) + " does not exist");
      }
      to[n] = ordinals_[neighbour];
    }
  }

  const std::byte* element(std::size_t i) const noexcept { return elements_.data() + i * preamble_.element_size; }
  void poll(std::size_t i) const {
    if (cancel_ != nullptr && i % kElementsPerPoll == 0) cancel_->check();
  }
  [[noreturn]] void refuse(const std::string& reason) const { fail_file(Code::kCorrupt, file_.name(), reason); }
  [[noreturn]] void unsupported(const std::string& reason) const {
    fail_file(Code::kUnsupported, file_.name(), reason);
  }

  MappedFile file_;
  std::size_t dimension_;
  const CancelToken* cancel_;
  ByteReader reader_;
  Preamble preamble_{};
  std::size_t count_ = 0;
  std::span<const std::byte> elements_;
  std::vector<std::uint32_t> ordinals_;            // of elements, by position in the file
  std::vector<std::span<const std::byte>> upper_;  // their upper lists, by position in the file
};

}  // namespace

std::shared_ptr<const HnswIndex> import_hnswlib_file(const std::filesystem::path& path, std::size_t dimension,
                                                     const CancelToken* cancel) {
  if (dimension == 0 || dimension > kMaxDimension) {
    fail(Code::kInvalidArgument, "dimension " + std::to_string(dimension) + ": between 1 and " +
                                     std::to_string(kMaxDimension) + " is possible");
  }
  return Importer(path, dimension, cancel).load();
}

HnswlibFacts read_hnswlib_facts(const std::filesystem::path& path) {
  return Importer(path, 0, nullptr).facts();
}

}  // namespace lorekeep::vector
