#pragma once

#include <napi.h>

#include <memory>

#include "binding/handle.h"
#include "core/threads/cancel_token.h"

namespace lorekeep::binding {

/// `new CancelToken()` for one call; `cancel()` sets the flag that its loops poll.
class CancelTokenBinding final : public ExportedClass<CancelTokenBinding> {
 public:
  static constexpr const char* kName = "CancelToken";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x01};
  static Members members() { return {method<&CancelTokenBinding::cancel>("cancel")}; }
  using ExportedClass::ExportedClass;

  const std::shared_ptr<CancelToken>& token() const noexcept { return token_; }

 private:
  void cancel(const Napi::CallbackInfo&) { token_->cancel(); }
  std::shared_ptr<CancelToken> token_ = std::make_shared<CancelToken>();
};

}  // namespace lorekeep::binding
