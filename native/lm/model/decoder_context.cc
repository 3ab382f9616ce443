#include "lm/model/decoder_context.h"

#include <algorithm>
#include <new>
#include <utility>

#include "core/values/error.h"
#include "lm/text/tokens.h"

namespace lorekeep::lm {
namespace {

// Changes with the layout of saved states, and with anything that changes the bits of keys and values.
constexpr const char* kStateVersion = "decoder 4";
// A step of one token in a small model is over before a second thread wakes.
constexpr std::size_t kBatchRows = 8;

decoder::CacheShape cache_shape(const decoder::DecoderShape& shape, CacheType type) noexcept {
  const auto format = type == CacheType::kF16 ? decoder::CacheFormat::kF16 : decoder::CacheFormat::kQ8_0;
  return {shape.layers, shape.kv_heads, shape.head, format};
}

}  // namespace

struct DecoderContext::Parts {
  explicit Parts(const LanguageModel& model)
      : cache(cache_shape(model.decoder()->shape, model.options().cache_type), model.options().kv_cells, kSequences),
        team(std::max(model.options().threads, model.options().batch_threads), decoder::Team::Start::kLater),
        forward(model.decoder(), cache, team, model.options().batch_size, kMaxOutputs) {}

  decoder::KvCache cache;
  decoder::Team team;
  decoder::Forward forward;
};

std::string DecoderContext::state_name(const LanguageModel& model) {
  return std::string(kStateVersion) + ", " + decoder::available_kernels().back()->name +
         (model.options().cache_type == CacheType::kF16 ? "" : ", q8_0 cache");
}

std::size_t DecoderContext::cache_bytes(const decoder::DecoderShape& shape,
                                        const LanguageModelOptions& options) noexcept {
  return decoder::KvCache::bytes(cache_shape(shape, options.cache_type), options.kv_cells, 0);
}

std::size_t DecoderContext::step_bytes(const decoder::DecoderShape& shape,
                                       const LanguageModelOptions& options) noexcept {
  return decoder::Forward::bytes(shape, options.batch_size, kMaxOutputs);
}

DecoderContext::DecoderContext(std::shared_ptr<const LanguageModel> model)
    : model_(std::move(model)), threads_(model_->options().threads), batch_threads_(model_->options().batch_threads) {
  try {
    parts_ = std::make_unique<Parts>(*model_);
    rows_.reserve(batch_size());
  } catch (const std::bad_alloc&) {
    fail(Code::kOutOfMemory, "no cache of " + std::to_string(model_->options().kv_cells) + " tokens");
  }
  probe(static_cast<Token>(std::max(0, llama_vocab_bos(model_->tokens().vocabulary()))));
  remove(0, -1);
  ready_ = true;
}

DecoderContext::~DecoderContext() = default;

void DecoderContext::use_threads(std::uint32_t threads, std::uint32_t batch_threads) noexcept {
  threads_ = threads;
  batch_threads_ = batch_threads;
}

std::uint32_t DecoderContext::threads() const noexcept {
  return static_cast<std::uint32_t>(parts_->team.limit());
}

scheduler::ThreadReason DecoderContext::thread_reason() const noexcept {
  return reason_;
}

GenerationContext::Status DecoderContext::decode(std::span<const Row> rows, const std::function<bool()>& unwanted) {
  if (rows.empty() || rows.size() > batch_size()) fail(Code::kInternal, "a step does not fit its context");
  rows_.clear();
  for (const Row& row : rows) {
    const auto sequence = static_cast<std::size_t>(row.sequence);
    const bool continues = !rows_.empty() && rows_.back().sequence == sequence;
    const std::size_t expected = continues ? rows_.back().position + 1 : parts_->cache.length(sequence);
    if (static_cast<std::size_t>(row.position) != expected)
      fail(Code::kInternal, "a step does not continue its sequence");
    rows_.push_back({row.token, expected, sequence, row.output});
  }
  if (!extend()) {
    settle(false);
    return Status::kNoCells;
  }
  // Not in the constructor, which a thread of low priority may run: it would pass its priority on.
  if (ready_ && !std::exchange(started_, true)) parts_->team.start();
  const bool batch = rows.size() >= kBatchRows;
  parts_->team.begin(batch ? batch_threads_ : threads_, &unwanted);
  const auto& options = model_->options();
  // The team has as many as it was asked for, or all that the system started.
  const scheduler::ThreadLimits limits{batch ? options.batch_threads : options.threads,
                                       batch ? batch_threads_ : threads_, threads()};
  reason_ = scheduler::thread_reason(limits, threads(), false);
  const bool computed = parts_->forward.compute(rows_);
  settle(computed);
  return computed ? Status::kDone : Status::kAborted;
}

// Calls body(last row) for each sequence of the step.
template <class Body>
bool DecoderContext::each_sequence(const Body& body) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const bool last = i + 1 == rows_.size() || rows_[i + 1].sequence != rows_[i].sequence;
    if (last && !body(rows_[i])) return false;
  }
  return true;
}

// Makes room for the rows.
bool DecoderContext::extend() {
  return each_sequence(
      [this](const decoder::Row& row) { return parts_->cache.extend(row.sequence, row.position + 1); });
}

// Takes the rows into their sequences, or frees the blocks that were made for them.
void DecoderContext::settle(bool computed) noexcept {
  each_sequence([this, computed](const decoder::Row& row) {
    decoder::KvCache& cache = parts_->cache;
    cache.set_length(row.sequence, computed ? row.position + 1 : cache.length(row.sequence));
    return true;
  });
}

std::span<float> DecoderContext::logits(std::size_t row) {
  if (row >= rows_.size() || !rows_[row].output) fail(Code::kInternal, "generation: a step without outputs");
  return parts_->forward.logits(row);
}

bool DecoderContext::remove(std::int32_t sequence, std::int32_t from) {
  const auto found = static_cast<std::size_t>(sequence);
  const std::size_t length = parts_->cache.length(found);
  parts_->cache.set_length(found, from < 0 ? 0 : std::min(length, static_cast<std::size_t>(from)));
  return true;
}

void DecoderContext::share(std::int32_t from, std::int32_t to, std::int32_t tokens) {
  const auto source = static_cast<std::size_t>(from);
  const std::size_t length = parts_->cache.length(source);
  parts_->cache.share(source, static_cast<std::size_t>(to),
                      tokens < 0 ? length : std::min(length, static_cast<std::size_t>(tokens)));
}

std::vector<std::byte> DecoderContext::save(std::int32_t sequence) {
  return parts_->cache.save(static_cast<std::size_t>(sequence));
}

bool DecoderContext::restore(std::int32_t sequence, std::span<const std::byte> state, std::int32_t tokens) {
  return parts_->cache.restore(static_cast<std::size_t>(sequence), state, static_cast<std::size_t>(tokens));
}

}  // namespace lorekeep::lm
