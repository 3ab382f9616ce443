#include "binding/handle.h"

namespace lorekeep::binding {

/// Frees a closed handle's memory away from the JavaScript thread, then settles the promises of close().
class HandleBase::Freeing final : public Task {
 public:
  Freeing(HandleBase& owner, std::shared_ptr<const void> value)
      : Task(std::make_shared<CancelToken>()),
        owner_(owner),
        keep_(Napi::Persistent(owner.self())),
        value_(std::move(value)) {}

  void execute() noexcept override { value_.reset(); }
  void settle(Napi::Env env) override {
    owner_.freed_ = true;
    for (const auto& closer : std::exchange(owner_.closers_, {})) closer.Resolve(env.Undefined());
  }

 private:
  HandleBase& owner_;
  const Napi::ObjectReference keep_;  // keeps the owner alive
  std::shared_ptr<const void> value_;
};

Napi::Value HandleBase::close(Napi::Env env) {
  auto deferred = Napi::Promise::Deferred::New(env);
  const bool first = !std::exchange(closed_, true);
  if (freed_) {
    deferred.Resolve(env.Undefined());
  } else {
    closers_.push_back(deferred);
    if (first && uses_ == 0) free(env);
  }
  return deferred.Promise();
}

void HandleBase::free(Napi::Env env) {
  auto freeing = std::make_unique<Freeing>(*this, detach(env));
  Environment& environment = Environment::of(env);
  if (!environment.ended()) environment.start(std::move(freeing), Lane::kQuick);
}

void HandleBase::release_use(Napi::Env env) {
  if (--uses_ == 0 && closed_) free(env);
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
