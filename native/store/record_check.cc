#include "store/record_check.h"

#include <string_view>

#include "store/file_window.h"
#include "store/records_reader.h"

namespace lorekeep::store {
namespace {

constexpr std::size_t kChecksPerPoll = 256;

}  // namespace

std::vector<FoundIssue> check_records(std::span<const std::string> jsons, const filter::Schema* schema,
                                      std::size_t most, const CancelToken* cancel) {
  JsonRecordParser parser(schema);
  std::vector<FoundIssue> found;
  std::string padded;
  for (std::size_t i = 0; i < jsons.size() && found.size() < most; ++i) {
    if (cancel != nullptr && i % kChecksPerPoll == 0) cancel->check();
    if (jsons[i].size() > kLongestRecord) {
      found.push_back({i, {"", "at most " + std::to_string(kLongestRecord >> 20) + " MiB", "more"}});
      continue;
    }
    padded.assign(jsons[i]);
    padded.append(FileWindow::kPadding, '\0');
    for (const RecordIssue& issue : parser.parse(std::string_view(padded).substr(0, jsons[i].size())).issues) {
      if (found.size() < most) found.push_back({i, issue});
    }
  }
  return found;
}

}  // namespace lorekeep::store
