#include "binding/change_log_binding.h"

#include "binding/exports.h"

#include <string>
#include <utility>

#include "binding/arguments.h"
#include "binding/promise_task.h"
#include "binding/text_index_binding.h"
#include "binding/value_conversion.h"
#include "core/files/utf8_path.h"
#include "store/records_rewriter.h"
#include "text/sidecar_file.h"

namespace lorekeep::binding {
namespace {

std::shared_ptr<const filter::Schema> logged_schema(const Napi::Value& fields) {
  if (fields.IsUndefined()) return nullptr;
  return std::make_shared<const filter::Schema>(filter::Schema::parse(to_value(fields, "fields")));
}

constexpr std::uint64_t kMaxPosition = std::uint64_t{1} << 53;

Napi::Value number(Napi::Env env, std::uint64_t value) {
  return Napi::Number::New(env, static_cast<double>(value));
}

std::span<std::byte> bytes_argument(const Napi::Value& value, std::size_t least) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) {
    fail(Code::kInvalidArgument, "bytes: a Uint8Array is expected");
  }
  auto array = value.As<Napi::Uint8Array>();
  if (array.ByteLength() < least) fail(Code::kInvalidArgument, "bytes: is too short");
  return {reinterpret_cast<std::byte*>(array.Data()), array.ByteLength()};
}

store::FileIdentity identity_argument(const Napi::Value& value) {
  const Napi::Object given = object_argument(value, "identity");
  store::FileIdentity identity;
  identity.stamp.size = integer_argument(given.Get("size"), "size", 0, kMaxPosition);
  identity.checksum = fingerprint_argument(given.Get("checksum"));
  return identity;
}

Napi::Object to_js_identity(Napi::Env env, std::uint64_t size, std::uint64_t checksum) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("size", number(env, size));
  object.Set("checksum", fingerprint_text(checksum));
  return object;
}

Napi::Value to_js_frame(Napi::Env env, const store::LoggedFrame& frame) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("kind", frame.kind == store::FrameKind::kBatch ? "batch" : "merge");
  object.Set("version", number(env, frame.version));
  object.Set("time", static_cast<double>(frame.time));
  object.Set("begin", number(env, frame.begin));
  object.Set("end", number(env, frame.end));
  return object;
}

}  // namespace

ChangeLogBinding::Members ChangeLogBinding::members() {
  return {method<&ChangeLogBinding::facts>("facts"), method<&ChangeLogBinding::fold>("fold"),
          method<&ChangeLogBinding::load_words>("loadWords"), number<&store::ChangeLog::memory_bytes>("memoryBytes")};
}

// facts(): see NativeChangeLogFacts.
Napi::Value ChangeLogBinding::facts(const Napi::CallbackInfo& info) {
  const auto log = use();
  const Napi::Env env = info.Env();
  const store::ChangeLogHeader& header = log->header();
  Napi::Object object = Napi::Object::New(env);
  object.Set("id", fingerprint_text(header.id));
  object.Set("dimension", Napi::Number::New(env, header.dimension));
  object.Set("records", to_js_identity(env, header.records_size, header.records_checksum));
  object.Set("model", fingerprint_text(header.model));
  object.Set("baseVersion", binding::number(env, header.base_version));
  object.Set("version", binding::number(env, log->version()));
  object.Set("end", binding::number(env, log->end()));
  object.Set("frames", to_js_list(env, log->frames(), [&](const auto& frame) { return to_js_frame(env, frame); }));
  if (const auto& damage = log->damage()) {
    Napi::Object found = Napi::Object::New(env);
    found.Set("at", binding::number(env, damage->at));
    found.Set("reason", damage->reason);
    found.Set("torn", damage->torn);
    object.Set("damage", found);
  }
  if (const auto mark = log->mark()) {
    Napi::Object merge = to_js_identity(env, mark->files.records_size, mark->files.records_checksum);
    merge.Set("version", binding::number(env, mark->version));
    object.Set("merge", merge);
  }
  return object;
}

// fold(after, upTo, fields, cancel)
Napi::Value ChangeLogBinding::fold(const Napi::CallbackInfo& info) {
  const auto after = integer_argument(info[0], "after", 0, kMaxPosition);
  const auto up_to = integer_argument(info[1], "upTo", 0, kMaxPosition);
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[3]), this},
      [=, log = use(), schema = logged_schema(info[2])](const TaskContext& task) {
        return std::make_shared<store::LoggedChanges>(store::fold_changes(*log, after, up_to, schema, &task.cancel));
      },
      [](Napi::Env env, std::shared_ptr<store::LoggedChanges>&& changes) {
        const std::size_t bytes = changes->memory_bytes();
        return LoggedChangesBinding::wrap(env, std::move(changes), bytes);
      });
}

// loadWords(path, tokenizer, cancel): [index, version]
Napi::Value ChangeLogBinding::load_words(const Napi::CallbackInfo& info) {
  struct Words {
    std::shared_ptr<const text::TextIndex> index;
    std::uint64_t version;
  };
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[2]), this},
      [log = use(), path = path_argument(info[0]), tokenizer = tokenizer_argument(info[1])](const TaskContext& task) {
        const text::Sidecar saved = text::load_sidecar(path, {.work = task.work()});
        const auto version = log->version_with(saved.fingerprint);
        if (!version) fail_file(Code::kUnsupported, utf8_path(path), "is of other changes than the log's");
        if (saved.index->tokenizer() != tokenizer) {
          fail_file(Code::kUnsupported, utf8_path(path), "was made with another tokenizer");
        }
        return Words{saved.index, *version};
      },
      [](Napi::Env env, Words&& words) -> Napi::Value {
        Napi::Array pair = Napi::Array::New(env, 2);
        pair.Set(0u, wrap_text_index(env, std::move(words.index)));
        pair.Set(1u, binding::number(env, words.version));
        return pair;
      });
}

LoggedChangesBinding::Members LoggedChangesBinding::members() {
  return {method<&LoggedChangesBinding::facts>("facts"), method<&LoggedChangesBinding::texts>("texts"),
          method<&LoggedChangesBinding::removed_ids>("removedIds"), method<&LoggedChangesBinding::rewrite>("rewrite"),
          method<&LoggedChangesBinding::save_words>("saveWords")};
}

// facts(): { version, changed, removed }
Napi::Value LoggedChangesBinding::facts(const Napi::CallbackInfo& info) {
  const auto changes = use();
  Napi::Object object = Napi::Object::New(info.Env());
  object.Set("version", binding::number(info.Env(), changes->version));
  object.Set("changed", binding::number(info.Env(), changes->ids.size()));
  object.Set("removed", binding::number(info.Env(), changes->removed.size()));
  return object;
}

// removedIds(): string[]
Napi::Value LoggedChangesBinding::removed_ids(const Napi::CallbackInfo& info) {
  const auto changes = use();
  Napi::Array removed = Napi::Array::New(info.Env(), changes->removed.size());
  for (std::uint32_t i = 0; i < changes->removed.size(); ++i) {
    Napi::HandleScope scope(info.Env());
    removed.Set(i, to_js_text(info.Env(), changes->removed[i]));
  }
  return removed;
}

// texts(): { id, text }[] of the changed records
Napi::Value LoggedChangesBinding::texts(const Napi::CallbackInfo& info) {
  const auto changes = use();
  const Napi::Env env = info.Env();
  Napi::Array changed = Napi::Array::New(env, changes->ids.size());
  for (std::uint32_t i = 0; i < changes->ids.size(); ++i) {
    Napi::HandleScope scope(env);
    Napi::Object record = Napi::Object::New(env);
    record.Set("id", to_js_text(env, changes->ids[i]));
    record.Set("text", to_js_text(env, changes->texts[i]));
    changed.Set(i, record);
  }
  return changed;
}

// rewrite(source, identity, target, cancel): see records_rewriter.h.
Napi::Value LoggedChangesBinding::rewrite(const Napi::CallbackInfo& info) {
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[3]), this},
      [changes = use(), source = path_argument(info[0]), expected = identity_argument(info[1]),
       target = path_argument(info[2])](const TaskContext& task) {
        return store::rewrite_records(source, expected, *changes, target, &task.cancel);
      },
      [](Napi::Env env, store::RewrittenRecords&& written) -> Napi::Value {
        Napi::Object object = to_js_identity(env, written.size, written.checksum);
        object.Set("records", binding::number(env, written.records));
        return object;
      });
}

// saveWords(log, tokenizer, path, cancel): makes the text index of the texts and saves it for loadWords().
Napi::Value LoggedChangesBinding::save_words(const Napi::CallbackInfo& info) {
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[3]), this},
      [changes = use(), log = unwrap_argument<ChangeLogBinding>(info[0], "log")->use(),
       tokenizer = tokenizer_argument(info[1]), path = path_argument(info[2])](const TaskContext& task) {
        // One thread: searches and turns keep the others.
        const auto index = build_text(changes->texts, tokenizer, 1, task);
        text::save_sidecar(*index, path, log->digest(changes->version), &task.cancel);
        index->wipe();
      });
}

FileLockBinding::Members FileLockBinding::members() {
  return {};
}

// readChangeLog(path, from, version, cancel)
Napi::Value read_change_log(const Napi::CallbackInfo& info) {
  const auto from = integer_argument(info[1], "from", 0, kMaxPosition);
  const auto version = integer_argument(info[2], "version", 0, kMaxPosition);
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[3])},
      [=, path = path_argument(info[0])](const TaskContext& task) {
        return std::make_shared<store::ChangeLog>(store::ChangeLog::read(path, from, version, &task.cancel));
      },
      [](Napi::Env env, std::shared_ptr<store::ChangeLog>&& log) {
        const std::size_t bytes = log->memory_bytes();
        return ChangeLogBinding::wrap(env, std::move(log), bytes);
      });
}

// sealChanges(bytes, id): writes the checksums of a frame, or of a header without `id`.
void seal_changes(const Napi::CallbackInfo& info) {
  if (info[1].IsUndefined()) return store::seal_header(bytes_argument(info[0], sizeof(store::ChangeLogHeader)));
  store::seal_frame(bytes_argument(info[0], sizeof(store::ChangeFrame)), fingerprint_argument(info[1]));
}

// lockFile(path)
Napi::Value lock_file(const Napi::CallbackInfo& info) {
  return FileLockBinding::wrap(info.Env(), std::make_shared<FileLock>(path_argument(info[0])), 0);
}

// identifyFile(path, cancel): size and checksum of the content.
Napi::Value identify_file_content(const Napi::CallbackInfo& info) {
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[1])},
      [path = path_argument(info[0])](const TaskContext& task) { return store::identify_file(path, &task.cancel); },
      [](Napi::Env env, store::FileIdentity&& found) -> Napi::Value {
        return to_js_identity(env, found.stamp.size, found.checksum);
      });
}

// fileSizes(files, folder): numbers.
Napi::Value file_sizes(const Napi::CallbackInfo& info) {
  if (!info[0].IsArray()) fail(Code::kInvalidArgument, "files: an array of paths is expected");
  const auto given = info[0].As<Napi::Array>();
  std::vector<std::filesystem::path> files;
  for (std::uint32_t i = 0; i < given.Length(); ++i) files.push_back(path_argument(given.Get(i)));
  return promise_task(
      info.Env(), {Lane::kLong},
      [files = std::move(files), folder = info[1].IsUndefined() ? std::filesystem::path() : path_argument(info[1])](
          const TaskContext& task) { return store::file_sizes(files, folder, task.cancel); },
      [](Napi::Env env, std::vector<std::uint64_t>&& sizes) -> Napi::Value {
        Napi::Array numbers = Napi::Array::New(env, sizes.size());
        for (std::uint32_t i = 0; i < sizes.size(); ++i) numbers[i] = static_cast<double>(sizes[i]);
        return numbers;
      });
}

}  // namespace lorekeep::binding
