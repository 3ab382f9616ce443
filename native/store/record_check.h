// Checks records one by one by the rules of records files.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/threads/cancel_token.h"
#include "filter/schema.h"
#include "store/json_record.h"

namespace lorekeep::store {

struct FoundIssue {
  std::size_t index;  // of the record
  RecordIssue issue;
};

/// Returns the defects of records, each given as JSON; at most `most`. Without a schema, metadata are not looked at.
/// Throws Error(kCancelled). Grain of cancellation: 256 records.
std::vector<FoundIssue> check_records(std::span<const std::string> jsons, const filter::Schema* schema,
                                      std::size_t most, const CancelToken* cancel = nullptr);

}  // namespace lorekeep::store
