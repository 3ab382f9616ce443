// Changes of a storage, its versions and its merges.
#include "binding/arguments.h"
#include "binding/buffers_binding.h"
#include "binding/change_log_binding.h"
#include "binding/metadata_binding.h"
#include "binding/promise_task.h"
#include "binding/storage_binding.h"
#include "binding/text_index_binding.h"
#include "binding/value_conversion.h"

namespace lorekeep::binding {
namespace {

/// Larger batches do not delay searches that wait for a thread.
constexpr std::size_t kQuickBytes = 64 * 1024;
/// Neither do batches that may read more: the parts that they merge, and the texts that they remove. It takes some 7 ms
/// for each MiB.
constexpr std::size_t kQuickRead = 4 * 1024 * 1024;

constexpr double kLargest = 9007199254740991;  // of exact integers

Napi::Value to_js_changed(Napi::Env env, store::Changed&& changed) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("version", static_cast<double>(changed.version));
  object.Set("added", static_cast<double>(changed.added));
  object.Set("replaced", static_cast<double>(changed.replaced));
  object.Set("removed", static_cast<double>(changed.removed));
  object.Set("size", static_cast<double>(changed.size));
  return object;
}

std::vector<std::string> strings_of(const TextArena& texts) {
  std::vector<std::string> strings;
  strings.reserve(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) strings.emplace_back(texts[i]);
  return strings;
}

}  // namespace

// update(ids, texts, rows, metadata, removed, added, upsert, ifVersion, cancel). Takes the buffers.
Napi::Value StorageBinding::update(const Napi::CallbackInfo& info) {
  struct Input {
    store::Changes changes;
    TextArena removed;
    std::shared_ptr<filter::ColumnsBuilder> metadata;
  };
  auto input = std::make_shared<Input>();
  const auto live = use();
  input->changes.ids = unwrap_argument<TextArenaBinding>(info[0], "ids")->take();
  input->changes.texts = unwrap_argument<TextArenaBinding>(info[1], "texts")->take();
  input->changes.rows = unwrap_argument<RowBufferBinding>(info[2], "rows")->take();
  if (!info[3].IsUndefined()) input->metadata = unwrap_argument<MetadataBufferBinding>(info[3], "metadata")->take();
  input->removed = unwrap_argument<TextArenaBinding>(info[4], "remove")->take();
  input->changes.added = integer_argument(info[5], "added", 0, input->changes.ids.size());
  input->changes.upsert = info[6].ToBoolean().Value();
  if (!info[7].IsUndefined()) {
    input->changes.if_version = integer_argument(info[7], "ifVersion", 0, static_cast<std::uint64_t>(kLargest));
  }
  const bool removes =
      input->removed.size() > 0 || input->changes.upsert || input->changes.added < input->changes.ids.size();
  const bool quick = input->changes.texts.text_bytes() + input->removed.text_bytes() <= kQuickBytes &&
                     live->read_bytes(removes) <= kQuickRead;
  return promise_task(
      info.Env(), {quick ? Lane::kQuick : Lane::kLong, cancel_argument(info[8]), this},
      [live, input](const TaskContext& task) {
        if (input->metadata) {
          input->changes.metadata = std::make_shared<const filter::Columns>(std::move(*input->metadata).build());
        }
        input->changes.removed = strings_of(input->removed);
        return live->update(std::move(input->changes), task.work());
      },
      to_js_changed);
}

// setTime(ms)
Napi::Value StorageBinding::set_time(const Napi::CallbackInfo& info) {
  use()->set_time(
      static_cast<std::int64_t>(integer_argument(info[0], "time", 0, static_cast<std::uint64_t>(kLargest))));
  return info.Env().Undefined();
}

// applyLogged(changes, version, time, words, cancel). Consumes the changes.
Napi::Value StorageBinding::apply_logged(const Napi::CallbackInfo& info) {
  const auto live = use();
  const auto logged = unwrap_argument<LoggedChangesBinding>(info[0], "changes")->surrender(info.Env());
  const auto version = integer_argument(info[1], "version", 0, static_cast<std::uint64_t>(kLargest));
  std::optional<std::int64_t> time;
  if (!info[2].IsUndefined()) {
    time = static_cast<std::int64_t>(integer_argument(info[2], "time", 0, static_cast<std::uint64_t>(kLargest)));
  }
  std::shared_ptr<const text::TextIndex> words;
  if (!info[3].IsUndefined()) words = unwrap_argument<TextIndexBinding>(info[3], "words")->use();
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[4]), this},
      [live, logged, version, time, words](const TaskContext& task) {
        store::Changes changes;
        changes.ids = std::move(logged->ids);
        changes.texts = std::move(logged->texts);
        changes.rows = std::move(logged->vectors);
        changes.metadata = logged->metadata;
        changes.words = words;
        changes.removed = strings_of(logged->removed);
        return live->apply(std::move(changes), version, task.work(), time);
      },
      to_js_changed);
}

// adopt(later)
Napi::Value StorageBinding::adopt(const Napi::CallbackInfo& info) {
  use()->adopt(*unwrap_argument<StorageBinding>(info[0], "later")->use());
  return info.Env().Undefined();
}

// forget(ids, missingIsFine, cancel).
Napi::Value StorageBinding::forget(const Napi::CallbackInfo& info) {
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[2]), this},
      [live = use(), ids = strings_argument(info[0], "ids"), missing = info[1].ToBoolean().Value()](
          const TaskContext& task) { return live->forget(ids, missing, task.work()); },
      to_js_changed);
}

// forgetFormer(ids, cancel).
Napi::Value StorageBinding::forget_former(const Napi::CallbackInfo& info) {
  return promise_task(info.Env(), {Lane::kLong, cancel_argument(info[1]), this},
                      [live = use(), ids = strings_argument(info[0], "ids")](const TaskContext& task) {
                        live->forget_former(ids, task.work());
                      });
}

// merge(all, threads, cancel): whether there was something to merge.
Napi::Value StorageBinding::merge(const Napi::CallbackInfo& info) {
  const auto threads = integer_argument(info[1], "threads", 0, 1024);
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[2]), this},
      [live = use(), threads, all = info[0].ToBoolean().Value()](const TaskContext& task) {
        return live->merge(all, task.work(threads));
      },
      [](Napi::Env env, bool&& merged) -> Napi::Value { return Napi::Boolean::New(env, merged); });
}

Napi::Value StorageBinding::merging(const Napi::CallbackInfo& info) {
  const store::MergingFacts facts = peek().merging();
  Napi::Object object = Napi::Object::New(info.Env());
  object.Set("due", facts.due);
  object.Set("parts", static_cast<double>(facts.parts));
  object.Set("deletedShare", facts.removed_share);
  object.Set("changedShare", facts.changed_share);
  return object;
}

// pin(version): a storage of this version, undefined for the newest, that cannot be changed.
Napi::Value StorageBinding::pin(const Napi::CallbackInfo& info) {
  const auto live = use();
  const auto version = info[0].IsUndefined()
                           ? live->current()
                           : live->at(integer_argument(info[0], "version", 0, static_cast<std::uint64_t>(kLargest)));
  auto pinned = wrap(info.Env(), std::make_shared<store::LiveStorage>(version, true), 0);
  Unwrap(pinned.As<Napi::Object>())->times_ = times_;
  return pinned;
}

// release(): drops a pinned version without waiting for its calls, which keep it.
Napi::Value StorageBinding::release(const Napi::CallbackInfo& info) {
  if (!closed()) drop();
  return info.Env().Undefined();
}

Napi::Value StorageBinding::versions(const Napi::CallbackInfo& info) {
  return to_js_list(info.Env(), peek().versions(), [&](const store::VersionFacts& facts) {
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("version", static_cast<double>(facts.version));
    object.Set("time", static_cast<double>(facts.time_ms));
    object.Set("size", static_cast<double>(facts.size));
    return object;
  });
}

// keep(count, bytes, age).
Napi::Value StorageBinding::keep(const Napi::CallbackInfo& info) {
  const auto most = static_cast<std::uint64_t>(kLargest);
  store::VersionLimits limits;
  limits.count = integer_argument(info[0], "count", 0, most);
  limits.bytes = integer_argument(info[1], "bytes", 0, most);
  limits.age_ms = static_cast<std::int64_t>(integer_argument(info[2], "age", 0, most));
  use()->keep(limits);
  return info.Env().Undefined();
}

Napi::Value StorageBinding::size(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(peek().current()->size()));
}

Napi::Value StorageBinding::version(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(peek().current()->version()));
}

}  // namespace lorekeep::binding
