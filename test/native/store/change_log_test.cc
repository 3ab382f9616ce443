#include <map>
#include <random>

#include "change_log_sample.h"
#include "core/values/checksum.h"
#include "harness.h"
#include "scratch_folder.h"
#include "store/records_reader.h"
#include "store/records_rewriter.h"

namespace lorekeep::store {
namespace {

ChangeLog parse(const SampleLog& log) {
  return ChangeLog(log.bytes, "sample");
}

LoggedChanges fold(const ChangeLog& log) {
  return fold_changes(log, 0, UINT64_MAX, nullptr);
}

std::string joined(const auto& texts) {
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i) all += std::string(texts[i]) + " ";
  return all;
}

SampleLog three_batches() {
  SampleLog log;
  log.put("a", "one").put("b", "two").end();
  log.remove("a").put("c", "three").end();
  log.put("b", "four", 5).end();
  return log;
}

TEST("a change log gives the last state of each id, in the order of the last puts") {
  const ChangeLog log = parse(three_batches());
  CHECK_EQ(log.version(), std::uint64_t{3});
  CHECK_EQ(log.frames().size(), std::size_t{3});
  CHECK(!log.damage());
  const LoggedChanges changes = fold(log);
  CHECK_EQ(joined(changes.ids), "c b ");
  CHECK_EQ(joined(changes.texts), "three four ");
  CHECK_EQ(joined(changes.removed), "a ");
  CHECK_EQ(changes.version, std::uint64_t{3});
  REQUIRE(changes.vectors.size() == 4);
  CHECK_EQ(changes.vectors[2], 5.0F);
  const LoggedChanges second = fold_changes(log, 1, 2, nullptr);
  CHECK_EQ(joined(second.ids) + "-" + joined(second.removed), "c -a ");
}

TEST("a digest identifies the batches of a log up to a version") {
  const ChangeLog log = parse(three_batches());
  for (std::uint64_t version = 1; version <= 3; ++version) {
    CHECK(log.version_with(log.digest(version)) == std::optional(version));
  }
  SampleLog longer = three_batches();
  longer.put("d", "five").end();
  CHECK_EQ(parse(longer).digest(3), log.digest(3));
  SampleLog other;
  other.put("a", "One").put("b", "two").end();
  CHECK(!log.version_with(parse(other).digest(1)));
}

TEST("a log that is cut anywhere gives its whole batches; the rest is torn") {
  const SampleLog whole = three_batches();
  const ChangeLog all = parse(whole);
  for (std::size_t size = sizeof(ChangeLogHeader); size < whole.bytes.size(); ++size) {
    const ChangeLog log(std::span(whole.bytes).first(size), "cut");
    std::size_t expected = 0;
    while (expected < 3 && all.frames()[expected].end <= size) ++expected;
    CHECK_EQ(log.frames().size(), expected);
    const bool at_end = log.end() == size;
    CHECK_EQ(log.damage().has_value(), !at_end);
    if (log.damage()) CHECK(log.damage()->torn);
  }
  for (std::size_t size = 0; size < sizeof(ChangeLogHeader); ++size) {
    CHECK_FAILS(Code::kCorrupt, ChangeLog(std::span(whole.bytes).first(size), "cut"));
  }
}

TEST("damage before a batch that says that these bytes were on the device is not a torn tail") {
  SampleLog log = three_batches();
  const std::uint64_t second = parse(log).frames()[1].begin;
  log.bytes[second + sizeof(ChangeFrame) + 3] ^= std::byte{1};
  const ChangeLog damaged = parse(log);
  CHECK_EQ(damaged.version(), std::uint64_t{1});
  REQUIRE(damaged.damage().has_value());
  CHECK_EQ(damaged.damage()->at, second);
  CHECK(!damaged.damage()->torn);
}

TEST("a hole before a batch that was written before any flush is a torn tail") {
  SampleLog log;
  log.put("a", "one").end();
  const std::uint64_t durable = log.bytes.size();
  log.put("b", "two").end(durable);
  log.put("c", "three").end(durable);
  std::fill(log.bytes.begin() + static_cast<std::ptrdiff_t>(durable),
            log.bytes.begin() + static_cast<std::ptrdiff_t>(durable + 40), std::byte{0});
  const ChangeLog torn = parse(log);
  CHECK_EQ(torn.version(), std::uint64_t{1});
  REQUIRE(torn.damage().has_value());
  CHECK(torn.damage()->torn);
}

TEST("forged frames that each have the rest of the file are damage, and are not all read") {
  SampleLog log;
  log.put("a", "one").end();
  constexpr std::size_t kForged = 20'000;
  const std::size_t end = log.bytes.size() + kForged * sizeof(ChangeFrame);
  for (std::size_t i = 0; i < kForged; ++i) {
    ChangeFrame frame{};
    frame.magic = kFrameMagic;
    frame.kind = FrameKind::kBatch;
    frame.version = 2;
    frame.size = end - log.bytes.size() - sizeof(frame);
    frame.operations = 1;
    const auto* const bytes = reinterpret_cast<const std::byte*>(&frame);
    frame.checksum = checksum({bytes, offsetof(ChangeFrame, checksum)}, SampleLog::kId);
    log.bytes.insert(log.bytes.end(), bytes, bytes + sizeof(frame));
  }
  const ChangeLog forged = parse(log);
  CHECK_EQ(forged.version(), std::uint64_t{1});
  REQUIRE(forged.damage().has_value());
  CHECK(!forged.damage()->torn);
}

TEST("frames of another log, of a wrong version or with invalid operations are not taken") {
  SampleLog log;
  log.put("a", "one").end();
  const std::size_t good = log.bytes.size();
  SampleLog other(1, 78);
  other.put("b", "two").end();
  log.bytes.insert(log.bytes.end(), other.bytes.begin() + sizeof(ChangeLogHeader), other.bytes.end());
  CHECK_EQ(parse(log).end(), good);
  SampleLog skipped(5);
  skipped.put("b", "two").end();
  log.bytes.resize(good);
  log.bytes.insert(log.bytes.end(), skipped.bytes.begin() + sizeof(ChangeLogHeader), skipped.bytes.end());
  CHECK_EQ(parse(log).version(), std::uint64_t{1});
  SampleLog empty;
  empty.end();
  CHECK_EQ(parse(empty).version(), std::uint64_t{0});
}

TEST("a merge mark is found, and the part of a log behind a position is read alone") {
  SampleLog log;
  log.put("a", "one").end();
  log.merge({10, 11}, 1).put("b", "two").end();
  const test::ScratchFolder folder;
  test::write_file(folder / "log", {reinterpret_cast<const std::uint8_t*>(log.bytes.data()), log.bytes.size()});
  const ChangeLog read = ChangeLog::read(folder / "log");
  REQUIRE(read.mark().has_value());
  CHECK_EQ(read.mark()->files.records_checksum, std::uint64_t{11});
  CHECK_EQ(read.mark()->version, std::uint64_t{1});
  const ChangeLog tail = ChangeLog::read(folder / "log", read.frames()[1].end, 1);
  CHECK_EQ(tail.version(), std::uint64_t{2});
  CHECK_EQ(joined(fold_changes(tail, 1, 9, nullptr).ids), "b ");
  CHECK(!ChangeLog::read(folder / "log", tail.end(), 2).damage());
}

TEST("a logged record that breaks the rules of records files is CORRUPT") {
  SampleLog wrong;
  wrong.put_json("a", R"({"id":"b","text":"x"})").end();
  CHECK_FAILS(Code::kCorrupt, fold(parse(wrong)));
  SampleLog blank;
  blank.put_json("a", R"({"id":"a","text":" "})").end();
  CHECK_FAILS(Code::kCorrupt, fold(parse(blank)));
  SampleLog infinite;
  infinite.put("a", "x", INFINITY).end();
  CHECK_FAILS(Code::kCorrupt, fold(parse(infinite)));
}

TEST("mutations of a log give an error or a prefix of its batches") {
  const SampleLog whole = three_batches();
  std::map<std::uint64_t, std::string> states;
  const auto shown = [](const LoggedChanges& changes) {
    return joined(changes.ids) + joined(changes.jsons) + joined(changes.removed);
  };
  const ChangeLog all = parse(whole);
  for (std::uint64_t version = 0; version <= 3; ++version)
    states[version] = shown(fold_changes(all, 0, version, nullptr));
  std::mt19937_64 random(test::seed());
  for (int round = 0; round < 10'000; ++round) {
    auto bytes = whole.bytes;
    for (std::uint64_t n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0: bytes[at] ^= std::byte{static_cast<unsigned char>(1U << random() % 8)}; break;
        case 1: bytes.resize(at + 1); break;
        case 2:
          std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), std::min<std::size_t>(8, bytes.size() - at),
                      std::byte{static_cast<unsigned char>(random() % 2 * 255)});
          break;
        default:
          std::copy_n(bytes.begin(), std::min(bytes.size() - at, random() % 64),
                      bytes.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    try {
      const ChangeLog log(bytes, "mutated");
      CHECK(log.version() <= 3);
      CHECK_EQ(shown(fold(log)), states[log.version()]);
      CHECK(log.version() == 3 || log.damage() || log.end() == bytes.size());
    } catch (const Error& error) {
      CHECK(error.code() == Code::kCorrupt || error.code() == Code::kUnsupported);
    }
  }
}

TEST("a rewritten records file keeps the bytes of unchanged records") {
  const test::ScratchFolder folder;
  const std::string source =
      "\xEF\xBB\xBF[ {\"id\": \"a\",  \"text\":\"caf\\u00e9\", \"mine\": [1, 2]},\n{\"text\":\"x\",\"id\":\"b\"} ,"
      "{\"id\":\"c\",\"text\":\"y\"}]";
  const auto bytes = [](const std::string& text) {
    return std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  };
  test::write_file(folder / "records.json", bytes(source));
  SampleLog log;
  log.remove("c").put("b", "new").put("d", "more").end();
  const LoggedChanges changes = fold(parse(log));
  const FileIdentity identity = identify_file(folder / "records.json");
  const auto written = rewrite_records(folder / "records.json", identity, changes, folder / "next");
  const auto found = test::read_file(folder / "next");
  const std::string text(found.begin(), found.end());
  CHECK_EQ(text,
           "[\n{\"id\": \"a\",  \"text\":\"caf\\u00e9\", \"mine\": [1, 2]},\n{\"id\":\"b\",\"text\":\"new\"},\n"
           "{\"id\":\"d\",\"text\":\"more\"}\n]\n");
  CHECK_EQ(written.records, std::size_t{3});
  CHECK_EQ(written.checksum, identify_file(folder / "next").checksum);
  FileIdentity other = identity;
  ++other.checksum;
  CHECK_FAILS(Code::kCorrupt, rewrite_records(folder / "records.json", other, changes, folder / "next"));
  test::write_file(folder / "next", bytes("{\"mine\":1}"));
  CHECK_FAILS(Code::kInvalidArgument, rewrite_records(folder / "records.json", identity, changes, folder / "next"));
}

}  // namespace
}  // namespace lorekeep::store
