#include "engine/embed_job.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/threads/step_watch.h"
#include "core/values/utf8.h"
#include "engine/runtimes.h"

namespace lorekeep::engine {
namespace {

// Texts that are tokenized and sorted by length at a time.
constexpr std::size_t kWindow = 4096;
// Texts tokenized between two polls of the cancel token: about a millisecond for short texts.
constexpr std::size_t kTokenizeGrain = 32;

/// Scales the vector to length 1; a zero vector stays zero. Returns false if a value is not finite.
bool normalize(std::span<float> vector) {
  double squares = 0;
  for (float value : vector) squares += static_cast<double>(value) * value;
  if (!std::isfinite(squares)) return false;
  if (squares == 0) return true;
  const double scale = 1.0 / std::sqrt(squares);  // exceeds the range of float for a vector of denormal numbers
  for (float& value : vector) value = static_cast<float>(value * scale);
  return true;
}

}  // namespace

EmbedResult EmbedJob::run() {
  result_.vectors.assign(texts_.size() * resources_.facts.dimension, 0.0f);
  for (std::size_t begin = 0; begin < texts_.size(); begin += kWindow) {
    embed_window(begin, std::min(texts_.size(), begin + kWindow));
  }
  resources_.computers.trim();
  result_.tokens = tokens_;
  return std::move(result_);
}

void EmbedJob::embed_window(std::size_t begin, std::size_t end) {
  items_.assign(end - begin, Item{});
  const Work work{resources_.helpers, resources_.slots.total(), cancel_};
  parallel_for(work, items_.size(), kTokenizeGrain, [&](std::size_t first, std::size_t last, std::size_t) {
    for (std::size_t i = first; i < last; ++i) tokenize(begin + i, items_[i]);
  });
  std::vector<std::uint32_t> counts(items_.size());
  for (std::size_t i = 0; i < items_.size(); ++i) counts[i] = items_[i].failed ? 0 : items_[i].count;
  const std::vector<Batch> batches =
      plan_batches(counts, {resources_.facts.settings.batch_tokens, kBatchSequences, work.workers});
  parallel_for(work, batches.size(), 1, [&](std::size_t first, std::size_t last, std::size_t) {
    for (std::size_t b = first; b < last; ++b) compute(batches[b], begin);
  });
  result_.batches += batches.size();
  report_failures(begin);
}

void EmbedJob::tokenize(std::size_t text, Item& item) const {
  const auto refuse = [&item](Code code) {
    item.failed = true;
    item.code = code;
    item.tokens = {};
  };
  std::string_view given = texts_[text];
  if (given.size() > kMaxTextBytes) {
    if (long_text_ == LongText::kRefuse) return refuse(Code::kTextTooLong);
    given = utf8_prefix(given, kMaxTextBytes);
    item.truncated = true;
  }
  if (given.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos) return refuse(Code::kInvalidArgument);
  const std::size_t most = long_text_ == LongText::kRefuse ? kAllTokens : resources_.facts.context_size;
  item.tokens = resources_.vocabulary.tokenize(given, cancel_, most);
  item.count = static_cast<std::uint32_t>(item.tokens.size());
  if (item.count <= resources_.vocabulary.special_tokens()) return refuse(Code::kInvalidArgument);
  if (item.count <= resources_.facts.context_size) return;
  if (long_text_ == LongText::kRefuse) return refuse(Code::kTextTooLong);
  item.tokens = resources_.vocabulary.first_window(std::move(item.tokens), resources_.facts.context_size);
  item.count = static_cast<std::uint32_t>(item.tokens.size());
  item.truncated = true;
}

void EmbedJob::compute(const Batch& batch, std::size_t begin) {
  const std::size_t dimension = resources_.facts.dimension;
  std::vector<Sequence> sequences;
  sequences.reserve(batch.items.size());
  for (std::uint32_t i : batch.items) {
    sequences.push_back({items_[i].tokens, std::span(result_.vectors).subspan((begin + i) * dimension, dimension)});
  }
  {
    const ComputeSlots::Lease lease = resources_.slots.take(class_, cancel_);
    const ExemptPart exempt(Exempt::kEmbeddingBatch);
    std::unique_ptr<BatchComputer> computer = resources_.computers.take(batch.tokens);
    if (computer->compute(sequences, cancel_) == ComputeStatus::kCancelled) {
      resources_.computers.give_back(std::move(computer));
      fail(Code::kCancelled, "the operation was aborted");
    }
    resources_.computers.give_back(std::move(computer));
  }
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    if (normalize(sequences[s].vector)) continue;
    std::fill(sequences[s].vector.begin(), sequences[s].vector.end(), 0.0f);
    items_[batch.items[s]].failed = true;
    items_[batch.items[s]].code = Code::kModelInvalid;
  }
  tokens_ += batch.tokens;
  advance(batch.items.size());
}

void EmbedJob::advance(std::size_t texts) {
  if (!progress_) return;
  std::lock_guard lock(progress_mutex_);
  done_ += texts;
  progress_(static_cast<float>(done_) / static_cast<float>(texts_.size()));
}

void EmbedJob::report_failures(std::size_t begin) {
  const std::uint32_t limit = resources_.facts.context_size;
  std::size_t skipped = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (item.truncated && !item.failed) result_.truncated.push_back(static_cast<std::uint32_t>(begin + i));
    if (!item.failed) continue;
    ItemError error{static_cast<std::uint32_t>(begin + i), item.code, item.count, limit, {}};
    if (item.code == Code::kInvalidArgument) {
      error.message =
          item.count == 0 ? "the text is empty" : "the text has no tokens except the model's special tokens";
    } else if (item.code == Code::kModelInvalid) {
      error.message = "the model computed values that are not numbers";
    } else if (item.count == 0) {
      error.message = "the text has " + std::to_string(texts_[begin + i].size()) + " bytes, at most " +
                      std::to_string(kMaxTextBytes) + " are cut into tokens";
    } else {
      error.message =
          "the text has " + std::to_string(item.count) + " tokens, the model takes " + std::to_string(limit);
    }
    skipped += item.code == Code::kModelInvalid ? 0 : 1;
    result_.errors.push_back(std::move(error));
  }
  if (skipped > 0) advance(skipped);
}

}  // namespace lorekeep::engine
