// One call of EmbeddingModel::embed(): tokens, batches, vectors. Internal to native/engine.
#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "core/threads/work.h"
#include "engine/batch_plan.h"
#include "engine/compute_slots.h"
#include "engine/computer_pool.h"
#include "engine/embedding_model.h"
#include "engine/vocabulary.h"

namespace lorekeep::engine {

/// The parts of a model that a job uses.
struct EmbedResources {
  const ModelFacts& facts;
  const Vocabulary& vocabulary;
  ComputerPool& computers;
  ComputeSlots& slots;
  ThreadPool* helpers;  // null if one thread computes
};

class EmbedJob {
 public:
  EmbedJob(const EmbedResources& resources, std::span<const std::string_view> texts, LongText long_text,
           const CancelToken* cancel, const Progress& progress)
      : resources_(resources),
        texts_(texts),
        class_(texts.size() == 1 ? scheduler::ConsumerClass::kInteractiveVisible
                                 : scheduler::ConsumerClass::kBackground),
        long_text_(long_text),
        cancel_(cancel),
        progress_(progress) {}

  EmbedResult run();

 private:
  struct Item {
    std::vector<llama_token> tokens;
    std::uint32_t count = 0;  // number of tokens, even after they are dropped
    Code code = Code::kInternal;
    bool failed = false;
    bool truncated = false;
  };

  void embed_window(std::size_t begin, std::size_t end);
  void tokenize(std::size_t text, Item& item) const;
  void compute(const Batch& batch, std::size_t begin);
  void report_failures(std::size_t begin);
  void advance(std::size_t texts);

  const EmbedResources& resources_;
  std::span<const std::string_view> texts_;
  const scheduler::ConsumerClass class_;  // one text is a query, several are a build
  LongText long_text_;
  const CancelToken* cancel_;
  const Progress& progress_;
  EmbedResult result_;
  std::vector<Item> items_;  // of the window
  std::mutex progress_mutex_;
  std::size_t done_ = 0;
  std::atomic<std::uint64_t> tokens_{0};
};

}  // namespace lorekeep::engine
