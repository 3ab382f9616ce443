#include "store/records_reader.h"

#include "harness.h"
#include "records_sample.h"
#include "store/json_array_scanner.h"
#include "store/json_record.h"

namespace lorekeep::store {
namespace {

using filter::FieldType;

std::shared_ptr<const filter::Schema> schema() {
  return std::make_shared<const filter::Schema>(std::vector<filter::Field>{{"year", FieldType::kInt, {}, true},
                                                                           {"score", FieldType::kFloat, 0.5, true},
                                                                           {"kind", FieldType::kString, {}, true},
                                                                           {"public", FieldType::kBool, {}, true},
                                                                           {"tags", FieldType::kStringSet, {}, true}});
}

Records read(std::string_view json) {
  const RecordsFile file;
  return file.read(json, {.schema = schema()});
}

/// The message without the file's folder, or "" when nothing was thrown.
std::string refusal(std::string_view json, Code code) {
  try {
    read(json);
  } catch (const Error& error) {
    CHECK_EQ(code_name(error.code()), code_name(code));
    const std::string message = error.what();
    const std::size_t at = message.find("records.json");
    return at == std::string::npos ? message : message.substr(at);
  }
  return "";
}

bool refused(std::string_view json, Code code, std::string_view with) {
  const std::string message = refusal(json, code);
  const bool found = message.find(with) != std::string::npos;
  if (!found) CHECK_EQ(message, std::string(with));
  return found;
}

std::string record_with(const std::string& metadata) {
  return R"([{"id": "a", "text": "t", "metadata": )" + metadata + "}]";
}

TEST("records are read in order, with escapes resolved and metadata in columns") {
  const Records records = read(
      "[{\"id\": \"a\", \"text\": \"caf\\u00e9 \\ud83d\\ude00\\n\", \"metadata\": {\"year\": -9223372036854775808, "
      "\"kind\": \"k\", \"public\": true, \"tags\": [\"z\", \"a\", \"z\"], \"other\": {\"x\": [1]}}},\n"
      "{\"text\": \"two\", \"id\": \"b\", \"note\": null}]");
  REQUIRE(records.size() == 2);
  CHECK_EQ(records.ids[1], "b");
  CHECK_EQ(records.texts[0], "caf\xC3\xA9 \xF0\x9F\x98\x80\n");
  REQUIRE(records.metadata != nullptr && records.metadata->size() == 2);
  CHECK(records.metadata->value(0, 0) == filter::FieldValue(INT64_MIN));
  CHECK(records.metadata->value(0, 4) == filter::FieldValue(filter::StringSet{"a", "z"}));
  CHECK(records.metadata->value(1, 1) == filter::FieldValue(0.5));
  CHECK(!records.metadata->value(1, 0).has_value());
}

TEST("a byte order mark, CRLF, blanks and unknown keys do not matter") {
  const Records records = read("\xEF\xBB\xBF \r\n[\r\n\t{\"id\":\"a\",\"text\":\"t\",\"title\":1}\r\n ]\r\n ");
  CHECK_EQ(records.size(), std::size_t{1});
}

TEST("brackets and quotes within strings do not end a record") {
  const Records records = read(R"([{"id":"]},{","text":"\"}],[{\\"},{"id":"b","text":"\\\""}])");
  REQUIRE(records.size() == 2);
  CHECK_EQ(records.ids[0], "]},{");
  CHECK_EQ(records.texts[0], "\"}],[{\\");
}

TEST("an escaped NUL is a character like others, a raw one is not JSON") {
  const Records records = read(R"([{"id":"a","text":"x\u0000y"}])");
  CHECK_EQ(records.texts[0], std::string_view("x\0y", 3));
  CHECK(refused(std::string_view("[{\"id\":\"a\",\"text\":\"x\0y\"}]", 24), Code::kCorrupt, "control character"));
}

TEST("the fingerprint follows the texts and their order, not the layout of the file") {
  const auto of = [](std::string_view json) { return read(json).fingerprint; };
  const auto base = of(R"([{"id":"a","text":"x"},{"id":"b","text":"y"}])");
  CHECK_EQ(of("[ {\"text\":\"x\",\"id\":\"c\"},\n{\"id\":\"b\",\"text\":\"y\"}]"), base);
  CHECK(of(R"([{"id":"a","text":"y"},{"id":"b","text":"x"}])") != base);
  CHECK(of(R"([{"id":"a","text":"xy"}])") != base);
}

TEST("what is not an array of records is refused with line and what was found") {
  CHECK(refused("", Code::kCorrupt,
                "records.json:1: expected an array of records, which begins with [, found the end of the file"));
  CHECK(refused("\n{\"id\": \"a\"}", Code::kCorrupt, "records.json:2"));
  CHECK(refused("{\"id\":\"a\",\"text\":\"t\"}\n{\"id\":\"b\",\"text\":\"u\"}\n", Code::kCorrupt,
                "if this is JSON Lines"));
  CHECK(refused("\xFF\xFE[", Code::kCorrupt, "the byte 255"));
  CHECK(refused("[]", Code::kInvalidArgument, "expected at least one record, found an empty array"));
  CHECK(refused("[{\"id\":\"a\",\"text\":\"t\"}", Code::kCorrupt, "a comma or ]"));
  CHECK(refused("[{\"id\":\"a\",\"text\":\"t\"},]", Code::kCorrupt, "record 1: expected a record, found \"]\""));
  CHECK(
      refused("[{\"id\":\"a\",\n\"text\":\"t", Code::kCorrupt, "records.json:2: record 0: expected the closing quote"));
  CHECK(refused("[{\"id\":\"a\",\"text\":[", Code::kCorrupt, "expected the end of the record"));
  CHECK(refused("[{\"id\":\"a\",\"text\":\"t\"}] x", Code::kCorrupt, "expected nothing after the array, found \"x\""));
  CHECK(refused("[{\"id\":\"a\" \"text\":\"t\"}]", Code::kCorrupt, "record 0: expected JSON"));
}

TEST("a record that breaks a rule is named with its field") {
  CHECK(refused("[3]", Code::kInvalidArgument, "record 0: expected an object, found 3"));
  CHECK(refused(R"([{"text":"t"}])", Code::kInvalidArgument,
                "record 0: id: expected a string that is not blank, found nothing"));
  CHECK(refused(R"([{"id":"a"}])", Code::kInvalidArgument, "record 0 (\"a\"): text: expected"));
  CHECK(refused(R"([{"id":"a","text":" \n"}])", Code::kInvalidArgument, "text: expected a string that is not blank"));
  CHECK(
      refused(R"([{"id":7,"text":"t"}])", Code::kInvalidArgument, "id: expected a string that is not blank, found 7"));
  CHECK(
      refused(R"([{"id":"a","id":"b","text":"t"}])", Code::kInvalidArgument, "id: expected the key once, found twice"));
  CHECK(refused(record_with("[]"), Code::kInvalidArgument, "metadata: expected an object"));
  CHECK(refused(record_with(R"({"year": "x"})"), Code::kInvalidArgument, "metadata.year: expected int, found \"x\""));
  CHECK(refused(record_with(R"({"year": 1.5})"), Code::kInvalidArgument, "metadata.year: expected int, found 1.5"));
  CHECK(refused(record_with(R"({"year": null})"), Code::kInvalidArgument, "metadata.year: expected int, found null"));
  CHECK(refused(record_with(R"({"year": 1, "year": 1})"), Code::kInvalidArgument, "the key once"));
  CHECK(refused(record_with(R"({"tags": ["a", 1]})"), Code::kInvalidArgument,
                "metadata.tags[1]: expected string, found 1"));
}

TEST("integers beyond int64 are refused for int fields") {
  const auto year = [](const std::string& value, const std::string& message) {
    return refused(record_with("{\"year\": " + value + "}"), Code::kInvalidArgument,
                   "metadata.year: expected int " + message);
  };
  CHECK(year("9223372036854775808", "of at most 9223372036854775807, found 9223372036854775808"));
  CHECK(year("18446744073709551616", "of at most 9223372036854775807, found about "));
  CHECK(year("-9223372036854775809", "of at least -9223372036854775808, found about "));
  CHECK(read(record_with(R"({"year": -9223372036854775808, "x": 123456789012345678901234567890})"))
            .metadata->value(0, 0) == filter::FieldValue(std::numeric_limits<std::int64_t>::min()));
}

TEST("integers of any length are doubles for float fields, and of no matter where they are ignored") {
  const auto score = [](const std::string& value) {
    return read(record_with("{\"a\\\\\": \"\\\"-1, 99999999999999999999\", \"score\": " + value + "}"))
        .metadata->value(0, 1);
  };
  CHECK(score("18446744073709551615") == filter::FieldValue(18446744073709551616.0));
  CHECK(score("123456789012345678901234567890") == filter::FieldValue(123456789012345678901234567890.0));
  CHECK(score("-9223372036854775809") == filter::FieldValue(-9223372036854775808.0));
  CHECK(score("100000000000000000000 , \"b\": [-99999999999999999999,1]") == filter::FieldValue(1e20));
  CHECK(refused(record_with("{\"score\": 1" + std::string(400, '0') + "}"), Code::kInvalidArgument,
                "metadata.score: expected a number that a double holds, found 1000"));
  CHECK(refused(record_with(R"({"score": 099999999999999999999})"), Code::kInvalidArgument,
                "a number as JSON writes it"));
  CHECK(
      refused(record_with(R"({"score": 99999999999999999999, "x": tru})"), Code::kCorrupt, "a JSON value, found tru"));
}

TEST("numbers beyond double are refused everywhere") {
  CHECK(refused(record_with(R"({"score": 1e999})"), Code::kInvalidArgument, "number"));
}

TEST("what is no JSON is named with its field and shown as it stands") {
  const auto year = [](const std::string& value, Code code, const std::string& message) {
    return refused(record_with("{\"s\": \"[{,:\\\"\", \"a\": [{\"year\": " + value + "}]}"), code,
                   "record 0: metadata.a.year: expected " + message);
  };
  CHECK(year("1e309", Code::kInvalidArgument, "a number that a double holds, found 1e309"));
  for (const char* number : {"01", "+1", ".5", "1.", "1e", "0x1", "-", "1.e5", "--1"}) {
    CHECK(year(number, Code::kInvalidArgument, std::string("a number as JSON writes it, found ") + number));
  }
  for (const char* word : {"NaN", "Infinity", "True", "nulls", "undefined"}) {
    CHECK(refused(record_with(std::string("{\"year\": ") + word + "}"), Code::kCorrupt,
                  std::string("metadata.year: expected a JSON value, found ") + word));
  }
  CHECK(year(R"("\ud800")", Code::kInvalidArgument, "characters, found \\ud800, half of a surrogate pair"));
  CHECK(year(R"("\ud83d\u0041")", Code::kInvalidArgument, "characters, found \\ud83d, half of a surrogate pair"));
  CHECK(year(R"("\ud83d\ude00 \udc00")", Code::kInvalidArgument, "characters, found \\udc00"));
  CHECK(year(R"("\x")", Code::kInvalidArgument, "an escape sequence of JSON, found \\x"));
  CHECK(year(R"("\u12G4")", Code::kInvalidArgument, "an escape sequence of JSON, found \\u"));
  CHECK(year("\"a\tb\"", Code::kCorrupt, "a string without control characters, found the byte 9"));
  CHECK(refused(record_with("{\"year\" 1}"), Code::kCorrupt, "record 0: expected JSON, found a comma, colon"));
}

TEST("lone surrogates, bytes that are no UTF-8 and deep nesting are refused") {
  CHECK(refused(R"([{"id":"a","text":"\ud800"}])", Code::kInvalidArgument, "surrogate"));
  CHECK(refused(R"([{"id":"a","text":"\udc00x"}])", Code::kInvalidArgument, "surrogate"));
  CHECK(refused("[{\"id\":\"a\",\"text\":\"\xC3(\"}]", Code::kInvalidArgument, "expected UTF-8"));
  const auto nested = [](std::size_t levels) {
    return record_with("{\"x\":" + std::string(levels, '[') + std::string(levels, ']') + "}");
  };
  CHECK_EQ(read(nested(kMaxRecordDepth - 3)).size(), std::size_t{1});
  CHECK(refused(nested(kMaxRecordDepth), Code::kInvalidArgument, "levels of nesting"));
  CHECK(refused(nested(100'000), Code::kInvalidArgument, "levels of nesting"));
}

TEST("duplicate ids name both records") {
  std::string json = "[";
  for (int i = 0; i < 1000; ++i) json += "{\"id\":\"r" + std::to_string(i) + "\",\"text\":\"t\"},\n";
  CHECK(refused(json + "{\"id\":\"r7\",\"text\":\"t\"}]", Code::kInvalidArgument,
                "records.json:1001: record 1000 (\"r7\"): id: expected an id of its own, found the id of record 7"));
}

TEST("the first twenty issues are listed at once, and the details are of the first") {
  std::string json = "[{\"id\":\"ok\",\"text\":\"t\"}";
  for (int i = 0; i < 30; ++i) json += ",\n{\"id\":\"r" + std::to_string(i) + "\"}";
  const std::string message = refusal(json + "]", Code::kInvalidArgument);
  CHECK_EQ(static_cast<std::size_t>(std::count(message.begin(), message.end(), '\n')), kListedIssues);
  CHECK(message.find("records.json:21: record 20 (\"r19\")") != std::string::npos);
  CHECK(message.ends_with("and more"));
  std::string twice_wrong = "[{\"id\":7}";
  for (int i = 0; i < 30; ++i) twice_wrong += ",{\"id\":7}";
  const std::string other = refusal(twice_wrong + "]", Code::kInvalidArgument);
  CHECK_EQ(other.find("and more"), other.rfind("and more"));
}

TEST("a record of more than 16 MiB is refused") {
  const std::string long_record = "[{\"id\":\"a\",\"text\":\"" + std::string(kLongestRecord, 'x') + "\"}]";
  CHECK(refused(long_record, Code::kCorrupt, "records.json:1: record 0: expected a record of at most 16777216 bytes"));
}

TEST("a file is read alike through a window of any size, issues and their lines included") {
  const RecordsFile file;
  std::string json = "\xEF\xBB\xBF[";
  for (int i = 0; i < 300; ++i) {
    json += std::string(static_cast<std::size_t>(i % 97), i % 2 == 0 ? '\n' : ' ') + (i > 0 ? "," : "");
    json += "\n{\"id\":\"r" + std::to_string(i) + "\",\"text\":\"" +
            std::string(static_cast<std::size_t>(i % 60), 'x') + "\\\\\\\"]},{\"}";
  }
  const Records whole = file.read(json + std::string(5000, ' ') + "]\n");
  for (const std::size_t longest : {110, 128, 200, 1000}) {
    const Records some =
        file.read(json + std::string(5000, ' ') + "]\n", {.schema = nullptr, .longest_record = longest});
    CHECK_EQ(some.size(), std::size_t{300});
    CHECK_EQ(some.fingerprint, whole.fingerprint);
  }
  const auto message = [&](std::size_t longest) {
    try {
      file.read(json + ",\n{\"id\":\"r7\",\"text\":\"t\"},\n\n{\"id\":\"x\"}]!",
                {.schema = nullptr, .longest_record = longest});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message(kLongestRecord).find("record 300 (\"r7\"): id") != std::string::npos);
  CHECK_EQ(message(110), message(kLongestRecord));
  CHECK_FAILS(Code::kCorrupt, file.read(json + "]", {.schema = nullptr, .longest_record = 40}));
}

TEST("reading ends when it is cancelled") {
  const RecordsFile file;
  CancelToken cancel;
  cancel.cancel();
  CHECK_FAILS(Code::kCancelled, file.read(R"([{"id":"a","text":"t"}])", {.schema = nullptr, .cancel = &cancel}));
}

}  // namespace
}  // namespace lorekeep::store
