// A GPU plugin for tests: its device has memory of its own and computes on the CPU. So the choice of a backend, the
// placement of models, and the loss of a device can be tested without a GPU. Environment variables, read at loading:
//   STAND_IN_DEVICES      number of devices (1)
//   STAND_IN_HIDDEN       "1": without GGML_VK_VISIBLE_DEVICES it has no device, as ggml's Vulkan plugin on rasterisers
//   STAND_IN_DESCRIPTION  of the devices ("Stand-in")
//   STAND_IN_MEMORY       bytes of a device (8 GiB)
//   STAND_IN_FAILS        "load": the process crashes; "signal": it is ended as by Ctrl+C; "open": devices cannot be
//   opened STAND_IN_CPU          "1": the device says that it is a CPU STAND_IN_LOST         path of a file: while it
//   exists, every computation fails; if it contains "throw", by an exception STAND_IN_TELLS        path of a file that
//   is given the allocated bytes whenever they change STAND_IN_SLOWNESS     ms that a million multiplications take in
//   addition (0) STAND_IN_STEPS        path of a file to which each computation adds a line: operations, ms of
//   STAND_IN_SLOWNESS
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ggml-backend-impl.h"
#include "ggml-backend.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

std::size_t memory_of_device() {
  static const std::size_t bytes = std::stoull(setting("STAND_IN_MEMORY", "8589934592"));
  return bytes;
}

std::atomic<std::size_t> allocated{0};

void count(std::size_t more, std::size_t less) {
  static const std::string place = setting("STAND_IN_TELLS", "");
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const std::size_t now = allocated += more - less;
  if (place.empty()) return;
  std::ofstream(place + "~") << now;
  std::rename((place + "~").c_str(), place.c_str());  // readers never see half of it
}

// Returns the content of the file that makes computations fail; empty if there is none.
std::string lost() {
  std::ifstream file(setting("STAND_IN_LOST", ""));
  if (!file) return {};
  return "lost " + std::string(std::istreambuf_iterator<char>(file), {});
}

// Buffers

void buffer_free(ggml_backend_buffer_t buffer) {
  count(0, buffer->size);
  std::free(buffer->context);
}

void* buffer_base(ggml_backend_buffer_t buffer) {
  return buffer->context;
}

void buffer_memset(ggml_backend_buffer_t, ggml_tensor* tensor, std::uint8_t value, std::size_t offset,
                   std::size_t size) {
  std::memset(static_cast<char*>(tensor->data) + offset, value, size);
}

void buffer_set(ggml_backend_buffer_t, ggml_tensor* tensor, const void* data, std::size_t offset, std::size_t size) {
  std::memcpy(static_cast<char*>(tensor->data) + offset, data, size);
}

void buffer_get(ggml_backend_buffer_t, const ggml_tensor* tensor, void* data, std::size_t offset, std::size_t size) {
  std::memcpy(data, static_cast<const char*>(tensor->data) + offset, size);
}

void buffer_clear(ggml_backend_buffer_t buffer, std::uint8_t value) {
  std::memset(buffer->context, value, buffer->size);
}

const char* type_name(ggml_backend_buffer_type_t) {
  return "GPU";
}

std::size_t type_alignment(ggml_backend_buffer_type_t) {
  return 64;
}

ggml_backend_buffer_t type_allocate(ggml_backend_buffer_type_t type, std::size_t size) {
  if (allocated + size > memory_of_device()) return nullptr;
  void* memory = std::aligned_alloc(64, (size + 64) / 64 * 64);
  if (memory == nullptr) return nullptr;
  count(size, 0);
  ggml_backend_buffer_i functions{};
  functions.free_buffer = buffer_free;
  functions.get_base = buffer_base;
  functions.memset_tensor = buffer_memset;
  functions.set_tensor = buffer_set;
  functions.get_tensor = buffer_get;
  functions.clear = buffer_clear;
  return ggml_backend_buffer_init(type, functions, memory, size);
}

// Makes a computation as slow as STAND_IN_SLOWNESS says.
void slow_down(ggml_cgraph* graph) {
  static const double ms_per_million = std::stod(setting("STAND_IN_SLOWNESS", "0"));
  static const std::string place = setting("STAND_IN_STEPS", "");
  double multiplications = 0;
  int operations = 0;
  for (int i = 0; i < ggml_graph_n_nodes(graph); ++i) {
    const ggml_tensor& node = *ggml_graph_node(graph, i);
    const bool product = node.op == GGML_OP_MUL_MAT;
    const bool attention = node.op == GGML_OP_FLASH_ATTN_EXT;
    if (product || attention) ++operations;
    if (product) multiplications += static_cast<double>(ggml_nelements(&node) * node.src[0]->ne[0]);
    if (attention) multiplications += static_cast<double>(2 * ggml_nelements(&node) * node.src[1]->ne[1]);
  }
  const double ms = multiplications / 1e6 * ms_per_million;
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
  if (!place.empty()) std::ofstream(place, std::ios::app) << operations << ' ' << ms << std::endl;
}

// Streams

const char* stream_name(ggml_backend_t stream) {
  return ggml_backend_dev_name(stream->device);
}

void stream_free(ggml_backend_t stream) {
  ggml_backend_free(static_cast<ggml_backend_t>(stream->context));
  delete stream;
}

ggml_status stream_compute(ggml_backend_t stream, ggml_cgraph* graph) {
  const std::string failure = lost();
  if (failure.find("throw") != std::string::npos) throw std::runtime_error("ErrorDeviceLost");
  if (!failure.empty()) return GGML_STATUS_FAILED;
  slow_down(graph);
  return ggml_backend_graph_compute(static_cast<ggml_backend_t>(stream->context), graph);
}

// As Vulkan's, a driver that lost its device throws also where others wait for it.
void stream_synchronize(ggml_backend_t) {
  if (lost().find("throw") != std::string::npos) throw std::runtime_error("ErrorDeviceLost");
}

// Devices

struct Device {
  std::string name;
  std::string description;
  ggml_backend_device device;
  ggml_backend_buffer_type type;
};

Device& of(ggml_backend_dev_t device) {
  return *static_cast<Device*>(device->context);
}

ggml_backend_dev_t processor() {
  return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
}

void device_memory(ggml_backend_dev_t, std::size_t* free, std::size_t* total) {
  *total = memory_of_device();
  *free = *total - allocated;
}

enum ggml_backend_dev_type device_type(ggml_backend_dev_t) {
  return setting("STAND_IN_CPU", "") == "1" ? GGML_BACKEND_DEVICE_TYPE_CPU : GGML_BACKEND_DEVICE_TYPE_GPU;
}

void device_properties(ggml_backend_dev_t device, ggml_backend_dev_props* properties) {
  *properties = {};
  properties->name = of(device).name.c_str();
  properties->description = of(device).description.c_str();
  properties->type = device_type(device);
  device_memory(device, &properties->memory_free, &properties->memory_total);
}

ggml_backend_t device_open(ggml_backend_dev_t device, const char*) {
  if (setting("STAND_IN_FAILS", "") == "open") return nullptr;
  static std::uint8_t guid[16] = "stand-in plugin";
  ggml_backend_i functions{};
  functions.get_name = stream_name;
  functions.free = stream_free;
  functions.graph_compute = stream_compute;
  functions.synchronize = stream_synchronize;
  ggml_backend_t computer = ggml_backend_dev_init(processor(), nullptr);
  // More threads would spin at barriers, which is slow on a busy machine.
  const auto set_threads = reinterpret_cast<ggml_backend_set_n_threads_t>(
      ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(processor()), "ggml_backend_set_n_threads"));
  set_threads(computer, 1);
  return new ggml_backend{&guid, functions, device, computer};
}

bool device_supports(ggml_backend_dev_t, const ggml_tensor* operation) {
  return ggml_backend_dev_supports_op(processor(), operation);
}

bool device_reads(ggml_backend_dev_t device, ggml_backend_buffer_type_t type) {
  return type == &of(device).type;
}

ggml_backend_device_i device_functions() {
  ggml_backend_device_i functions{};
  functions.get_name = [](ggml_backend_dev_t device) { return of(device).name.c_str(); };
  functions.get_description = [](ggml_backend_dev_t device) { return of(device).description.c_str(); };
  functions.get_memory = device_memory;
  functions.get_type = device_type;
  functions.get_props = device_properties;
  functions.init_backend = device_open;
  functions.get_buffer_type = [](ggml_backend_dev_t device) { return &of(device).type; };
  functions.supports_op = device_supports;
  functions.supports_buft = device_reads;
  return functions;
}

// The plugin

std::vector<Device*>& devices() {
  static std::vector<Device*> found;
  return found;
}

ggml_backend_reg* registry() {
  static ggml_backend_reg reg{
      GGML_BACKEND_API_VERSION,
      {[](ggml_backend_reg_t) { return "StandIn"; }, [](ggml_backend_reg_t) { return devices().size(); },
       [](ggml_backend_reg_t, std::size_t index) { return &devices()[index]->device; },
       [](ggml_backend_reg_t, const char* name) -> void* {
         static ggml_backend_feature none[] = {{nullptr, nullptr}};
         const ggml_backend_get_features_t features = [](ggml_backend_reg_t) { return none; };
         const bool asked = std::strcmp(name, "ggml_backend_get_features") == 0;
         return asked ? reinterpret_cast<void*>(features) : nullptr;
       }},
      nullptr};
  return &reg;
}

}  // namespace

EXPORT ggml_backend_reg_t ggml_backend_init() {
  if (setting("STAND_IN_FAILS", "") == "load") std::abort();
  if (setting("STAND_IN_FAILS", "") == "signal") std::raise(SIGINT);
  const bool hidden = setting("STAND_IN_HIDDEN", "") == "1" && std::getenv("GGML_VK_VISIBLE_DEVICES") == nullptr;
  const int count = hidden ? 0 : std::stoi(setting("STAND_IN_DEVICES", "1"));
  for (int i = 0; i < count; ++i) {
    auto* made = new Device{"GPU" + std::to_string(i), setting("STAND_IN_DESCRIPTION", "Stand-in"), {}, {}};
    made->device = {device_functions(), registry(), made};
    ggml_backend_buffer_type_i functions{};
    functions.get_name = type_name;
    functions.alloc_buffer = type_allocate;
    functions.get_alignment = type_alignment;
    made->type = {functions, &made->device, nullptr};
    devices().push_back(made);
  }
  return registry();
}
