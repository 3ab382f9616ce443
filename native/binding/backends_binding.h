// Compute backends: the loaded ones, and the GPU that models may use.
#pragma once

#include <napi.h>

namespace lorekeep::binding {

/// backends()
Napi::Value backends(const Napi::CallbackInfo& info);
/// ggmlVersion()
Napi::Value ggml_version(const Napi::CallbackInfo& info);
/// loadGpuPlugin(file)
Napi::Value load_gpu_plugin(const Napi::CallbackInfo& info);
/// tryGpu(name)
void try_gpu(const Napi::CallbackInfo& info);
/// chooseGpu(name, reserveBytes)
void choose_gpu(const Napi::CallbackInfo& info);

}  // namespace lorekeep::binding
