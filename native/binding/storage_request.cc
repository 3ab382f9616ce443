#include "binding/storage_request.h"

#include "binding/arguments.h"
#include "binding/lexical_binding.h"
#include "binding/metadata_binding.h"
#include "binding/options.gen.h"

namespace lorekeep::binding {

StorageRequest::StorageRequest(const Napi::CallbackInfo& info, std::shared_ptr<const store::Storage> storage)
    : storage_(std::move(storage)) {
  read_numbers(doubles_argument(info[0], "request"), request_);
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
