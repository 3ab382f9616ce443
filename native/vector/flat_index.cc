#include "vector/flat_index.h"

#include "core/values/error.h"
#include "vector/scan.h"

namespace lorekeep::vector {

std::shared_ptr<const FlatIndex> FlatIndex::build(std::span<const float> rows, std::size_t dimension, VectorType type,
                                                  const Work& work) {
  return std::make_shared<const FlatIndex>(VectorMatrix::encode(rows, dimension, type, work));
}

std::shared_ptr<const FlatIndex> FlatIndex::with_codes(VectorMatrix rows, const Work& work) {
  auto index = std::make_shared<FlatIndex>(std::move(rows));
  const VectorType type = index->type();
  const bool coded = type == VectorType::kI10 || (type != VectorType::kI8 && index->dimension() >= kMinCodedDimension);
  if (coded && index->size() > 0) index->codes_ = encode_codes(index->rows_, work);
  return index;
}

std::vector<float> FlatIndex::row(std::size_t ordinal) const {
  check_ordinal(ordinal);
  std::vector<float> values(dimension());
  rows_.decode(ordinal, values.data());
  return values;
}

SearchResult FlatIndex::search(std::span<const float> query, const SearchOptions& options) const {
  if (options.path == SearchPath::kGraph) fail(Code::kUnsupported, "a flat index has no graph");
  SearchResult result;
  SearchCounts counts;
  result.plan.matched = check_options(options);
  result.hits = scan({rows_, codes_.empty() ? nullptr : &codes_, query, hits_with(options), options.filter,
                      options.work, options.limit},
                     counts);
  leave_out(options, result.hits);
  result.plan.visited = counts.visited;
  result.plan.exact = true;
  return result;
}

}  // namespace lorekeep::vector
