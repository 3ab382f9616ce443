#pragma once

#include <napi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "binding/handle.h"
#include "binding/promise_task.h"
#include "store/search_cost.h"
#include "vector/hnsw_index.h"
#include "vector/vector_index.h"

namespace lorekeep::binding {

class VectorIndexBinding final : public Handle<VectorIndexBinding, const vector::VectorIndex> {
 public:
  static constexpr const char* kName = "VectorIndex";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x04};
  static Members members();
  using Handle::Handle;

 private:
  Exported search, search_now, save, kind, linked, vector_type;

  std::shared_ptr<store::SearchTimes> times_ = std::make_shared<store::SearchTimes>();
};

struct VectorOptions {
  bool flat = false;
  vector::HnswParams hnsw;
  std::size_t threads = 0;                             // as in Runtime::work()
  std::shared_ptr<const vector::VectorIndex> earlier;  // may be null
};

/// Reads kind, m, efConstruction, seed, vectorType, threads and earlier.
VectorOptions vector_options(const Napi::Object& object);
/// Call it inside a task. Frees `rows` as soon as they are encoded.
std::shared_ptr<const vector::VectorIndex> build_vectors(std::vector<float> rows, std::size_t dimension,
                                                         const VectorOptions& options, const TaskContext& task);

/// Returns the JavaScript object of an index.
Napi::Value wrap_index(Napi::Env env, std::shared_ptr<const vector::VectorIndex>&& index);

}  // namespace lorekeep::binding
