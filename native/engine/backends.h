// The compute backends of llama.cpp: process-wide plugins, one per kind of CPU, and at most one per kind of GPU. Users
// hold a Backends handle; destroying the last one removes the callbacks from llama.cpp. Plugins stay loaded until the
// process ends, because unloading code that may own thread-local state is not safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

struct ggml_backend_device;

namespace lorekeep::engine {

struct BackendInfo {
  std::string name;                   // "CPU"
  std::string description;            // the device's, for example the processor's name
  std::string file;                   // the plugin; empty if the platform does not report it
  std::vector<std::string> features;  // instruction sets and options in use, "AVX512_VNNI"
};

/// A device of a GPU plugin.
struct GpuDevice {
  std::string name;         // "Vulkan0"
  std::string description;  // "NVIDIA H200"
  std::uint64_t free_bytes;
  std::uint64_t total_bytes;
};

/// The GPU that models may use, and the bytes of its memory that stay free for other programs.
struct ChosenGpu {
  ggml_backend_device* device = nullptr;  // null: none
  std::uint64_t reserve_bytes = 0;
};

/// Returns the version of ggml, "0.25.1". Plugins of other versions are refused.
std::string ggml_version_text();

class Backends {
 public:
  /// Loads the best CPU plugin in `directory` for this machine, unless the process has loaded one. The environment
  /// variable LOREKEEP_CPU_PLUGIN, a file name in `directory` or a path, selects one. Throws Error(kUnsupported) naming
  /// the folder and its plugins if none can be used. Thread-safe.
  static std::shared_ptr<const Backends> acquire(const std::filesystem::path& directory);
  ~Backends();
  Backends(const Backends&) = delete;
  Backends& operator=(const Backends&) = delete;

  /// Returns the loaded backends, for `lorekeep doctor`.
  std::vector<BackendInfo> describe() const;

  /// Loads a GPU plugin and returns its devices, possibly none. Loading a file again returns its devices now. Throws
  /// Error(kUnsupported) with the system's reason, such as a missing library. A defective driver may end the process:
  /// try it in another process first.
  std::vector<GpuDevice> load_gpu_plugin(const std::filesystem::path& file) const;
  /// Opens and closes the device with this name, which finds drivers that list a device but cannot use it. Throws
  /// Error(kUnsupported), Error(kInvalidArgument).
  void try_gpu(const std::string& name) const;
  /// Lets models use the GPU with this name; empty: none. Throws Error(kInvalidArgument) if it is not loaded.
  void choose_gpu(const std::string& name, std::uint64_t reserve_bytes) const;
  static ChosenGpu chosen_gpu();
  /// Returns an empty text if the chosen GPU has room for these bytes besides the reserve, else a sentence with the
  /// numbers.
  static std::string lacking_room(std::uint64_t bytes);

 private:
  Backends() = default;
};

}  // namespace lorekeep::engine
