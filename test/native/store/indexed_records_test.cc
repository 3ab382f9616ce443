#include "store/indexed_records.h"

#include "harness.h"
#include "indexed_records_sample.h"
#include "vector/index_file.h"

namespace lorekeep::store {
namespace {

const char* const kChanged = "the records file has changed since the index file was built";

void check_same(const Records& opened, const Records& read) {
  REQUIRE(opened.size() == read.size());
  CHECK_EQ(opened.fingerprint, read.fingerprint);
  for (std::size_t i = 0; i < read.size(); ++i) {
    CHECK_EQ(opened.ids[i], read.ids[i]);
    CHECK_EQ(opened.texts[i], read.texts[i]);
    for (std::size_t field = 0; field < read.metadata->schema().size(); ++field) {
      CHECK(opened.metadata->value(i, field) == read.metadata->value(i, field));
    }
  }
}

TEST("an index file gives back the records that it carries, and the index") {
  const IndexedSample sample;
  const IndexedRecords opened = sample.open();
  CHECK_EQ(opened.stale, std::string());
  check_same(opened.records, sample.read);
  CHECK_EQ(vector::load_index(sample.path, {.verify_vectors = true}).index->size(), sample.read.size());
}

TEST("records that were opened stay as they are when both files are replaced and removed") {
  const IndexedSample sample;
  const IndexedRecords opened = sample.open();
  const IndexedSample other(5);
  std::filesystem::rename(other.path, sample.path);
  sample.write_records("[]");
  std::filesystem::remove(sample.path);
  std::filesystem::remove(sample.records_path);
  check_same(opened.records, sample.read);
}

TEST("another time of the same records changes nothing; another content, of whatever size and time, makes them stale") {
  const IndexedSample sample;
  sample.rest(5);
  CHECK_EQ(sample.open().stale, std::string());
  std::string json = sample_json(70);
  json[json.find("text 1 ")] = 'T';
  sample.write_records(json);
  CHECK_EQ(sample.open().stale, std::string(kChanged));
  sample.write_records(json + " ");
  CHECK_EQ(sample.open().stale, std::string(kChanged));
  sample.write_records(sample_json(70));
  CHECK_EQ(sample.open().stale, std::string());
}

TEST("records that were read just after they were written are known by their content alone") {
  IndexedSample sample;
  sample.write_records(sample_json(70));  // now: a write within the clock's grain would not show
  sample.read = read_records(sample.records_path, {.schema = sample_schema()});
  CHECK(!sample.read.identity.settled);
  sample.save();
  CHECK_EQ(sample.open().stale, std::string());
  const auto changed = std::filesystem::last_write_time(sample.records_path);
  std::string json = sample_json(70);
  json[json.find("text 1 ")] = 'T';
  sample.write_records(json);
  std::filesystem::last_write_time(sample.records_path, changed);
  CHECK_EQ(sample.open().stale, std::string(kChanged));
}

TEST("other fields, or none, make the metadata stale") {
  const IndexedSample sample;
  const char* const reason = "the index file's metadata were read under other fields";
  CHECK_EQ(sample.open(nullptr).stale, std::string(reason));
  for (std::size_t field = 0; field < sample_schema()->size(); ++field) {
    std::vector<filter::Field> fields;
    for (std::size_t i = 0; i < sample_schema()->size(); ++i) fields.push_back((*sample_schema())[i]);
    fields[field].filterable = false;
    CHECK_EQ(sample.open(std::make_shared<const filter::Schema>(fields)).stale, std::string(reason));
    fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(field));
    CHECK_EQ(sample.open(std::make_shared<const filter::Schema>(fields)).stale, std::string(reason));
  }
}

TEST("an index file without records, and an absent records file, are said") {
  const IndexedSample sample;
  vector::save_index(*sample.index, sample.path, 7);
  CHECK_EQ(sample.open().stale, std::string("the index file does not carry the records"));
  sample.save();
  std::filesystem::remove(sample.records_path);
  std::string got;
  CHECK(test::throws_code(Code::kNotFound, [&] { sample.open(); }, got));
  CHECK(test::throws_code(
      Code::kInvalidArgument, [&] { save_indexed_records(*sample.index, IndexedSample(3).read, sample.path, 7); },
      got));
}

TEST("one flipped bit, wherever it is, is found by whoever opens that part of the file") {
  const IndexedSample sample(5);
  const auto bytes = test::read_file(sample.path);
  for (std::size_t bit = test::seed() % 5; bit < bytes.size() * 8; bit += 5) {
    auto damaged = bytes;
    damaged[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    test::write_file(sample.path, damaged);
    bool found = false;
    try {
      const bool stale = !sample.open().stale.empty();
      vector::load_index(sample.path, {.verify_vectors = true});
      found = stale;  // the magic of another kind of file
    } catch (const Error& error) {
      found = error.code() == Code::kCorrupt || error.code() == Code::kUnsupported;
    }
    if (!found) test::report_failure(__FILE__, __LINE__, "bit " + std::to_string(bit) + " was not missed");
  }
}

}  // namespace
}  // namespace lorekeep::store
