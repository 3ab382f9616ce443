#include "binding/handle.h"

namespace lorekeep::binding {

Napi::Value HandleBase::close(Napi::Env env) {
  closed_ = true;
  auto deferred = Napi::Promise::Deferred::New(env);
  if (uses_ == 0) {
    drop(env);
    deferred.Resolve(env.Undefined());
  } else {
    closers_.push_back(deferred);
  }
  return deferred.Promise();
}

void HandleBase::release_use(Napi::Env env) {
  if (--uses_ > 0 || !closed_) return;
  drop(env);
  for (const auto& closer : std::exchange(closers_, {})) closer.Resolve(env.Undefined());
}

HandleUse::HandleUse(HandleBase* owner) : owner_(owner) {
  if (owner_ == nullptr) return;
  keep_ = Napi::Persistent(owner_->self());
  ++owner_->uses_;
}

void HandleUse::end() {
  HandleBase* owner = std::exchange(owner_, nullptr);
  if (owner == nullptr) return;
  const Napi::ObjectReference keep = std::move(keep_);  // keeps the handle alive until its promises are settled
  owner->release_use(keep.Env());
}

}  // namespace lorekeep::binding
