// The computation of a model: rows of tokens in, logits out, with the cells of the KV cache of its sequences. native/lm
// has two: LlamaContext (llama.cpp) and DecoderContext (native/decoder). decode() runs on the inference thread only.
// Internal to native/lm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lm/model/language_model.h"
#include "lm/text/token.h"
#include "scheduler/thread_reason.h"

namespace lorekeep::lm {

class GenerationContext {
 public:
  /// Maximum number of rows with outputs in a step. Memory is reserved for each (a row of the vocabulary).
  static constexpr std::uint32_t kMaxOutputs = 32;

  struct Row {
    Token token;
    std::int32_t position;
    std::int32_t sequence;
    bool output;
  };
  enum class Status {
    kDone,
    kNoCells,  // nothing changed
    kAborted,  // nothing changed, except that recurrent states are lost
  };

  /// Allocates the cache and computes a probe on the calling thread. Throws Error(kOutOfMemory), Error(kModelInvalid).
  static std::unique_ptr<GenerationContext> make(std::shared_ptr<const LanguageModel> model);
  virtual ~GenerationContext() = default;
  GenerationContext(const GenerationContext&) = delete;
  GenerationContext& operator=(const GenerationContext&) = delete;

  virtual const std::shared_ptr<const LanguageModel>& shared_model() const noexcept = 0;
  virtual std::int32_t sequences() const noexcept = 0;
  virtual std::uint32_t batch_size() const noexcept = 0;

  /// Sets how many threads compute the steps that follow: as many as the options say, or fewer. A deterministic context
  /// of llama.cpp keeps all.
  virtual void use_threads(std::uint32_t threads, std::uint32_t batch_threads) noexcept = 0;
  /// Returns how many threads the last step could use.
  virtual std::uint32_t threads() const noexcept = 0;
  virtual scheduler::ThreadReason thread_reason() const noexcept = 0;

  /// Computes the rows, at most batch_size(), at most kMaxOutputs with an output. The rows of a sequence follow each
  /// other and continue it. `unwanted` (may be empty) is asked between operations on the CPU whether to abort. Throws
  /// Error if the computation fails: the context is then unusable.
  virtual Status decode(std::span<const Row> rows, const std::function<bool()>& unwanted) = 0;

  /// Returns the logits of a row of the last decode(), which had an output. Writable; valid until the next decode().
  virtual std::span<float> logits(std::size_t row) = 0;

  /// Frees the cells of a sequence from a position on; -1: all. Returns false if the memory cannot forget only a part;
  /// then nothing changed.
  virtual bool remove(std::int32_t sequence, std::int32_t from) = 0;
  /// Shares the first `tokens` cells of a sequence with another, empty one. -1: all.
  virtual void share(std::int32_t from, std::int32_t to, std::int32_t tokens) = 0;

  /// Returns the state of a sequence, to be restored by a context of the same model, runtime and options.
  virtual std::vector<std::byte> save(std::int32_t sequence) = 0;
  /// Restores a state into an empty sequence. Returns false, with the sequence empty, if it is not such a state or
  /// there is no room.
  virtual bool restore(std::int32_t sequence, std::span<const std::byte> state, std::int32_t tokens) = 0;

 protected:
  GenerationContext() = default;

  /// Computes a few tokens: an unusable model fails at loading. Throws Error(kModelInvalid). Leaves used cells.
  void probe(Token token);
};

/// Names everything that the state of a sequence depends on besides the model file.
std::string runtime_name(const LanguageModel& model);

}  // namespace lorekeep::lm
