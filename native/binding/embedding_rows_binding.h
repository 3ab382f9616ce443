#pragma once

#include <napi.h>

#include "binding/handle.h"
#include "store/embedding_rows.h"

namespace lorekeep::binding {

/// The embeddings of records from a cache file and a model, for an index. The numbers never reach JavaScript.
class EmbeddingRowsBinding final : public Handle<EmbeddingRowsBinding, store::EmbeddingRows> {
 public:
  static constexpr const char* kName = "EmbeddingRows";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x0b};
  static Napi::Function define(Napi::Env env);
  using Handle::Handle;

 private:
  Napi::Value embed_next(const Napi::CallbackInfo& info);
  Napi::Value next_texts(const Napi::CallbackInfo& info);
  Napi::Value fill(const Napi::CallbackInfo& info);
  Napi::Value save(const Napi::CallbackInfo& info);
  Napi::Value counts(const Napi::CallbackInfo& info);
};

/// matchEmbeddings(records, dimension, path, key, truncatedToo, cancel)
Napi::Value match_embeddings(const Napi::CallbackInfo& info);
/// indexEmbeddings(rows, options, cancel, progress)
Napi::Value index_embeddings(const Napi::CallbackInfo& info);

}  // namespace lorekeep::binding
