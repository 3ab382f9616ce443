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

#include "core/cancel_token.h"
#include "core/error.h"
#include "core/text_arena.h"
#include "engine/backends.h"
#include "engine/compute_settings.h"
#include "engine/pooling.h"

namespace lorekeep::engine {

/// A fraction from 0 to 1, never decreasing within one call. Called on the working threads, one at a time; must not
/// throw.
using Progress = std::function<void(float fraction)>;

struct LoadOptions {
  /// Longest text in tokens, special tokens included; at most the model's training context is used. 0: the training
  /// context, but at most kDefaultContextCap.
  std::uint32_t context_size = 0;
  /// Overrides what the file says.
  std::optional<Pooling> pooling;
  /// Threads that compute at a time, over all concurrent calls; 0: all that the process may use.
  std::size_t threads = 0;
  /// A runtime by its name, see ComputeSettings, in place of the best. Empty: the one of `known` for the model, else
  /// what a measurement of some tenths of a second finds, once in a process.
  std::string runtime;
  std::vector<KnownSettings> known;
};

/// A text's memory grows with the square of its tokens: models trained for more need to be asked.
inline constexpr std::uint32_t kDefaultContextCap = 8192;
/// A longer text is refused before it is cut into tokens: that cannot be cancelled, and 1 MiB already takes up to 0.7
/// seconds (one unbroken word). No context holds more.
inline constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20;

struct ModelFacts {
  std::string name;
  std::string architecture;
  Pooling pooling;
  std::string fingerprint;         // 16 hexadecimal digits, see fingerprint_model()
  std::uint32_t dimension;         // floats per vector
  std::uint32_t context_size;      // tokens of the longest text, special tokens included
  std::uint32_t training_context;  // tokens
  std::uint64_t parameters;
  std::uint64_t size_bytes;             // of the file
  std::vector<std::string> candidates;  // the runtimes that a measurement compares, kLlamaRuntime first
  ComputeSettings settings;
  bool measured;  // whether the settings come from a measurement of this process
};

/// Why one text has no vector: kInvalidArgument (nothing in it but what the tokenizer drops), kTextTooLong, or
/// kModelInvalid (the model computed something that is not a number).
struct ItemError {
  std::uint32_t index;
  Code code;
  std::uint32_t tokens;  // special tokens included; 0 when the text is over kMaxTextBytes
  std::uint32_t limit;   // tokens
  std::string message;   // does not repeat the index
};

/// What becomes of a text with more tokens than the context holds.
enum class LongText {
  kRefuse,    // it is an ItemError
  kTruncate,  // its first tokens are embedded, as many as fit
};

struct EmbedResult {
  /// Row-major, texts x dimension, L2-normalised, in input order. Rows of failed texts are zero.
  std::vector<float> vectors;
  std::vector<ItemError> errors;   // by ascending index
  std::vector<std::uint32_t> cut;  // ascending indexes of the texts of which only the first tokens were embedded
  std::uint64_t tokens = 0;        // computed
  std::uint64_t batches = 0;
};

/// A GGUF embedding model on the CPU. All members are safe to call from several threads at once.
class EmbeddingModel {
 public:
  /// Checks the file, loads it and embeds a probe. Throws Error: kNotFound, kIo, kModelInvalid (not GGUF, truncated,
  /// contradictory, generation-only, weights that are not numbers), kUnsupported, kInvalidArgument (a context size too
  /// small for any text, a runtime that cannot compute the model), kOutOfMemory, kCancelled. Cancellation grain: 16 MiB
  /// of the file or one tensor.
  static std::shared_ptr<EmbeddingModel> load(const std::filesystem::path& path, const LoadOptions& options,
                                              std::shared_ptr<const Backends> backends,
                                              const CancelToken* cancel = nullptr, const Progress& progress = {});
  ~EmbeddingModel();
  EmbeddingModel(const EmbeddingModel&) = delete;
  EmbeddingModel& operator=(const EmbeddingModel&) = delete;

  const ModelFacts& facts() const noexcept;

  /// Embeds each text that can be embedded and reports the others. Ill-formed UTF-8 is read as U+FFFD. A text's vector
  /// does not depend on the texts beside it (cosine >= 0.999). Throws Error(kCancelled), Error(kOutOfMemory).
  /// Cancellation grain: one operation of a batch's graph.
  EmbedResult embed(std::span<const std::string_view> texts, const CancelToken* cancel = nullptr,
                    const Progress& progress = {}, LongText long_text = LongText::kRefuse);
  EmbedResult embed(const TextArena& texts, const CancelToken* cancel = nullptr, const Progress& progress = {});

  /// Tokens of a text, special tokens included. Throws Error(kTextTooLong) beyond kMaxTextBytes.
  std::uint32_t count_tokens(std::string_view text) const;

 private:
  struct Impl;
  explicit EmbeddingModel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lorekeep::engine
