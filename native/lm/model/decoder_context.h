// The context of native/decoder. Internal to native/lm.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "decoder/forward.h"
#include "decoder/kv_cache.h"
#include "decoder/team.h"
#include "lm/model/generation_context.h"

namespace lorekeep::lm {

class DecoderContext final : public GenerationContext {
 public:
  static constexpr std::int32_t kSequences = 256;

  /// Precondition: model->decoder(). Throws as GenerationContext::make().
  explicit DecoderContext(std::shared_ptr<const LanguageModel> model);
  ~DecoderContext() override;

  static std::string state_name(const LanguageModel& model);
  /// Returns the bytes of the cache, and of the buffers of a step.
  static std::size_t cache_bytes(const decoder::DecoderShape& shape, const LanguageModelOptions& options) noexcept;
  static std::size_t step_bytes(const decoder::DecoderShape& shape, const LanguageModelOptions& options) noexcept;

  const std::shared_ptr<const LanguageModel>& shared_model() const noexcept override { return model_; }
  std::int32_t sequences() const noexcept override { return kSequences; }
  std::uint32_t batch_size() const noexcept override { return model_->options().batch_size; }
  void use_threads(std::uint32_t threads, std::uint32_t batch_threads) noexcept override;
  std::uint32_t threads() const noexcept override;
  scheduler::ThreadReason thread_reason() const noexcept override;
  Status decode(std::span<const Row> rows, const std::function<bool()>& unwanted) override;
  std::span<float> logits(std::size_t row) override;
  bool remove(std::int32_t sequence, std::int32_t from) override;
  void share(std::int32_t from, std::int32_t to, std::int32_t tokens) override;
  std::vector<std::byte> save(std::int32_t sequence) override;
  bool restore(std::int32_t sequence, std::span<const std::byte> state, std::int32_t tokens) override;

 private:
  struct Parts;

  template <class Body>
  bool each_sequence(const Body& body);
  bool extend();
  void settle(bool computed) noexcept;

  std::shared_ptr<const LanguageModel> model_;
  std::unique_ptr<Parts> parts_;
  std::vector<decoder::Row> rows_;
  std::uint32_t threads_;
  std::uint32_t batch_threads_;
  scheduler::ThreadReason reason_ = scheduler::ThreadReason::kAll;
  bool ready_ = false;    // constructed
  bool started_ = false;  // the team's threads
};

}  // namespace lorekeep::lm
