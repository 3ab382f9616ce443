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
  static Napi::Function define(Napi::Env env);
  using Handle::Handle;

 private:
  Napi::Value search(const Napi::CallbackInfo& info);
  Napi::Value search_now(const Napi::CallbackInfo& info);
  Napi::Value save(const Napi::CallbackInfo& info);
  Napi::Value tokenizer(const Napi::CallbackInfo& info);
  Napi::Value tokenizer_fit(const Napi::CallbackInfo& info);

  // For searches without a filter.
  std::shared_ptr<store::SearchTimes> times_ = std::make_shared<store::SearchTimes>();
};

text::Tokenizer tokenizer_argument(const Napi::Value& value);
/// Call it inside a task. `threads` as in Runtime::work().
std::shared_ptr<const text::TextIndex> build_text(const TextArena& texts, text::Tokenizer tokenizer,
                                                  std::size_t threads, Runtime& runtime, const CancelToken& cancel);

Napi::Value wrap_text_index(Napi::Env env, std::shared_ptr<const text::TextIndex>&& index);

/// buildTextIndex(texts, tokenizer, threads, cancel)
Napi::Value build_text_index(const Napi::CallbackInfo& info);
/// loadTextIndex(path, expected, complete, cancel)
Napi::Value load_text_index(const Napi::CallbackInfo& info);
/// tokenize(text, tokenizer)
Napi::Value tokenize(const Napi::CallbackInfo& info);

}  // namespace lorekeep::binding
