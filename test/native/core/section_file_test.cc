#include "core/files/section_file.h"

#include <array>
#include <csignal>
#include <iterator>
#include <numeric>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/utf8_path.h"
#include "core/values/checksum.h"
#include "harness.h"
#include "scratch_folder.h"

namespace {

using namespace lorekeep;
namespace fs = std::filesystem;

constexpr Magic kMagic{{'L', 'K', 'T', 'E', 'S', 'T', '0', '1'}};
constexpr std::uint32_t kVersion = 3;
constexpr std::size_t kHeaderBytes = 48;
constexpr std::size_t kEntryBytes = 32;

// Offsets within the header and within one table entry, as section_file.h documents them.
constexpr std::size_t kAtVersion = 8, kAtSections = 12, kAtFileSize = 16, kAtTableChecksum = 32, kAtHeaderChecksum = 40;
constexpr std::size_t kAtId = 0, kAtZero = 4, kAtOffset = 8, kAtSize = 16;

using Bytes = std::vector<std::uint8_t>;

template <class T>
T get(const Bytes& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

template <class T>
void put(Bytes& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

/// Makes both header checksums right again, so that only the layout checks stand between a bad table and the caller.
void repair(Bytes& bytes) {
  const auto all = std::as_bytes(std::span(bytes));
  const std::size_t table = get<std::uint32_t>(bytes, kAtSections) * kEntryBytes;
  if (kHeaderBytes + table <= bytes.size()) put(bytes, kAtTableChecksum, checksum(all.subspan(kHeaderBytes, table)));
  put(bytes, kAtHeaderChecksum, checksum(all.first(kAtHeaderChecksum)));
}

constexpr std::size_t entry(std::size_t index) {
  return kHeaderBytes + index * kEntryBytes;
}

const std::vector<std::uint32_t>& numbers() {
  static const std::vector<std::uint32_t> values = [] {
    std::vector<std::uint32_t> made(1000);
    std::iota(made.begin(), made.end(), 7u);
    return made;
  }();
  return values;
}

/// Three sections: 7 bytes in two writes, nothing, 1000 numbers.
void write_sample(const fs::path& path) {
  SectionFileWriter writer(path, kMagic, kVersion, 0xfeedfacecafebeefULL, 3);
  writer.begin(10);
  writer.write_array(std::span<const char>("abc", 3));
  writer.write_array(std::span<const char>("defg", 4));
  writer.begin(11);
  writer.begin(12);
  writer.write_array(std::span<const std::uint32_t>(numbers()));
  writer.commit();
}

void open_and_verify(const fs::path& path) {
  SectionFileReader(path, kMagic, kVersion).verify();
}

TEST("a section file gives back what was written") {
  const test::ScratchFolder folder;
  write_sample(folder / "f");
  SectionFileReader reader(folder / "f", kMagic, kVersion);
  reader.verify();
  CHECK_EQ(reader.fingerprint(), 0xfeedfacecafebeefULL);
  const auto letters = reader.array<char>(10);
  CHECK_EQ(std::string(letters.begin(), letters.end()), std::string("abcdefg"));
  CHECK(reader.has(11));
  CHECK_EQ(reader.section(11).size(), 0u);
  const auto values = reader.array<std::uint32_t>(12);
  CHECK(std::equal(values.begin(), values.end(), numbers().begin(), numbers().end()));
  CHECK_EQ(reinterpret_cast<std::uintptr_t>(values.data()) % kSectionAlignment, 0u);
  CHECK(!reader.has(13));
  CHECK_FAILS(Code::kCorrupt, reader.section(13));
  CHECK_FAILS(Code::kCorrupt, reader.array<std::uint32_t>(10));
  CHECK_EQ(folder.entries(), 1u);
}

TEST("a section file without sections is a header alone") {
  const test::ScratchFolder folder;
  SectionFileWriter(folder / "f", kMagic, kVersion, 0, 0).commit();
  CHECK_EQ(fs::file_size(folder / "f"), kHeaderBytes);
  open_and_verify(folder / "f");
}

TEST("a section that is one value is checked before it is read") {
  const test::ScratchFolder folder;
  write_sample(folder / "f");
  CHECK_FAILS(Code::kCorrupt, SectionFileReader(folder / "f", kMagic, kVersion).value<std::uint32_t>(12));
  using Letters = std::array<char, 7>;
  const Letters letters{'a', 'b', 'c', 'd', 'e', 'f', 'g'};
  CHECK(SectionFileReader(folder / "f", kMagic, kVersion).value<Letters>(10) == letters);
  Bytes bytes = test::read_file(folder / "f");
  bytes[get<std::uint64_t>(bytes, entry(0) + kAtOffset)] ^= 1;
  test::write_file(folder / "f", bytes);
  CHECK_FAILS(Code::kCorrupt, SectionFileReader(folder / "f", kMagic, kVersion).value<Letters>(10));
}

TEST("the mapping outlives the reader") {
  const test::ScratchFolder folder;
  write_sample(folder / "f");
  auto reader = std::make_unique<SectionFileReader>(folder / "f", kMagic, kVersion);
  const auto mapping = reader->mapping();
  const auto values = reader->array<std::uint32_t>(12);
  reader.reset();
  CHECK_EQ(values[999], 1006u);
}

TEST("every truncation of a section file is corrupt") {
  const test::ScratchFolder folder;
  write_sample(folder / "f");
  const Bytes whole = test::read_file(folder / "f");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    if (size > 512 && size + 512 < whole.size() && size % 61 != 0) continue;
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    test::write_file(folder / "cut", part);
    CHECK_FAILS(Code::kCorrupt, open_and_verify(folder / "cut"));
    if (size < kHeaderBytes) continue;
    Bytes repaired = part;  // a forger who also mends the header
    put(repaired, kAtFileSize, std::uint64_t{size});
    repair(repaired);
    test::write_file(folder / "cut", repaired);
    CHECK_FAILS(Code::kCorrupt, open_and_verify(folder / "cut"));
  }
}

TEST("every flipped bit of a section file is found") {
  const test::ScratchFolder folder;
  write_sample(folder / "f");
  const Bytes whole = test::read_file(folder / "f");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    if (at > 512 && at % 37 != 0) continue;
    Bytes bad = whole;
    bad[at] = static_cast<std::uint8_t>(bad[at] ^ (1 << (at % 8)));
    test::write_file(folder / "bad", bad);
    CHECK_FAILS(Code::kCorrupt, open_and_verify(folder / "bad"));
  }
}

TEST("damage of one section leaves the others readable, and verify() names it") {
  const test::ScratchFolder folder;
  write_sample(folder / "f");
  Bytes bytes = test::read_file(folder / "f");
  bytes.back() = static_cast<std::uint8_t>(bytes.back() ^ 1);
  test::write_file(folder / "f", bytes);
  SectionFileReader reader(folder / "f", kMagic, kVersion);
  reader.verify(10);
  reader.verify(11);
  CHECK_FAILS(Code::kCorrupt, reader.verify(12));
  CHECK_FAILS(Code::kCorrupt, reader.verify());
}

TEST("bytes after the end are corrupt") {
  const test::ScratchFolder folder;
  write_sample(folder / "f");
  Bytes bytes = test::read_file(folder / "f");
  bytes.resize(bytes.size() + 64);
  test::write_file(folder / "f", bytes);
  CHECK_FAILS(Code::kCorrupt, open_and_verify(folder / "f"));
  put(bytes, kAtFileSize, std::uint64_t{bytes.size()});
  repair(bytes);
  test::write_file(folder / "f", bytes);
  CHECK_FAILS(Code::kCorrupt, open_and_verify(folder / "f"));
}

TEST("wrong magic is corrupt, another version is unsupported and named") {
  const test::ScratchFolder folder;
  write_sample(folder / "f");
  CHECK_FAILS(Code::kCorrupt,
              SectionFileReader(folder / "f", Magic{{'L', 'K', 'O', 'T', 'H', 'E', 'R', '1'}}, kVersion));
  Bytes bytes = test::read_file(folder / "f");
  put(bytes, kAtVersion, std::uint32_t{9});
  repair(bytes);
  test::write_file(folder / "f", bytes);
  CHECK_FAILS(Code::kUnsupported, open_and_verify(folder / "f"));
  try {
    open_and_verify(folder / "f");
  } catch (const Error& error) {
    REQUIRE(error.details().size() == 3);
    CHECK_EQ(std::get<std::string>(error.details()[0].second), utf8_path(folder / "f"));
    CHECK_EQ(std::string(error.what()),
             utf8_path(folder / "f") + ": " + std::get<std::string>(error.details()[1].second));
    CHECK_EQ(std::get<std::int64_t>(error.details()[2].second), 9);
  }
}

TEST("a table that lies is corrupt even when its checksums are right") {
  struct Lie {
    const char* what;
    void (*tell)(Bytes&);
  };
  static const Lie kLies[] = {
      {"section over the one before",
       [](Bytes& b) { put(b, entry(2) + kAtOffset, get<std::uint64_t>(b, entry(0) + kAtOffset)); }},
      {"section over the header", [](Bytes& b) { put(b, entry(0) + kAtOffset, std::uint64_t{0}); }},
      {"section past the end", [](Bytes& b) { put(b, entry(2) + kAtOffset, std::uint64_t{1} << 40); }},
      {"size past the end",
       [](Bytes& b) { put(b, entry(2) + kAtSize, get<std::uint64_t>(b, entry(2) + kAtSize) + 1); }},
      {"offset + size wraps round", [](Bytes& b) { put(b, entry(2) + kAtSize, ~std::uint64_t{0} - 63); }},
      {"offset at the top of the range", [](Bytes& b) { put(b, entry(2) + kAtOffset, ~std::uint64_t{63}); }},
      {"unaligned section",
       [](Bytes& b) { put(b, entry(2) + kAtOffset, get<std::uint64_t>(b, entry(2) + kAtOffset) + 4); }},
      {"a gap between sections",
       [](Bytes& b) { put(b, entry(2) + kAtOffset, get<std::uint64_t>(b, entry(2) + kAtOffset) + 64); }},
      {"size too small", [](Bytes& b) { put(b, entry(2) + kAtSize, get<std::uint64_t>(b, entry(2) + kAtSize) - 4); }},
      {"the same id twice", [](Bytes& b) { put(b, entry(2) + kAtId, std::uint32_t{10}); }},
      {"reserved word used", [](Bytes& b) { put(b, entry(1) + kAtZero, std::uint32_t{1}); }},
      {"one section more", [](Bytes& b) { put(b, kAtSections, std::uint32_t{4}); }},
      {"one section less", [](Bytes& b) { put(b, kAtSections, std::uint32_t{2}); }},
      {"65 sections", [](Bytes& b) { put(b, kAtSections, std::uint32_t{65}); }},
      {"four thousand million sections", [](Bytes& b) { put(b, kAtSections, ~std::uint32_t{0}); }},
  };
  const test::ScratchFolder folder;
  write_sample(folder / "f");
  const Bytes whole = test::read_file(folder / "f");
  for (const Lie& lie : kLies) {
    Bytes bad = whole;
    lie.tell(bad);
    // The table checksum of an absurd section count cannot be repaired: the header's can.
    if (get<std::uint32_t>(bad, kAtSections) <= 64) {
      repair(bad);
    } else {
      put(bad, kAtHeaderChecksum, checksum(std::as_bytes(std::span(bad)).first(kAtHeaderChecksum)));
    }
    test::write_file(folder / "bad", bad);
    std::string got;
    if (!test::throws_code(Code::kCorrupt, [&] { open_and_verify(folder / "bad"); }, got)) {
      test::report_failure(__FILE__, __LINE__, std::string(lie.what) + ": " + got);
    }
  }
}

TEST("what is no file to read is an error that names it") {
  const test::ScratchFolder folder;
  CHECK_FAILS(Code::kNotFound, open_and_verify(folder / "absent"));
  CHECK_FAILS(Code::kNotFound, open_and_verify(folder / "absent" / "f"));
  fs::create_directory(folder / "folder");
  CHECK_FAILS(Code::kIo, open_and_verify(folder / "folder"));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);  // would block for ever if opened like a file
  CHECK_FAILS(Code::kIo, open_and_verify(folder / "pipe"));
  test::write_file(folder / "empty", {});
  CHECK_FAILS(Code::kCorrupt, open_and_verify(folder / "empty"));
}

TEST("a writer that is not committed leaves nothing, and the old file stays") {
  const test::ScratchFolder folder;
  write_sample(folder / "f");
  const Bytes before = test::read_file(folder / "f");
  {
    SectionFileWriter writer(folder / "f", kMagic, kVersion, 1, 1);
    writer.begin(1);
    writer.write_array(std::span<const std::uint32_t>(numbers()));
    CHECK_EQ(folder.entries(), 2u);
  }
  CHECK_EQ(folder.entries(), 1u);
  CHECK(test::read_file(folder / "f") == before);
}

TEST("a writer used wrongly fails and leaves nothing") {
  const test::ScratchFolder folder;
  CHECK_FAILS(Code::kInternal, SectionFileWriter(folder / "f", kMagic, kVersion, 0, kMaxSections + 1));
  CHECK_FAILS(Code::kInternal, SectionFileWriter(folder / "f", kMagic, kVersion, 0, 1).commit());
  const char byte = 0;
  CHECK_FAILS(Code::kInternal, {
    SectionFileWriter writer(folder / "f", kMagic, kVersion, 0, 1);
    writer.write_array(std::span(&byte, 1));
  });
  CHECK_FAILS(Code::kInternal, {
    SectionFileWriter writer(folder / "f", kMagic, kVersion, 0, 2);
    writer.begin(1);
    writer.begin(1);
  });
  CHECK_FAILS(Code::kInternal, {
    SectionFileWriter writer(folder / "f", kMagic, kVersion, 0, 0);
    writer.commit();
    writer.commit();
  });
  fs::remove(folder / "f");
  CHECK_EQ(folder.entries(), 0u);
}

TEST("a folder that cannot be written is an I/O error") {
  const test::ScratchFolder folder;
  CHECK_FAILS(Code::kIo, write_sample(folder / "absent" / "f"));
  CHECK_EQ(folder.entries(), 0u);
}

/// Writes beyond `bytes` fail with EFBIG, as they fail with ENOSPC on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST("a disk that fills up is an I/O error, and the old file stays") {
  const test::ScratchFolder folder;
  write_sample(folder / "f");
  const Bytes before = test::read_file(folder / "f");
  const std::vector<std::byte> block(std::size_t{1} << 16);
  // Less than one buffer: found by commit(). More: found by write().
  for (const std::size_t blocks : {std::size_t{1}, std::size_t{64}}) {
    FileSizeLimit limit(4096);
    CHECK_FAILS(Code::kIo, {
      SectionFileWriter writer(folder / "f", kMagic, kVersion, 0, 1);
      writer.begin(1);
      for (std::size_t i = 0; i < blocks; ++i) writer.write(block);
      writer.commit();
    });
  }
  CHECK(test::read_file(folder / "f") == before);
  CHECK_EQ(folder.entries(), 1u);
}

TEST("temporary files left by a killed process with our id do not stand in the way, and go with the next write") {
  const test::ScratchFolder folder;
  std::vector<std::string> left;
  for (int i = 0; i < 100; ++i) left.push_back("f." + std::to_string(::getpid()) + "-" + std::to_string(i) + ".tmp");
  for (const std::string& name : left) test::write_file(folder / name, Bytes{'x'});
  write_sample(folder / "f");
  open_and_verify(folder / "f");
  CHECK_EQ(folder.entries(), 1u);  // nobody holds them: the write removed them
}

TEST("two writers of one file do not harm each other: the later commit wins") {
  const test::ScratchFolder folder;
  SectionFileWriter first(folder / "f", kMagic, kVersion, 1, 0);
  SectionFileWriter second(folder / "f", kMagic, kVersion, 2, 0);
  second.commit();
  CHECK_EQ(SectionFileReader(folder / "f", kMagic, kVersion).fingerprint(), 2u);
  first.commit();
  CHECK_EQ(SectionFileReader(folder / "f", kMagic, kVersion).fingerprint(), 1u);
  CHECK_EQ(folder.entries(), 1u);
}

TEST("verify polls its cancel token") {
  const test::ScratchFolder folder;
  write_sample(folder / "f");
  CancelToken cancel;
  cancel.cancel();
  CHECK_FAILS(Code::kCancelled, SectionFileReader(folder / "f", kMagic, kVersion).verify(&cancel));
}

TEST("rewriting cannot reach past what was written") {
  const test::ScratchFolder folder;
  AtomicFile file(folder / "f", replaces_own_kind(folder / "f", kMagic, nullptr));
  const std::vector<std::byte> eight(8);
  file.write(eight);
  file.rewrite(4, std::span(eight).first(4));
  CHECK_FAILS(Code::kInternal, file.rewrite(4, eight));
  CHECK_FAILS(Code::kInternal, file.rewrite(~std::uint64_t{0}, eight));
  CHECK_EQ(file.size(), 8u);
  file.commit();
  CHECK_EQ(fs::file_size(folder / "f"), 8u);
}

}  // namespace
