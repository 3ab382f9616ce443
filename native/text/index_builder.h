#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/threads/work.h"
#include "text/index_data.h"
#include "text/segment.h"

namespace lorekeep::text {

struct TextBuildOptions {
  Tokenizer tokenizer = Tokenizer::kBasic;
  Work work = {};  // grain of cancellation: one document, one 64th of the dictionary
};

/// The arrays of an index that was built in memory.
struct BuiltIndex {
  IndexData data;  // its spans point into the vectors
  std::vector<std::uint32_t> lengths;
  std::vector<std::uint64_t> buckets;
  std::vector<std::byte> entries;
};

/// Builds the index of `documents` texts. The result does not depend on the number of workers.
/// Throws Error(kInvalidArgument) for more than kMaxDocuments, Error(kCancelled), and anything `text_of` throws.
BuiltIndex build_index(std::size_t documents, const TextOf& text_of, const TextBuildOptions& options);

}  // namespace lorekeep::text
