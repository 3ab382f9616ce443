#include "engine/backends.h"

#include <cstdlib>
#include <mutex>
#include <system_error>

#include "core/error.h"
#include "engine/abort_guard.h"
#include "engine/llama_log.h"
#include "ggml-backend.h"
#include "llama.h"

#if !defined(_WIN32)
#include <dlfcn.h>
#endif

namespace lorekeep::engine {
namespace {

std::mutex& registry_mutex() {
  static auto* mutex = new std::mutex;  // leaked: statics of other files may own handles
  return *mutex;
}

std::size_t holders = 0;

bool has_cpu_backend() {
  return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) != nullptr;
}

std::string plugins_in(const std::filesystem::path& directory) {
  std::string found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.find("ggml-cpu") == std::string::npos) continue;
    found += (found.empty() ? "" : ", ") + name;
  }
  if (error) return "it cannot be read: " + error.message();
  return found.empty() ? "no plugin (ggml-cpu*) is there" : "it holds " + found;
}

void load_plugins(const std::filesystem::path& directory) {
  const ErrorLines errors;
  const char* forced = std::getenv("LOREKEEP_CPU_PLUGIN");
  if (forced != nullptr && *forced != '\0') {
    const std::filesystem::path wanted(forced);
    const std::filesystem::path plugin = wanted.has_parent_path() ? wanted : directory / wanted;
    if (!std::filesystem::exists(plugin)) {
      fail(Code::kUnsupported, "LOREKEEP_CPU_PLUGIN: " + plugin.string() + " does not exist; name another plugin of " +
                                   directory.string() + ": " + plugins_in(directory));
    }
    ggml_backend_load(plugin.string().c_str());
    if (!has_cpu_backend()) {
      fail(Code::kUnsupported, "LOREKEEP_CPU_PLUGIN: " + plugin.string() +
                                   " cannot be used: " + errors.reason("this processor lacks what it was built for"));
    }
    return;
  }
  ggml_backend_load_all_from_path(directory.string().c_str());
  if (!has_cpu_backend()) {
    fail(Code::kUnsupported,
         "no compute backend could be loaded from " + directory.string() + ": " + plugins_in(directory) +
             (errors.reason("").empty() ? "" : " (" + errors.reason("") + ")"),
         {{"directory", directory.string()}});
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

}  // namespace

std::shared_ptr<const Backends> Backends::acquire(const std::filesystem::path& directory) {
  std::lock_guard lock(registry_mutex());
  if (holders == 0) {
    capture_llama_log();
    install_abort_hook();
  }
  try {
    if (!has_cpu_backend()) load_plugins(directory);
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
