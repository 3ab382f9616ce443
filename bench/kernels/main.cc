// Products of packed matrices beside ggml's mul_mat: the same weights and threads, in turns, in one process.
//
//   lorekeep_kernels_bench FOLDER [threads] [formats] [shapes] [rows] [set]
//
// FOLDER holds ggml's CPU plugin. Lists are separated by commas; shapes are OUTPUTSxINPUTS. For up to four rows, copies
// of the matrix exceed the last-level cache, as the weights of a model do. Each line has our best and median speed in
// GFLOP/s (2 operations per weight and row), or GB/s of the file's weights up to four rows, and the ratio to ggml's. A
// loaded machine disturbs both sides alike; ratios of medians are the fairer ones. With one thread, on Linux, times are
// processor time. The first lines have the time in which 100 MB of each format are packed.
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/threads/thread_pool.h"
#include "core/threads/work.h"
#include "quant/multiply.h"

namespace {

using namespace lorekeep;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kStreamBytes = std::size_t{96} << 20;
constexpr std::size_t kPackedBytes = 100'000'000;
constexpr double kSecondsPerCase = 0.8;
constexpr int kMaxRounds = 40;

struct Shape {
  std::size_t outputs;
  std::size_t inputs;
};

struct Case {
  quant::Format format;
  Shape shape;
  std::size_t rows;
  std::size_t copies;
};

std::uint32_t ggml_number(quant::Format format) {
  for (std::uint32_t type = 0; type < GGML_TYPE_COUNT; ++type) {
    if (quant::format_of_type(type) == format) return type;
  }
  return 0;
}

std::vector<std::byte> quantized(quant::Format format, const std::vector<float>& values, Shape shape) {
  std::vector<std::byte> rows(shape.outputs * quant::row_bytes(format, shape.inputs));
  const auto type = static_cast<ggml_type>(ggml_number(format));
  if (format == quant::Format::kF32) {
    std::memcpy(rows.data(), values.data(), rows.size());
  } else {
    ggml_quantize_chunk(type, values.data(), rows.data(), 0, static_cast<std::int64_t>(shape.outputs),
                        static_cast<std::int64_t>(shape.inputs), nullptr);
  }
  return rows;
}

/// ggml's side: one graph with a product per copy of the matrix.
class Theirs {
 public:
  Theirs(ggml_backend_t backend, const Case& c, const std::vector<std::byte>& file, const std::vector<float>& input)
      : backend_(backend) {
    const std::size_t tensors = 2 * c.copies + 2;
    context_ = ggml_init({tensors * ggml_tensor_overhead(), nullptr, true});
    graph_context_ = ggml_init({tensors * ggml_tensor_overhead() + ggml_graph_overhead_custom(tensors, false), nullptr, true});
    std::vector<ggml_tensor*> weights;
    for (std::size_t i = 0; i < c.copies; ++i) {
      weights.push_back(ggml_new_tensor_2d(context_, static_cast<ggml_type>(ggml_number(c.format)),
                                           static_cast<std::int64_t>(c.shape.inputs),
                                           static_cast<std::int64_t>(c.shape.outputs)));
    }
    buffer_ = ggml_backend_alloc_ctx_tensors_from_buft(context_, buffer_type(weights[0], c));
    for (ggml_tensor* tensor : weights) ggml_backend_tensor_set(tensor, file.data(), 0, file.size());
    ggml_tensor* rows = ggml_new_tensor_2d(graph_context_, GGML_TYPE_F32, static_cast<std::int64_t>(c.shape.inputs),
                                           static_cast<std::int64_t>(c.rows));
    graph_ = ggml_new_graph_custom(graph_context_, tensors, false);
    for (ggml_tensor* tensor : weights) {
      last_ = ggml_mul_mat(graph_context_, tensor, rows);
      ggml_build_forward_expand(graph_, last_);
    }
    graph_buffer_ = ggml_backend_alloc_ctx_tensors(graph_context_, backend_);
    ggml_backend_tensor_set(rows, input.data(), 0, c.rows * c.shape.inputs * sizeof(float));
  }
  ~Theirs() {
    ggml_backend_buffer_free(buffer_);
    ggml_backend_buffer_free(graph_buffer_);
    ggml_free(context_);
    ggml_free(graph_context_);
  }
  void run() { ggml_backend_graph_compute(backend_, graph_); }
  std::vector<float> result() const {
    std::vector<float> values(static_cast<std::size_t>(ggml_nelements(last_)));
    ggml_backend_tensor_get(last_, values.data(), 0, values.size() * sizeof(float));
    return values;
  }
  bool repacked() const { return repacked_; }

 private:
  // As llama.cpp chooses: the first extra buffer type that supports the product, else the plain one.
  ggml_backend_buffer_type_t buffer_type(ggml_tensor* weight, const Case& c) {
    ggml_backend_dev_t device = ggml_backend_get_device(backend_);
    auto* extra = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(
        ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(device), "ggml_backend_dev_get_extra_bufts"));
    ggml_context* scratch = ggml_init({4 * ggml_tensor_overhead(), nullptr, true});
    ggml_tensor* rows = ggml_new_tensor_2d(scratch, GGML_TYPE_F32, weight->ne[0], static_cast<std::int64_t>(c.rows));
    ggml_tensor* product = ggml_mul_mat(scratch, weight, rows);
    ggml_backend_buffer_type_t chosen = ggml_backend_get_default_buffer_type(backend_);
    for (auto* types = extra == nullptr ? nullptr : extra(device); types != nullptr && *types != nullptr; ++types) {
      weight->buffer = ggml_backend_buft_alloc_buffer(*types, 0);
      const bool supported = ggml_backend_dev_supports_op(device, product);
      ggml_backend_buffer_free(weight->buffer);
      weight->buffer = nullptr;
      if (!supported) continue;
      chosen = *types;
      repacked_ = true;
      break;
    }
    ggml_free(scratch);
    return chosen;
  }

  ggml_backend_t backend_;
  ggml_context* context_;
  ggml_context* graph_context_;
  ggml_cgraph* graph_;
  ggml_tensor* last_ = nullptr;
  ggml_backend_buffer_t buffer_;
  ggml_backend_buffer_t graph_buffer_;
  bool repacked_ = false;
};

/// Our side: the activations are quantised for every product, as ggml does.
class Ours {
 public:
  Ours(const Case& c, const std::vector<std::byte>& file, const std::vector<float>& input, const Work& work,
       const quant::QuantKernels& kernels)
      : case_(c), input_(input), work_(work), kernels_(kernels), out_(c.rows * c.shape.outputs) {
    for (std::size_t i = 0; i < c.copies; ++i)
      matrices_.push_back(quant::PackedMatrix::pack(c.format, file, c.shape.outputs, c.shape.inputs, work, memory_));
    activations_.reset(input.data(), c.shape.inputs, c.shape.inputs, c.rows);
  }
  void run() {
    for (const auto& matrix : matrices_) {
      if (!quant::is_float(case_.format)) {
        share(case_.rows, 1, case_.rows >= 16, [&](std::size_t begin, std::size_t end) {
          activations_.quantize(begin, end, kernels_);
        });
      }
      share(case_.shape.outputs, 2 * quant::kOutputGrain, true, [&](std::size_t begin, std::size_t end) {
        quant::multiply(matrix, activations_, {0, case_.rows}, {begin, end}, out_.data(), case_.shape.outputs, kernels_);
      });
    }
  }
  const std::vector<float>& result() const { return out_; }

 private:
  void share(std::size_t count, std::size_t grain, bool worth, const std::function<void(std::size_t, std::size_t)>& body) {
    if (!worth || work_.workers < 2) return body(0, count);
    const std::size_t pieces = 4 * work_.workers;
    const std::size_t piece = std::max(grain, (count / pieces + grain - 1) / grain * grain);
    parallel_for(work_, (count + piece - 1) / piece, 1, [&](std::size_t begin, std::size_t end, std::size_t) {
      body(begin * piece, std::min(count, end * piece));
    });
  }

  Case case_;
  const std::vector<float>& input_;
  Work work_;
  const quant::QuantKernels& kernels_;
  quant::PackedMemory memory_;
  std::vector<quant::PackedMatrix> matrices_;
  quant::Activations activations_;
  std::vector<float> out_;
};

struct Times {
  std::vector<double> all;
  void add(double seconds) { all.push_back(seconds); }
  double best() { return *std::min_element(all.begin(), all.end()); }
  double median() {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }
};

/// Seconds: of the calling thread's processor time where it computes alone, so that waiting for a core does not count.
double now(bool alone) {
#if defined(__linux__)
  if (alone) {
    timespec spent{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
  }
#endif
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

template <class Side>
double timed(Side& side, bool alone) {
  const double begin = now(alone);
  side.run();
  return now(alone) - begin;
}

double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double squares = 0, all = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    squares += (a[i] - b[i]) * (a[i] - b[i]);
    all += b[i] * b[i];
  }
  return std::sqrt(squares / all);
}

void measure(ggml_backend_t backend, Case c, const Work& work, const quant::QuantKernels& kernels) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(c.shape.outputs * c.shape.inputs), input(c.rows * c.shape.inputs);
  for (float& value : values) value = normal(random);
  for (float& value : input) value = normal(random);
  const auto file = quantized(c.format, values, c.shape);
  c.copies = c.rows <= 4 ? kStreamBytes / file.size() + 1 : 1;
  Theirs theirs(backend, c, file, input);
  Ours ours(c, file, input, work, kernels);
  Times a, b;
  const bool alone = work.workers == 1;
  timed(ours, alone);
  timed(theirs, alone);
  double spent = 0;
  for (int round = 0; round < kMaxRounds && (round < 5 || spent < kSecondsPerCase); ++round) {
    a.add(timed(ours, alone));
    b.add(timed(theirs, alone));
    spent += a.all.back() + b.all.back();
  }
  const double weights = static_cast<double>(c.shape.outputs * c.shape.inputs * c.copies);
  const double amount = c.rows <= 4 ? static_cast<double>(file.size() * c.copies) : 2 * weights * static_cast<double>(c.rows);
  std::printf("%-7s %6zu x %-5zu %4zu rows  %8.1f %8.1f %s  ratio %.2f best %.2f median  difference %.4f%s\n",
              std::string(quant::format_name(c.format)).c_str(), c.shape.outputs, c.shape.inputs, c.rows,
              amount / a.best() / 1e9, amount / a.median() / 1e9, c.rows <= 4 ? "GB/s   " : "GFLOP/s", b.best() / a.best(),
              b.median() / a.median(), difference(ours.result(), theirs.result()), theirs.repacked() ? " (repacked)" : "");
  std::fflush(stdout);
}

/// Packs kPackedBytes of random weights of a format several times and prints the fastest.
void measure_packing(quant::Format format, const Work& work) {
  constexpr std::size_t kInputs = 2048;
  const std::size_t row = quant::row_bytes(format, kInputs);
  const std::size_t outputs = kPackedBytes / row;
  std::vector<std::byte> file(outputs * row);
  std::mt19937 random(1);
  for (std::byte& byte : file) byte = static_cast<std::byte>(random());
  Times times;
  for (int round = 0; round < 5; ++round) {
    quant::PackedMemory memory;
    const double begin = now(work.workers == 1);
    const auto packed = quant::PackedMatrix::pack(format, file, outputs, kInputs, work, memory);
    times.add(now(work.workers == 1) - begin);
  }
  std::printf("%-7s 100 MB packed in %.3f s best %.3f s median\n", std::string(quant::format_name(format)).c_str(),
              times.best(), times.median());
}

quant::Format format_named(const std::string& name) {
  for (std::size_t i = 0; i < quant::kFormats; ++i) {
    if (quant::format_name(static_cast<quant::Format>(i)) == name) return static_cast<quant::Format>(i);
  }
  return quant::Format::kF32;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts(1);
  for (char c : list) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

int main(int count, char** arguments) {
  const auto argument = [&](int index, const char* otherwise) {
    return std::string(index < count ? arguments[index] : otherwise);
  };
  if (count < 2) return std::puts("usage: lorekeep_kernels_bench FOLDER [threads] [formats] [shapes] [rows] [set]"), 2;
  ggml_backend_load_all_from_path(arguments[1]);
  ggml_backend_dev_t device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  if (device == nullptr) return std::printf("no CPU plugin of ggml in %s\n", arguments[1]), 1;
  ggml_backend_t backend = ggml_backend_dev_init(device, nullptr);
  const auto threads = std::stoul(argument(2, "1"));
  const auto set_threads = reinterpret_cast<ggml_backend_set_n_threads_t>(
      ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(device), "ggml_backend_set_n_threads"));
  set_threads(backend, static_cast<int>(threads));
  ThreadPool pool(std::max<std::size_t>(1, threads - 1), std::chrono::microseconds(50));
  const Work work{threads > 1 ? &pool : nullptr, threads};
  const auto* kernels = quant::kernels_named(argument(6, quant::best_kernels().name));
  if (kernels == nullptr) return std::puts("no such set of kernels"), 1;
  std::printf("%zu threads, %s\n", static_cast<std::size_t>(threads), kernels->name);
  const auto formats = split(argument(3, "Q8_0,Q4_0,Q4_1,Q4_K,Q6_K,Q5_0"));
  for (const std::string& name : formats) measure_packing(format_named(name), work);
  for (const std::string& rows : split(argument(5, "1,4,16,64,512"))) {
    for (const std::string& name : formats) {
      for (const std::string& shape : split(argument(4, "576x576,1536x576,576x1536"))) {
        Case c{};
        c.format = format_named(name);
        c.shape = {std::stoul(shape), std::stoul(shape.substr(shape.find('x') + 1))};
        c.rows = std::stoul(rows);
        if (c.shape.inputs % quant::block_values(c.format) == 0) measure(backend, c, work, *kernels);
      }
    }
  }
  ggml_backend_free(backend);
}
