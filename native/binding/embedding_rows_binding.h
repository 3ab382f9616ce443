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
  static Members members();
  using Handle::Handle;

 private:
  Exported embed_next, next_texts, fill, save, save_others, counts;
};

}  // namespace lorekeep::binding
