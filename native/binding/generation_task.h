#pragma once

#include <napi.h>

#include <memory>

#include "binding/environment.h"
#include "binding/handle.h"
#include "lm/session/generation_model.h"

namespace lorekeep::binding {

/// A pinned prefix and its model, which may be closed first. Unpins when it is destroyed.
class PrefixHolder {
 public:
  PrefixHolder(std::weak_ptr<lm::GenerationModel> model, std::shared_ptr<lm::PinnedPrefix> prefix)
      : model(std::move(model)), prefix(std::move(prefix)) {}
  ~PrefixHolder() {
    if (prefix) prefix->release();
  }
  PrefixHolder(const PrefixHolder&) = delete;
  PrefixHolder& operator=(const PrefixHolder&) = delete;

  const std::weak_ptr<lm::GenerationModel> model;
  const std::shared_ptr<lm::PinnedPrefix> prefix;
};

/// A prefix: `save(path, cancel)`, `tokens`. Described in lib/boundary/native.ts.
class PrefixBinding final : public Handle<PrefixBinding, PrefixHolder> {
 public:
  static constexpr const char* kName = "Prefix";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x0f};
  static Members members();
  using Handle::Handle;

 private:
  Exported save, tokens;
};

/// prefix(request, onPiece): like generate(), for a request without a reply; the promise is one of a Prefix.
Napi::Value start_prefix(const Napi::CallbackInfo& info, HandleBase* owner, std::shared_ptr<lm::GenerationModel> model);
/// render(messages, thinking, addGenerationPrompt, cancel)
Napi::Value render_messages(const Napi::CallbackInfo& info, HandleBase* owner,
                            std::shared_ptr<lm::GenerationModel> model);
/// loadPrefix(path, cancel)
Napi::Value load_prefix(const Napi::CallbackInfo& info, HandleBase* owner, std::shared_ptr<lm::GenerationModel> model);

/// generate(request, onPiece): starts a generation and returns [promise of the result, cancel()]. The pieces that
/// onPiece(text, thinking) gets come before the promise settles. Throws Error(kInvalidArgument).
Napi::Value start_generation(const Napi::CallbackInfo& info, HandleBase* owner,
                             std::shared_ptr<lm::GenerationModel> model);

}  // namespace lorekeep::binding
