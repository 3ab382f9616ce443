#pragma once

#include <napi.h>

namespace lorekeep::binding {

// Adds the functions that only this edition of the addon has: those of development crash the process on request.
void add_edition_functions(Napi::Env env, Napi::Object exports);

}  // namespace lorekeep::binding
