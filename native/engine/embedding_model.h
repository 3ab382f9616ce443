#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"
#include "core/values/error.h"
#include "core/values/text_arena.h"
#include "engine/backends.h"
#include "engine/compute_settings.h"
#include "engine/placement.h"
#include "engine/pooling.h"

namespace lorekeep::engine {

/// Receives a fraction from 0 to 1, never decreasing within one call, on worker threads, one at a time. Must not throw.
using Progress = std::function<void(float fraction)>;

struct LoadOptions {
  /// Longest text in tokens, special tokens included; capped at the model's training context. 0: the training context,
  /// but at most kDefaultContextCap.
  std::uint32_t context_size = 0;
  /// Overrides the file's pooling.
  std::optional<Pooling> pooling;
  /// Threads that compute at a time, over all concurrent calls; 0: all threads that the process may use.
  std::size_t threads = 0;
  /// Name of the runtime, see ComputeSettings. Empty: the one in `known` for the model, else the best one, measured
  /// once per process in some tenths of a second.
  std::string runtime;
  std::vector<KnownSettings> known;
  /// kAuto: the GPU for models with at least kWorthGpu parameters. Smaller ones are faster on the CPU, where a text
  /// is not copied.
  Placement placement = Placement::kAuto;
};

inline constexpr std::uint64_t kWorthGpu = 100'000'000;

/// Memory grows with the square of a text's tokens, so a larger context must be requested.
inline constexpr std::uint32_t kDefaultContextCap = 8192;
/// Longer texts are refused before tokenization, which cannot be cancelled and takes up to 0.7 seconds for 1 MiB (one
/// unbroken word). No context holds more.
inline constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20;

struct ModelFacts {
  std::string name;
  std::string architecture;
  Pooling pooling;
  std::string fingerprint;         // 16 hexadecimal digits, see fingerprint_model()
  std::uint32_t dimension;         // floats per vector
  std::uint32_t context_size;      // longest text in tokens, special tokens included
  std::uint32_t training_context;  // tokens
  std::uint64_t parameters;
  std::uint64_t size_bytes;             // of the file
  std::vector<std::string> candidates;  // runtimes to compare, kLlamaRuntime first
  ComputeSettings settings;
  bool measured;               // whether this process measured the settings
  std::string device = "CPU";  // or a GPU's name
};

/// Why a text has no vector: kInvalidArgument (no tokens), kTextTooLong, or kModelInvalid (non-finite results).
struct ItemError {
  std::uint32_t index;
  Code code;
  std::uint32_t tokens;  // special tokens included; 0 if the text exceeds kMaxTextBytes
  std::uint32_t limit;   // tokens
  std::string message;   // without the index
};

/// Handling of a text with more tokens than the context.
enum class LongText {
  kRefuse,    // report an ItemError
  kTruncate,  // embed the first tokens that fit
};

struct EmbedResult {
  /// Row-major, texts x dimension, L2-normalised, in input order. Rows of failed texts are zero.
  std::vector<float> vectors;
  std::vector<ItemError> errors;         // by ascending index
  std::vector<std::uint32_t> truncated;  // ascending indexes of truncated texts
  std::uint64_t tokens = 0;              // computed
  std::uint64_t batches = 0;
};

/// A GGUF embedding model, on the CPU or the chosen GPU. Thread-safe.
class EmbeddingModel {
 public:
  /// Checks and loads the file and embeds a probe. Throws Error: kNotFound, kIo, kModelInvalid (not GGUF, truncated,
  /// inconsistent, text generation only, non-finite weights), kUnsupported, kInvalidArgument (a context too small for
  /// any text, a runtime that cannot compute the model), kOutOfMemory, kCancelled. Grain of cancellation: 16 MiB of the
  /// file or one tensor.
  static std::shared_ptr<EmbeddingModel> load(const std::filesystem::path& path, const LoadOptions& options,
                                              std::shared_ptr<const Backends> backends,
                                              const CancelToken* cancel = nullptr, const Progress& progress = {});
  ~EmbeddingModel();
  EmbeddingModel(const EmbeddingModel&) = delete;
  EmbeddingModel& operator=(const EmbeddingModel&) = delete;

  /// The reference stays valid for the life of the model.
  const ModelFacts& facts() const;

  /// Embeds the texts and reports the failed ones. Ill-formed UTF-8 is read as U+FFFD. A text's vector does not
  /// depend on the other texts (cosine >= 0.999). Throws Error(kCancelled), Error(kOutOfMemory), Error(kDeviceLost):
  /// the GPU failed, and so do all later calls. Grain of cancellation: one operation of a batch's graph, or one step on
  /// a GPU.
  EmbedResult embed(std::span<const std::string_view> texts, const CancelToken* cancel = nullptr,
                    const Progress& progress = {}, LongText long_text = LongText::kRefuse);
  EmbedResult embed(const TextArena& texts, const CancelToken* cancel = nullptr, const Progress& progress = {});

  /// Returns the tokens of a text, special tokens included. Polls `cancel` as TextTokenizer::tokenize() does. Throws
  /// Error(kTextTooLong) above kMaxTextBytes.
  std::vector<std::int32_t> tokens(std::string_view text, const CancelToken* cancel) const;

 private:
  struct Impl;
  explicit EmbeddingModel(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace lorekeep::engine
