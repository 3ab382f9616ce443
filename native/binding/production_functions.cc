#include "binding/exports.h"

namespace lorekeep::binding {

void add_edition_functions(Napi::Env, Napi::Object) {}

}  // namespace lorekeep::binding
