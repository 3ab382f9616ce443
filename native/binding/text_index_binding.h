#pragma once

#include <napi.h>

#include <memory>

#include "binding/handle.h"
#include "binding/promise_task.h"
#include "core/values/text_arena.h"
#include "store/search_cost.h"
#include "text/text_index.h"

namespace lorekeep::binding {

class TextIndexBinding final : public Handle<TextIndexBinding, const text::TextIndex> {
 public:
  static constexpr const char* kName = "TextIndex";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x05};
  static Members members();
  using Handle::Handle;

 private:
  Exported search, search_now, save, tokenizer, tokenizer_fit;

  // For searches without a filter.
  std::shared_ptr<store::SearchTimes> times_ = std::make_shared<store::SearchTimes>();
};

text::Tokenizer tokenizer_argument(const Napi::Value& value);
/// Call it inside a task. `threads` as in Runtime::work().
std::shared_ptr<const text::TextIndex> build_text(const TextArena& texts, text::Tokenizer tokenizer,
                                                  std::size_t threads, const TaskContext& task);

Napi::Value wrap_text_index(Napi::Env env, std::shared_ptr<const text::TextIndex>&& index);

}  // namespace lorekeep::binding
