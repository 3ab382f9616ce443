// A loaded language model together with its session on the inference thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lm/model/language_model.h"
#include "lm/session/generation_call.h"
#include "lm/session/generation_request.h"
#include "lm/session/model_text.h"
#include "lm/session/session_numbers.h"
#include "scheduler/request.h"

namespace lorekeep::lm {

class InferenceThread;

/// A language model that can generate. Destroying it ends its requests with Error(kClosed) and frees its cache.
/// Thread-safe.
class GenerationModel {
 public:
  /// Allocates the cache on the calling thread. Throws Error(kOutOfMemory), Error(kModelInvalid).
  GenerationModel(std::shared_ptr<InferenceThread> thread, std::shared_ptr<const LanguageModel> model);
  ~GenerationModel();
  GenerationModel(const GenerationModel&) = delete;
  GenerationModel& operator=(const GenerationModel&) = delete;

  const LanguageModel& model() const noexcept { return *model_; }
  const ModelText& text() const noexcept { return text_; }
  const std::shared_ptr<InferenceThread>& shared_thread() const noexcept { return thread_; }

  /// Tokenizes the prompt, prepares the reply's constraints, and hands the request to the inference thread. A call
  /// without tokens to generate pins its prompt: see request->pin(). Errors end the request.
  void start(const std::shared_ptr<GenerationRequest>& request, GenerationCall call,
             const CancelToken* cancel = nullptr);
  /// Writes a pinned prefix to a file. Waits for the inference thread. Throws Error(kClosed), and as write_prefix().
  void save(const PinnedPrefix& prefix, const std::filesystem::path& path, const CancelToken* cancel) const;
  /// Reads a prefix from a file into the cache, pinned. Throws as read_prefix(), and Error(kOutOfMemory).
  std::shared_ptr<PinnedPrefix> load_prefix(const std::filesystem::path& path, const CancelToken* cancel) const;
  /// Passes the numbers of the cache to `receive`, on the inference thread and after the step that it computes. Drops
  /// `receive` if the thread has ended.
  void ask_numbers(std::function<void(SessionNumbers)> receive) const;
  /// The same with the prefixes in the cache.
  void ask_prefixes(std::function<void(PrefixParts)> receive) const;
  /// Has the cache lose the sequences that spell one of the texts, as ModelSession::forget(). `receive` gets their
  /// number.
  void forget(std::vector<std::string> texts, std::function<void(std::uint32_t)> receive) const;

 private:
  std::vector<PromptPart> take_prompt(GenerationCall& call, const CancelToken* cancel) const;

  std::shared_ptr<InferenceThread> thread_;
  std::shared_ptr<const LanguageModel> model_;
  ModelText text_;
  scheduler::ModelId id_;
};

}  // namespace lorekeep::lm
