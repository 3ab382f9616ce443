// Translates native errors into JavaScript errors with `code` and `detail`.
#pragma once

#include <napi.h>

#include <exception>

namespace lorekeep::binding {

Napi::Error to_js_error(Napi::Env env, std::exception_ptr failure);

/// Runs the body of an exported function and translates its exceptions.
template <class Body>
auto guarded(Napi::Env env, Body&& body) {
  try {
    return body();
  } catch (const Napi::Error&) {
    throw;
  } catch (...) {
    throw to_js_error(env, std::current_exception());
  }
}

}  // namespace lorekeep::binding
