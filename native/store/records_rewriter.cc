#include "store/records_rewriter.h"

#include <cstring>
#include <span>
#include <string_view>

#include "core/files/atomic_file.h"
#include "core/values/checksum.h"
#include "core/values/error.h"
#include "core/values/text_table.h"
#include "store/file_window.h"
#include "store/json_array_scanner.h"
#include "store/json_record.h"
#include "store/records_reader.h"

namespace lorekeep::store {
namespace {

constexpr std::size_t kRewritesPerPoll = 256;
constexpr std::size_t kRewriteWindow = 4 * kLongestRecord;
constexpr std::string_view kRewrittenBeginning = "[\n";

/// Unfinished merges leave files of this kind.
Refusal refuse_other_content(const FoundFile& file) {
  char beginning[kRewrittenBeginning.size()];
  if (file.read(0, std::as_writable_bytes(std::span(beginning))) &&
      std::string_view(beginning, sizeof(beginning)) == kRewrittenBeginning) {
    return {};
  }
  return {"was not written by a merge", {}};
}

class RecordsOutput {
 public:
  explicit RecordsOutput(const std::filesystem::path& target) : file_(target, refuse_other_content) {
    write(kRewrittenBeginning);
  }

  void add(std::string_view json) {
    if (records_++ > 0) write(",\n");
    write(json);
  }

  RewrittenRecords finish() {
    write("\n]\n");
    file_.commit();
    return {file_.size(), checksum_.value(), records_};
  }

 private:
  void write(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    file_.write(bytes);
    checksum_.update(bytes);
  }

  AtomicFile file_;
  RunningChecksum checksum_;
  std::size_t records_ = 0;
};

TextTable table_of(const TextArena& texts) {
  TextTable table;
  for (std::size_t i = 0; i < texts.size(); ++i) table.enter(texts, i);
  return table;
}

}  // namespace

RewrittenRecords rewrite_records(const std::filesystem::path& source, const FileIdentity& expected,
                                 const LoggedChanges& changes, const std::filesystem::path& target,
                                 const CancelToken* cancel) {
  const TextTable changed = table_of(changes.ids);
  const TextTable removed = table_of(changes.removed);
  FileWindow window(source, kRewriteWindow);
  JsonArrayScanner scanner(window, kLongestRecord);
  JsonRecordParser parser(nullptr);
  RecordsOutput output(target);
  const auto refuse = [&](const std::string& reason) { fail_file(Code::kCorrupt, window.name(), reason); };
  try {
    for (std::size_t read = 0; const auto slice = scanner.next(); ++read) {
      if (cancel != nullptr && read % kRewritesPerPoll == 0) cancel->check();
      const JsonRecord& record = parser.parse(slice->json);
      if (record.id.empty()) refuse("record " + std::to_string(read) + " has no id");
      if (changed.find(changes.ids, record.id) || removed.find(changes.removed, record.id)) continue;
      output.add(slice->json);
    }
  } catch (const JsonSyntaxError& error) {
    refuse("line " + std::to_string(error.line) + ": expected " + error.expected + ", found " + error.found);
  }
  window.check_unchanged();
  const FileIdentity read = window.identity();
  if (read.stamp.size != expected.stamp.size || read.checksum != expected.checksum) {
    refuse("was replaced since it was read");
  }
  for (std::size_t i = 0; i < changes.ids.size(); ++i) output.add(changes.jsons[i]);
  return output.finish();
}

}  // namespace lorekeep::store
