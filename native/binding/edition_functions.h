#pragma once

#include <napi.h>

namespace lorekeep::binding {

// Adds the functions of this edition of the addon: the development edition can crash the process on request.
void add_edition_functions(Napi::Env env, Napi::Object exports);

}  // namespace lorekeep::binding
