// Weights, vocabulary and facts of a language model. Immutable after load(), thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"
#include "engine/backends.h"
#include "engine/compute_settings.h"
#include "engine/placement.h"
#include "lm/model/language_profile.h"
#include "lm/text/token.h"

struct llama_model;

namespace lorekeep::decoder {
struct DecoderWeights;
}

namespace lorekeep::lm {

class Tokens;

/// Receives a fraction from 0 to 1, never decreasing within one call. Must not throw.
using Progress = std::function<void(float fraction)>;

using engine::Placement;

/// Runtimes. Their results are the same up to rounding, so a text may continue differently.
enum class Runtime {
  // The faster one, if both can compute the model: the first load on a machine measures. llama.cpp if the model must be
  // deterministic.
  kAuto,
  kLlama,    // llama.cpp
  kDecoder,  // native/decoder
};

/// How a KV cache stores its numbers.
enum class CacheType {
  kF16,
  kQ8_0,  // half the memory
};

/// LanguageModelFacts::runtime of native/decoder.
inline constexpr std::string_view kDecoderRuntime = "decoder";

struct LanguageModelOptions {
  /// Maximum number of tokens of a prompt and its reply. 0: the training context, but at most kDefaultContext. Capped
  /// at the training context.
  std::uint32_t context_size = 0;
  /// Cells of the KV cache, shared by all requests; one per token. 0: context_size.
  std::uint32_t kv_cells = 0;
  CacheType cache_type = CacheType::kF16;
  /// Maximum number of tokens of one step.
  std::uint32_t batch_size = kDefaultBatch;
  /// Threads that decode, and threads that process prompts. 0: all that the process may use.
  std::uint32_t threads = 0;
  std::uint32_t batch_threads = 0;
  Placement placement = Placement::kAuto;
  Runtime runtime = Runtime::kAuto;
  /// On a GPU: keeps the KV cache there too.
  bool offload_kqv = true;
  /// Runtimes measured earlier on this machine. For Content::kShape: of this file only, as its fingerprint is not
  /// known.
  std::vector<engine::KnownSettings> known;
  /// Same request, same text, whatever else runs. Always so with native/decoder; llama.cpp computes one request
  /// per step for it, slower. load() resets it for native/decoder.
  bool deterministic = false;

  static constexpr std::uint32_t kDefaultContext = 8192;
  static constexpr std::uint32_t kDefaultBatch = 512;
};

struct LanguageModelFacts {
  std::string name;
  std::string architecture;
  std::string fingerprint;              // 16 hexadecimal digits over the file
  std::string device;                   // "CPU", or a GPU's name
  std::string backend;                  // ggml's name: "CPU", "CUDA", "Vulkan"
  std::string runtime;                  // "llama.cpp" or "decoder"
  std::string placement_note;           // why a model that could use the GPU does not; else empty
  std::vector<std::string> candidates;  // runtimes that were measured, if the choice was Runtime::kAuto
  bool measured = false;                // by this process, in rounds that agree
  std::string chat_template;            // Jinja source; empty if the file has none
  std::string tokenizer_note;           // why texts may have other tokens than in training; else empty
  std::uint32_t context_size;           // in use
  std::uint32_t training_context;       // tokens
  std::uint32_t vocabulary_size;
  std::uint32_t embedding_size;
  std::uint32_t layers;
  std::uint64_t parameters;
  std::uint64_t size_bytes;  // of the file
  Memory memory;
};

class LanguageModel {
 public:
  /// kShape: neither weights nor a fingerprint, for estimates.
  enum class Content { kAll, kShape };

  /// Checks and loads the file. Throws Error: kNotFound, kIo, kModelInvalid, kUnsupported, kOutOfMemory, kCancelled.
  /// Grain of cancellation: 16 MiB of the file or one tensor.
  static std::shared_ptr<LanguageModel> load(const std::filesystem::path& path, const LanguageModelOptions& options,
                                             std::shared_ptr<const engine::Backends> backends,
                                             const CancelToken* cancel = nullptr, const Progress& progress = {},
                                             Content content = Content::kAll);
  ~LanguageModel();
  LanguageModel(const LanguageModel&) = delete;
  LanguageModel& operator=(const LanguageModel&) = delete;

  const LanguageModelFacts& facts() const noexcept;
  bool on_gpu() const noexcept;
  /// The options of load(), with defaults resolved.
  const LanguageModelOptions& options() const noexcept;

  /// Returns the number of tokens of a plain text. Throws Error(kTextTooLong) above max_text_bytes(), and as
  /// Tokens::tokenize().
  std::uint32_t count_tokens(std::string_view text, const CancelToken* cancel = nullptr) const;
  /// Returns the tokens of a plain text as a prompt: spellings of control tokens stay text, and BOS comes first if the
  /// model wants it. Throws Error(kTextTooLong).
  std::vector<Token> tokenize_prompt(std::string_view text, const CancelToken* cancel = nullptr) const;

  /// Longer texts are refused before tokenization, which takes up to 2 seconds for 1 MiB.
  std::size_t max_text_bytes() const noexcept;

  // For native/lm only.

  /// llama.cpp's model; without weights if decoder() has them.
  llama_model& llama() const noexcept;
  /// Null: llama.cpp computes.
  const std::shared_ptr<const decoder::DecoderWeights>& decoder() const noexcept;
  const Tokens& tokens() const noexcept;

 private:
  struct Impl;
  explicit LanguageModel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lorekeep::lm
