// Translates native errors into JavaScript errors with `code` and `detail`.
#pragma once

#include <napi.h>

#include <exception>
#include <type_traits>

namespace lorekeep::binding {

Napi::Error to_js_error(Napi::Env env, std::exception_ptr failure);

/// The types of exported functions and methods.
using Exported = Napi::Value(const Napi::CallbackInfo&);
using ExportedProcedure = void(const Napi::CallbackInfo&);

/// Runs the body of an exported function and translates its exceptions.
template <class Body>
Napi::Value guarded(Napi::Env env, Body&& body) {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      body();
      return env.Undefined();
    } else {
      return body();
    }
  } catch (const Napi::Error&) {
    throw;
  } catch (...) {
    throw to_js_error(env, std::current_exception());
  }
}

/// An exported function that is guarded.
template <auto kFunction>
Napi::Value exported(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return kFunction(info); });
}

}  // namespace lorekeep::binding
