#include "lm/model/shared_decoder.h"

#include <map>
#include <mutex>
#include <utility>

#include "core/threads/thread_pool.h"

namespace lorekeep::lm {
namespace {

using Weights = std::shared_ptr<const decoder::DecoderWeights>;

struct Loaded {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<const decoder::DecoderWeights>> by_fingerprint;
};

Loaded& loaded() {
  static auto* found = new Loaded;  // leaked: statics of other files may own models
  return *found;
}

Weights pack(const engine::GgufFile& file, const CancelToken* cancel) {
  const std::size_t threads = usable_threads();
  if (threads == 1) return engine::read_decoder(file, {nullptr, 1, cancel});
  const WatchedPool watched{"load of a model", WatchedStep::EndsAt::kCheck};
  ThreadPool pool(threads - 1, {}, ThreadPriority::kNormal, watched);
  return engine::read_decoder(file, {&pool, threads, cancel});
}

// A hash can collide: a copy of other sizes is not shared.
bool same_sizes(const decoder::DecoderShape& a, const decoder::DecoderShape& b) {
  return a.layers == b.layers && a.width == b.width && a.vocabulary == b.vocabulary && a.hidden == b.hidden;
}

}  // namespace

Weights shared_decoder(const std::string& fingerprint, const engine::GgufFile& file, const engine::DecoderPlan& plan,
                       const CancelToken* cancel) {
  const auto find = [&]() -> Weights {
    std::erase_if(loaded().by_fingerprint, [](const auto& entry) { return entry.second.expired(); });
    const auto entry = loaded().by_fingerprint.find(fingerprint);
    Weights found = entry == loaded().by_fingerprint.end() ? nullptr : entry->second.lock();
    return found && same_sizes(found->shape, plan.shape) ? found : nullptr;
  };
  {
    std::lock_guard lock(loaded().mutex);
    if (Weights found = find()) return found;
  }
  Weights packed = pack(file, cancel);
  std::lock_guard lock(loaded().mutex);
  if (Weights found = find()) return found;  // another load was faster
  loaded().by_fingerprint[fingerprint] = packed;
  return packed;
}

}  // namespace lorekeep::lm
