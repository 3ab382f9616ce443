// The bases of exported classes. Handle owns native memory and implements close().
#pragma once

#include <napi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "binding/environment.h"
#include "binding/error_translator.h"
#include "core/values/error.h"

namespace lorekeep::binding {

/// close() refuses new uses at once, waits for running ones, and resolves once the memory is freed. JavaScript thread
/// only.
class HandleBase {
 public:
  virtual ~HandleBase() = default;
  bool closed() const noexcept { return closed_; }
  Napi::Value close(Napi::Env env);
  /// Returns the JavaScript object, which tasks reference to keep it (and this) alive.
  virtual Napi::Object self() = 0;

 protected:
  /// Moves the value out, so that another thread can free it.
  virtual std::shared_ptr<const void> detach(Napi::Env env) noexcept = 0;

 private:
  friend class HandleUse;
  class Freeing;
  void release_use(Napi::Env env);
  void free(Napi::Env env);

  bool closed_ = false;
  bool freed_ = false;
  std::size_t uses_ = 0;
  std::vector<Napi::Promise::Deferred> closers_;
};

/// A running task's use of a handle; none if the owner is null.
class HandleUse {
 public:
  explicit HandleUse(HandleBase* owner);
  /// Ends the use; may settle promises of close().
  void end();

 private:
  HandleBase* owner_;
  Napi::ObjectReference keep_;
};

/// An exported class. `Derived` gives kName (for errors), kTag (its type tag) and members(), which calls method() and
/// getter().
template <class Derived>
class ExportedClass : public Napi::ObjectWrap<Derived> {
 public:
  using Member = Napi::ClassPropertyDescriptor<Derived>;
  using Members = std::vector<Member>;

  explicit ExportedClass(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Derived>(info) {
    const napi_status status = napi_type_tag_object(info.Env(), info.This(), &Derived::kTag);
    if (status != napi_ok) throw Napi::TypeError::New(info.Env(), "Illegal constructor");
  }

  /// Defines the class in an environment.
  static Napi::Function define(Napi::Env env) {
    Members members = Derived::members();
    Derived::add_common(members);
    Napi::Function constructor = Napi::ObjectWrap<Derived>::DefineClass(env, Derived::kName, members);
    Environment::of(env).constructors[&Derived::kTag] = Napi::Persistent(constructor);
    return constructor;
  }
  static void add_common(Members&) {}

 protected:
  template <auto kMethod>
  static Member method(const char* name) {
    return Napi::ObjectWrap<Derived>::InstanceMethod(name, &Derived::template call<kMethod>);
  }
  template <auto kMethod>
  static Member getter(const char* name) {
    return Napi::ObjectWrap<Derived>::InstanceAccessor(name, &Derived::template call<kMethod>, nullptr);
  }

 public:
  template <auto kMethod>
  Napi::Value call(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&] { return std::invoke(kMethod, static_cast<Derived&>(*this), info); });
  }
};

/// An exported class around a shared value.
template <class Derived, class Value>
class Handle : public ExportedClass<Derived>, public HandleBase {
 public:
  using ExportedClass<Derived>::ExportedClass;
  using typename ExportedClass<Derived>::Members;
  /// Frees an object that was not closed, on a pool thread: freeing hundreds of megabytes takes longer than a frame.
  ~Handle() override {
    if (value_) runtime_->compute().submit([value = detach(this->Env())] {});
  }

  /// Returns a JavaScript object that owns `value`. Objects constructed from JavaScript own nothing and count as
  /// closed.
  static Napi::Value wrap(Napi::Env env, std::shared_ptr<Value> value, std::size_t bytes) {
    Environment& environment = Environment::of(env);
    Napi::Object object = environment.constructors.at(&Derived::kTag).New({});
    Derived* self = Napi::ObjectWrap<Derived>::Unwrap(object);
    self->value_ = std::move(value);
    self->runtime_ = environment.shared_runtime();
    self->bytes_ = static_cast<std::int64_t>(bytes);
    Napi::MemoryManagement::AdjustExternalMemory(env, self->bytes_);
    return object;
  }

  /// Returns the value for one call. Throws Error(kClosed) after close().
  std::shared_ptr<Value> use() const {
    if (closed() || !value_) fail(Code::kClosed, std::string(Derived::kName) + ": used after close()");
    return value_;
  }
  /// Moves the value out and closes the object. Throws Error(kInvalidArgument) while another call uses it.
  std::shared_ptr<Value> surrender(Napi::Env env) {
    use();
    if (value_.use_count() > 1) fail(Code::kInvalidArgument, std::string(Derived::kName) + ": in use by another call");
    Napi::MemoryManagement::AdjustExternalMemory(env, -std::exchange(bytes_, 0));
    return std::exchange(value_, nullptr);
  }
  /// Returns the value for getters, which work until the memory is freed.
  const Value& peek() const {
    if (!value_) fail(Code::kClosed, std::string(Derived::kName) + ": used after close()");
    return *value_;
  }

  /// Drops the value; later uses throw as after close(). Running calls keep it.
  void drop() {
    if (value_ && value_.use_count() == 1) {
      runtime_->compute().submit([value = detach(this->Env())] {});
    } else {
      detach(this->Env());
    }
  }

  Napi::Object self() override { return this->Value(); }

  static void add_common(Members& members) {
    members.push_back(Handle::template method<&Handle::close_method>("close"));
    members.push_back(Handle::template getter<&Handle::closed_getter>("closed"));
  }

 protected:
  /// A getter of a number of the value: the result of a member function.
  template <auto kMember>
  static typename ExportedClass<Derived>::Member number(const char* name) {
    return Handle::template getter<&Handle::template number_getter<kMember>>(name);
  }
  std::shared_ptr<const void> detach(Napi::Env env) noexcept override {
    Napi::MemoryManagement::AdjustExternalMemory(env, -std::exchange(bytes_, 0));
    return std::move(value_);
  }

 private:
  Napi::Value close_method(const Napi::CallbackInfo& info) { return close(info.Env()); }
  Napi::Value closed_getter(const Napi::CallbackInfo& info) {
    return Napi::Boolean::New(info.Env(), closed() || !value_);
  }
  template <auto kMember>
  Napi::Value number_getter(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), static_cast<double>(std::invoke(kMember, peek())));
  }

  std::shared_ptr<Value> value_;
  std::shared_ptr<Runtime> runtime_;  // an environment's state may be destroyed before its objects
  std::int64_t bytes_ = 0;
};

}  // namespace lorekeep::binding
