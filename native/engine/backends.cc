#include "engine/backends.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <system_error>

#include "core/files/utf8_path.h"
#include "core/values/error.h"
#include "engine/abort_guard.h"
#include "engine/llama_log.h"
#include "ggml-backend.h"
#include "ggml.h"
#include "llama.h"

#if defined(_WIN32)
#include "core/system/windows_api.h"
#else
#include <dlfcn.h>
#endif

namespace lorekeep::engine {
namespace {

std::mutex& registry_mutex() {
  static auto* mutex = new std::mutex;  // leaked: statics of other files may own handles
  return *mutex;
}

std::size_t holders = 0;
ChosenGpu chosen;  // guarded by registry_mutex()

// Plugins by path: ggml would load a file again as another backend.
std::map<std::filesystem::path, ggml_backend_reg_t>& gpu_plugins() {
  static auto* plugins = new std::map<std::filesystem::path, ggml_backend_reg_t>;
  return *plugins;
}

bool has_cpu_backend() {
  return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) != nullptr;
}

std::string plugins_in(const std::filesystem::path& directory) {
  std::string found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = utf8_path(entry->path().filename());
    if (name.find("ggml-cpu") == std::string::npos) continue;
    found += (found.empty() ? "" : ", ") + name;
  }
  if (error) return "it cannot be read: " + error.message();
  return found.empty() ? "no plugin (ggml-cpu*) is there" : "it holds " + found;
}

// ggml reads paths in the system's code page on Windows. There, the library is loaded by its whole name first; then
// ggml finds it by its file name.
ggml_backend_reg_t load_plugin(const std::filesystem::path& file) {
#if defined(_WIN32)
  if (LoadLibraryW(file.c_str()) == nullptr) {
    const DWORD code = GetLastError();
    fail_file(Code::kUnsupported, utf8_path(file),
              (code == ERROR_MOD_NOT_FOUND ? "Library not loaded: " : "") + std::system_category().message(code));
  }
  return ggml_backend_load(utf8_path(file.filename()).c_str());
#else
  return ggml_backend_load(utf8_path(file).c_str());
#endif
}

void load_plugins(const std::filesystem::path& directory) {
  const ErrorLines errors;
  const char* forced = std::getenv("LOREKEEP_CPU_PLUGIN");
  if (forced != nullptr && *forced != '\0') {
    const std::filesystem::path wanted(forced);
    const std::filesystem::path plugin = wanted.has_parent_path() ? wanted : directory / wanted;
    if (!std::filesystem::exists(plugin)) {
      fail(Code::kUnsupported, "LOREKEEP_CPU_PLUGIN: " + utf8_path(plugin) +
                                   " does not exist; name another plugin of " + utf8_path(directory) + ": " +
                                   plugins_in(directory));
    }
    load_plugin(plugin);
    if (!has_cpu_backend()) {
      fail(Code::kUnsupported, "LOREKEEP_CPU_PLUGIN: " + utf8_path(plugin) +
                                   " cannot be used: " + errors.reason("this processor lacks what it was built for"));
    }
    return;
  }
  ggml_backend_load_all_from_path(utf8_path(directory).c_str());
  if (!has_cpu_backend()) {
    fail(Code::kUnsupported,
         "no compute backend could be loaded from " + utf8_path(directory) + ": " + plugins_in(directory) +
             (errors.reason("").empty() ? "" : " (" + errors.reason("") + ")"),
         {{"directory", utf8_path(directory)}});
  }
}

std::vector<std::string> features_of(ggml_backend_reg_t backend) {
  std::vector<std::string> features;
  const auto get = reinterpret_cast<ggml_backend_get_features_t>(
      ggml_backend_reg_get_proc_address(backend, "ggml_backend_get_features"));
  if (get == nullptr) return features;
  for (const ggml_backend_feature* feature = get(backend); feature->name != nullptr; ++feature) {
    const std::string value = feature->value;
    if (value == "0") continue;
    features.push_back(value == "1" ? feature->name : std::string(feature->name) + "=" + value);
  }
  return features;
}

std::string file_of(ggml_backend_reg_t backend) {
#if !defined(_WIN32)
  void* address = ggml_backend_reg_get_proc_address(backend, "ggml_backend_get_features");
  Dl_info info;
  if (address != nullptr && dladdr(address, &info) != 0 && info.dli_fname != nullptr) return info.dli_fname;
#endif
  return {};
}

// A plugin of an older ggml loads, but lets every step start its own threads, or computes on one.
void refuse_old_plugin() {
  ggml_backend_reg_t plugin = ggml_backend_dev_backend_reg(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU));
  if (ggml_backend_reg_get_proc_address(plugin, "ggml_threadpool_new") != nullptr) return;
  const std::string file = file_of(plugin);
  fail(Code::kUnsupported, "the CPU plugin " + (file.empty() ? ggml_backend_reg_name(plugin) : file) +
                               " is not of ggml " + ggml_version() +
                               ": it lacks ggml_threadpool_new; install lorekeep again");
}

std::vector<GpuDevice> devices_of(ggml_backend_reg_t plugin) {
  std::vector<GpuDevice> devices;
  for (std::size_t i = 0; i < ggml_backend_reg_dev_count(plugin); ++i) {
    ggml_backend_dev_t device = ggml_backend_reg_dev_get(plugin, i);
    const auto type = ggml_backend_dev_type(device);
    if (type != GGML_BACKEND_DEVICE_TYPE_GPU && type != GGML_BACKEND_DEVICE_TYPE_IGPU) continue;
    std::size_t free = 0;
    std::size_t total = 0;
    ggml_backend_dev_memory(device, &free, &total);
    devices.push_back({ggml_backend_dev_name(device), ggml_backend_dev_description(device), free, total});
  }
  return devices;
}

ggml_backend_dev_t device_named(const std::string& name) {
  std::lock_guard lock(registry_mutex());
  ggml_backend_dev_t device = ggml_backend_dev_by_name(name.c_str());
  if (device == nullptr) fail(Code::kInvalidArgument, "no loaded plugin has a device " + name);
  return device;
}

}  // namespace

std::string ggml_version_text() {
  return ggml_version();
}

std::vector<GpuDevice> Backends::load_gpu_plugin(const std::filesystem::path& file) const {
  std::lock_guard lock(registry_mutex());
  const auto known = gpu_plugins().find(file);
  if (known != gpu_plugins().end()) return devices_of(known->second);
  const ErrorLines errors;
  ggml_backend_reg_t plugin = nullptr;
  try {
    plugin = load_plugin(file);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {  // Vulkan's C++ binding throws
    fail_file(Code::kUnsupported, utf8_path(file), error.what());
  }
  if (plugin == nullptr) fail_file(Code::kUnsupported, utf8_path(file), errors.reason("the plugin refused to start"));
  gpu_plugins().emplace(file, plugin);
  return devices_of(plugin);
}

void Backends::try_gpu(const std::string& name) const {
  ggml_backend_dev_t device = device_named(name);
  const ErrorLines errors;
  const AbortGuard guard;
  ggml_backend_t opened = nullptr;
  try {
    opened = ggml_backend_dev_init(device, nullptr);
  } catch (const std::exception& error) {
    fail(Code::kUnsupported, name + " cannot be opened: " + error.what());
  }
  if (opened == nullptr) fail(Code::kUnsupported, name + " cannot be opened: " + errors.reason("the driver refuses"));
  ggml_backend_free(opened);
}

void Backends::choose_gpu(const std::string& name, std::uint64_t reserve_bytes) const {
  ggml_backend_dev_t device = name.empty() ? nullptr : device_named(name);
  std::lock_guard lock(registry_mutex());
  chosen = {device, reserve_bytes};
}

ChosenGpu Backends::chosen_gpu() {
  std::lock_guard lock(registry_mutex());
  return chosen;
}

std::string Backends::lacking_room(std::uint64_t bytes) {
  const ChosenGpu gpu = chosen_gpu();
  if (gpu.device == nullptr) return "no GPU is in use";
  std::size_t free = 0;
  std::size_t total = 0;
  ggml_backend_dev_memory(gpu.device, &free, &total);
  if (bytes + gpu.reserve_bytes <= free) return {};
  const auto mebibytes = [](std::uint64_t count) { return std::to_string((count + (1 << 20) - 1) >> 20) + " MiB"; };
  return "it needs " + mebibytes(bytes) + " of video memory, and " + std::to_string(free >> 20) + " MiB of " +
         std::to_string(total >> 20) + " are free on " + ggml_backend_dev_name(gpu.device) +
         (gpu.reserve_bytes == 0 ? "" : ", of which " + mebibytes(gpu.reserve_bytes) + " stay reserved");
}

std::shared_ptr<const Backends> Backends::acquire(const std::filesystem::path& directory) {
  std::lock_guard lock(registry_mutex());
  if (holders == 0) {
    capture_llama_log();
    install_abort_hook();
  }
  try {
    if (!has_cpu_backend()) load_plugins(directory);
    refuse_old_plugin();
    // After the plugins: without any, it would load plugins from the working directory.
    if (holders == 0) llama_backend_init();
    std::shared_ptr<const Backends> handle(new Backends);
    ++holders;
    return handle;
  } catch (...) {
    if (holders == 0) {
      remove_abort_hook();
      release_llama_log();
    }
    throw;
  }
}

Backends::~Backends() {
  std::lock_guard lock(registry_mutex());
  if (--holders > 0) return;
  llama_backend_free();
  remove_abort_hook();
  release_llama_log();
}

std::vector<BackendInfo> Backends::describe() const {
  std::lock_guard lock(registry_mutex());
  std::vector<BackendInfo> backends;
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    ggml_backend_reg_t backend = ggml_backend_dev_backend_reg(device);
    backends.push_back(
        {ggml_backend_dev_name(device), ggml_backend_dev_description(device), file_of(backend), features_of(backend)});
  }
  return backends;
}

}  // namespace lorekeep::engine
