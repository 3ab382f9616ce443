#include "binding/storage_request.h"

#include <cmath>

#include "binding/arguments.h"
#include "binding/layout.gen.h"
#include "binding/lexical_binding.h"
#include "binding/metadata_binding.h"

namespace lorekeep::binding {
namespace {

double finite(double value, const char* name) {
  if (!std::isfinite(value)) fail(Code::kInvalidArgument, std::string(name) + ": a number is expected");
  return value;
}

std::size_t whole(double value, const char* name, double min, double max) {
  if (!(value >= min && value <= max) || value != std::floor(value)) {
    fail(Code::kInvalidArgument, std::string(name) + ": an integer is expected");
  }
  return static_cast<std::size_t>(value);
}

}  // namespace

StorageRequest::StorageRequest(const Napi::CallbackInfo& info, std::shared_ptr<const store::Storage> storage)
    : storage_(std::move(storage)) {
  namespace at = layout::storage_request;
  const std::span<const double> numbers = doubles_argument(info[0], "request");
  if (numbers.size() < at::kNumbers) fail(Code::kInvalidArgument, "request: too few numbers");
  request_.mode = static_cast<store::Mode>(whole(numbers[at::kMode], "mode", 0, layout::kSearchModes - 1));
  request_.top_k = whole(numbers[at::kTopK], "topK", 1, kMaxHits);
  request_.ef = whole(numbers[at::kEf], "ef", 0, vector::kMaxEf);
  const double threshold = numbers[at::kThreshold];
  if (!std::isnan(threshold)) request_.threshold = static_cast<float>(finite(threshold, "threshold"));
  request_.rrf.k = finite(numbers[at::kRrfK], "rrfK");
  request_.rrf.dense_weight = finite(numbers[at::kDenseWeight], "denseWeight");
  request_.rrf.lexical_weight = finite(numbers[at::kLexicalWeight], "lexicalWeight");
  request_.rrf.candidates = whole(numbers[at::kCandidates], "candidates", 0, kMaxHits);
  request_.fusion = static_cast<store::Fusion>(whole(numbers[at::kFusion], "fusion", 0, layout::kFusionMethods - 1));
  request_.dense_weight = finite(numbers[at::kScoreWeight], "scoreWeight");
  request_.adapt_weight = numbers[at::kAdapt] == 1;
  const double min_score = numbers[at::kMinScore];
  if (!std::isnan(min_score)) request_.min_score = finite(min_score, "minScore");
  request_.calibration.offset = finite(numbers[at::kCalibrationOffset], "calibration.offset");
  request_.calibration.slope = finite(numbers[at::kCalibrationSlope], "calibration.slope");
  if (!info[1].IsUndefined()) query_ = floats_argument(info[1], "vector");
  if (!info[2].IsUndefined()) text_ = string_argument(info[2], "text");
  if (!info[3].IsUndefined()) {
    compiled_ = unwrap_argument<FilterBinding>(info[3], "filter")->compiled();
    filter_ = compiled_->prepare(storage_, variables_argument(info[4]));
    request_.filter = &*filter_;
  }
  lexical_ = lexical_argument(info[6]);
  request_.lexical = lexical_.get();
  request_.query = query_;
  request_.text = text_;
}

store::SearchRequest StorageRequest::request(const Work& work) const {
  store::SearchRequest request = request_;
  request.work = work;
  return request;
}

void StorageRequest::learn(const store::SearchResult& result) const {
  if (compiled_) compiled_->learn(storage_, *filter_, result);
}

}  // namespace lorekeep::binding
