#include "store/records_reader.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "core/values/checksum.h"
#include "core/values/error.h"
#include "core/values/text_table.h"
#include "filter/columns_builder.h"
#include "store/json_array_scanner.h"
#include "store/json_record.h"
#include "vector/vector_type.h"

namespace lorekeep::store {
namespace {

constexpr std::size_t kRecordsPerPoll = 256;
constexpr std::size_t kWindowRecords = 4;  // size of the window in longest records, so that advancing moves little

/// Collects the defects of a file, in file order.
class IssueList {
 public:
  explicit IssueList(const std::string& file) : file_(file) {}

  bool empty() const noexcept { return count_ == 0; }
  bool full() const noexcept { return count_ > kListedIssues; }

  /// `record`: the position of the record, if any.
  void add(std::size_t line, std::optional<std::size_t> record, std::string_view id, const RecordIssue& issue,
           Code code) {
    if (++count_ > kListedIssues) {
      if (count_ > kListedIssues + 1) return;
      message_ += "\nand more";
      issues_ += "\nand more";
      return;
    }
    std::string where = std::to_string(line) + ": ";
    if (record)
      where += "record " + std::to_string(*record) + (id.empty() ? "" : " (" + filter::quoted(id) + ")") + ": ";
    if (!issue.field.empty()) where += issue.field + ": ";
    const std::string text = where + "expected " + issue.expected + ", found " + issue.found;
    if (count_ > 1) {
      message_ += "\n";
      issues_ += "\n";
    }
    message_ += file_ + ":" + text;
    issues_ += text;
    if (count_ > 1) return;
    code_ = code;
    details_ = {{"file", file_}, {"line", static_cast<std::int64_t>(line)}};
    if (record) details_.emplace_back("record", static_cast<std::int64_t>(*record));
    if (!id.empty()) details_.emplace_back("id", std::string(id));
    if (!issue.field.empty()) details_.emplace_back("field", issue.field);
    details_.emplace_back("expected", issue.expected);
    details_.emplace_back("found", issue.found);
  }

  [[noreturn]] void raise() const {
    Details details = details_;
    details.emplace_back("mistakes", static_cast<std::int64_t>(count_));
    details.emplace_back("issues", issues_);
    fail(code_, message_, std::move(details));
  }

 private:
  std::string file_;
  std::size_t count_ = 0;
  std::string message_;
  std::string issues_;  // a line each, without the file
  Code code_ = Code::kCorrupt;
  Details details_;
};

std::uint64_t fingerprint_of(const TextArena& texts) {
  std::vector<std::uint64_t> sums(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    sums[i] = checksum(std::as_bytes(std::span(texts[i].data(), texts[i].size())));
  }
  return checksum(std::as_bytes(std::span(sums)));
}

class RecordsReader {
 public:
  RecordsReader(const std::filesystem::path& path, const ReadOptions& options)
      : options_(options),
        path_(path),
        window_(path, kWindowRecords * options.longest_record),
        scanner_(window_, options.longest_record),
        parser_(options.schema.get()),
        issues_(window_.name()) {
    if (options.schema) columns_.emplace(options.schema);
  }

  Records read() {
    // All texts fit the size of the file. Reserving it avoids moves and a second copy.
    const auto file_size = static_cast<std::size_t>(window_.file_size());
    records_.texts.reserve(file_size);
    while (const auto slice = next()) take(*slice);
    if (issues_.empty() && count_ == 0) {
      issues_.add(1, std::nullopt, "", {"", "at least one record", "an empty array"}, Code::kInvalidArgument);
    }
    window_.check_unchanged();
    if (!issues_.empty()) issues_.raise();
    if (columns_) records_.metadata = std::make_shared<const filter::Columns>(std::move(*columns_).build());
    // Shrinking copies the texts. This pays (and never sets the peak) if the texts are a small part of the file.
    if (records_.texts.text_bytes() < file_size / 2) records_.texts.shrink_to_fit();
    records_.ids.shrink_to_fit();
    records_.fingerprint = fingerprint_of(records_.texts);
    records_.path = path_;
    records_.identity = window_.identity();
    return std::move(records_);
  }

 private:
  std::optional<JsonSlice> next() {
    if (options_.cancel != nullptr && count_ % kRecordsPerPoll == 0) options_.cancel->check();
    if (issues_.full() || broken_) return std::nullopt;
    try {
      return scanner_.next();
    } catch (const JsonSyntaxError& error) {
      const auto record = error.inside ? std::optional(count_) : std::nullopt;
      issues_.add(error.line, record, "", {"", error.expected, error.found}, Code::kCorrupt);
      return std::nullopt;
    }
  }

  void take(const JsonSlice& slice) {
    if (count_ == vector::kMaxRows) {
      fail(Code::kUnsupported,
           "more than " + std::to_string(vector::kMaxRows) + " records: a storage cannot hold them");
    }
    const JsonRecord& record = parser_.parse(slice.json);
    const Code code = record.readable ? Code::kInvalidArgument : Code::kCorrupt;
    for (const RecordIssue& issue : record.issues) {
      issues_.add(window_.line_of(slice.at), count_, record.id, issue, code);
    }
    broken_ = !record.readable;
    records_.ids.append(record.id);
    if (!record.id.empty()) check_id(record.id, slice);
    if (issues_.empty()) keep(record);
    ++count_;
  }

  void check_id(std::string_view id, const JsonSlice& slice) {
    const auto first = ids_.enter(records_.ids, count_);
    if (!first) return;
    const RecordIssue issue{"id", "an id of its own", "the id of record " + std::to_string(*first)};
    issues_.add(window_.line_of(slice.at), count_, id, issue, Code::kInvalidArgument);
  }

  void keep(const JsonRecord& record) {
    records_.texts.append(record.text);
    if (!columns_) return;
    columns_->begin_record(record.id);
    for (const auto& [field, value] : record.values) columns_->set(field, value);
  }

  const ReadOptions& options_;
  std::filesystem::path path_;
  FileWindow window_;
  JsonArrayScanner scanner_;
  JsonRecordParser parser_;
  IssueList issues_;
  TextTable ids_;
  std::optional<filter::ColumnsBuilder> columns_;
  Records records_;
  std::size_t count_ = 0;  // records read
  bool broken_ = false;
};

}  // namespace

std::size_t Records::memory_bytes() const noexcept {
  return ids.memory_bytes() + texts.memory_bytes() + (metadata ? metadata->memory_bytes() : 0);
}

Records read_records(const std::filesystem::path& path, const ReadOptions& options) {
  return RecordsReader(path, options).read();
}

}  // namespace lorekeep::store
