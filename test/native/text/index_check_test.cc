#include "text/index_check.h"

#include "harness.h"
#include "sample_texts.h"
#include "text/index_builder.h"

namespace lorekeep::text {
namespace {

// An index whose arrays can be damaged. Each has memory of exactly its size, so that AddressSanitizer detects any read
// beyond it.
struct Damageable {
  std::vector<std::uint32_t> lengths;
  std::vector<std::uint64_t> buckets;
  std::vector<std::byte> entries;
  IndexData data;

  explicit Damageable(const BuiltIndex& built)
      : lengths(built.lengths), buckets(built.buckets), entries(built.entries), data(built.data) {
    lengths.shrink_to_fit();
    buckets.shrink_to_fit();
    entries.shrink_to_fit();
    data.lengths = lengths;
    data.buckets = buckets;
    data.entries = entries;
  }
  bool accepted() const {
    try {
      check_index(data, "damaged", {});
      return true;
    } catch (const Error& error) {
      REQUIRE(error.code() == Code::kCorrupt);
      return false;
    }
  }
};

// Three blocks, so that terms are sparse and dense; frequencies of one byte and of three.
BuiltIndex sample() {
  test::Random random(test::seed());
  const auto texts = test::random_texts(random, 130, 12, 60);
  return build_index(texts.size(), [&](std::size_t i) -> std::string_view { return texts[i]; }, {});
}

// The bytes of terms' texts in the entries: changing them can produce another valid index.
std::vector<bool> bytes_of_terms(const IndexData& data) {
  std::vector<bool> marks(data.entries.size());
  const std::byte* at = data.entries.data();
  while (at < data.entries.data() + data.entries.size()) {
    const TermEntry entry = TermEntry::parse(at);
    const auto begin = reinterpret_cast<const std::byte*>(entry.term.data()) - data.entries.data();
    std::fill_n(marks.begin() + begin, entry.term.size(), true);
  }
  return marks;
}

TEST("what the builder made is accepted") {
  CHECK(Damageable(sample()).accepted());
}

TEST("every single flipped bit of lengths, buckets and entries is found") {
  Damageable index(sample());
  const auto check_bytes = [&](std::span<std::byte> bytes, const std::vector<bool>& left_out) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (!left_out.empty() && left_out[i]) continue;
      for (int bit = 0; bit < 8; ++bit) {
        bytes[i] ^= std::byte(1 << bit);
        REQUIRE(!index.accepted());
        bytes[i] ^= std::byte(1 << bit);
      }
    }
  };
  check_bytes(std::as_writable_bytes(std::span(index.lengths)), {});
  check_bytes(std::as_writable_bytes(std::span(index.buckets)), {});
  check_bytes(index.entries, bytes_of_terms(index.data));
  CHECK(index.accepted());
}

TEST("large numbers in place of small ones are found") {
  Damageable index(sample());
  const auto terms = bytes_of_terms(index.data);
  for (std::size_t i = 0; i < index.entries.size(); ++i) {
    if (terms[i]) continue;
    const std::byte before = index.entries[i];
    for (const std::byte value : {std::byte{0}, std::byte{0x7F}, std::byte{0xFF}}) {
      if (value == before) continue;
      index.entries[i] = value;
      REQUIRE(!index.accepted());
    }
    index.entries[i] = before;
  }
}

TEST("entries that end anywhere too early are found, whatever the dictionary says") {
  const BuiltIndex built = sample();
  for (std::size_t size = 0; size < built.entries.size(); ++size) {
    Damageable index(built);
    index.entries =
        std::vector<std::byte>(built.entries.begin(), built.entries.begin() + static_cast<std::ptrdiff_t>(size));
    index.data.entries = index.entries;
    REQUIRE(!index.accepted());
    for (std::uint64_t& offset : index.buckets) offset = std::min<std::uint64_t>(offset, size);
    REQUIRE(!index.accepted());
  }
}

// A single term, so that a truncated entry is the end of the data.
TEST("an entry that is too short for its directory or its bodies is found, sparse and dense") {
  for (const std::size_t documents_with_term : {1u, 130u}) {
    const auto text_of = [=](std::size_t i) -> std::string_view { return i < documents_with_term ? "a a a a a" : ""; };
    const BuiltIndex built = build_index(192, text_of, {});
    const std::byte* at = built.entries.data();
    const auto size = static_cast<std::size_t>(read_varint(at));
    const std::size_t header = built.entries.size() - size;
    for (std::size_t shorter = 0; shorter < size; ++shorter) {
      Damageable index(built);
      std::vector<std::byte> cut;
      write_varint(cut, shorter);
      cut.insert(cut.end(), built.entries.begin() + static_cast<std::ptrdiff_t>(header),
                 built.entries.begin() + static_cast<std::ptrdiff_t>(header + shorter));
      index.entries = std::vector<std::byte>(cut.begin(), cut.end());
      index.data.entries = index.entries;
      index.buckets.back() = index.entries.size();
      REQUIRE(!index.accepted());
    }
    // And one whose sizes reach beyond its end.
    for (std::size_t i = header; i < built.entries.size(); ++i) {
      Damageable index(built);
      if (bytes_of_terms(index.data)[i]) continue;
      index.entries[i] = std::byte{0xFE};
      REQUIRE(!index.accepted());
    }
  }
}

TEST("postings of a block behind the last document are found") {
  const auto text_of = [](std::size_t i) -> std::string_view { return i < 130 ? "a a a a a" : ""; };
  Damageable index(build_index(192, text_of, {}));
  const std::byte* at = index.entries.data();
  const auto directory = static_cast<std::size_t>(TermEntry::parse(at).directory - index.entries.data());
  const auto impacts = std::span(index.entries).subspan(directory, dense_rows(3));
  const auto sizes = std::span(index.entries).subspan(directory + impacts.size(), impacts.size());
  REQUIRE(sizes[2] == std::byte{6} && sizes[5] == std::byte{0});
  sizes[2] = sizes[5] = std::byte{3};  // the second of the last block's two postings moves behind it
  impacts[5] = impacts[2];
  CHECK(!index.accepted());
}

TEST("counts that do not fit the arrays are found") {
  const BuiltIndex built = sample();
  const auto refuses = [&](auto&& damage) {
    Damageable index(built);
    damage(index.data);
    return !index.accepted();
  };
  CHECK(refuses([](IndexData& data) { data.documents += 1; }));
  CHECK(refuses([](IndexData& data) { data.documents = ~0u; }));
  CHECK(refuses([](IndexData& data) { data.terms += 1; }));
  CHECK(refuses([](IndexData& data) { data.terms = ~0ull; }));
  CHECK(refuses([](IndexData& data) { data.tokens -= 1; }));
  CHECK(refuses([](IndexData& data) { data.lengths = data.lengths.first(1); }));
  CHECK(refuses([](IndexData& data) { data.buckets = {}; }));
  CHECK(refuses([](IndexData& data) { data.entries = {}; }));
}

TEST("the first use of a word that is everywhere can be stopped, and made again") {
  const std::size_t documents = 200 * kBlockDocuments;
  const BuiltIndex built = build_index(documents, [](std::size_t) -> std::string_view { return "word"; }, {});
  const FirstUseCheck first_use(built.data, "sound");
  const std::uint64_t bucket = built.data.bucket("word");
  CancelToken cancel;
  cancel.cancel();
  CHECK_FAILS(Code::kCancelled, first_use.require_sound(bucket, &cancel));
  first_use.require_sound(bucket, nullptr);
  first_use.require_sound(bucket, &cancel);  // proven, so nothing is looked at
}

}  // namespace
}  // namespace lorekeep::text
