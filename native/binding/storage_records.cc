// Reads records of a storage without a search: by id, by filter, by ordinal.
#include <algorithm>

#include "binding/arguments.h"
#include "binding/metadata_binding.h"
#include "binding/promise_task.h"
#include "binding/storage_binding.h"
#include "binding/storage_result.h"
#include "binding/text_index_binding.h"
#include "binding/vector_index_binding.h"
#include "store/distinct.h"

namespace lorekeep::binding {
namespace {

using Ordinals = std::vector<std::uint32_t>;

/// Reads ordinals of records of the storage.
Ordinals known_ordinals(const Napi::Value& value, const store::Storage& storage) {
  Ordinals ordinals = ordinals_argument(value);
  const auto known = [&storage](std::uint32_t ordinal) { return ordinal < storage.size(); };
  if (!std::all_of(ordinals.begin(), ordinals.end(), known)) {
    fail(Code::kInvalidArgument, "ordinals: the storage has " + std::to_string(storage.size()) + " records");
  }
  return ordinals;
}

Napi::Value to_js_ordinals(Napi::Env env, Ordinals&& ordinals) {
  return to_js_array<Napi::Uint32Array>(env, ordinals);
}

struct Matching {
  Ordinals ordinals;
  std::size_t count = 0;
};

/// Returns the matching records [begin, begin + limit), and how many there are. `filter`: null: all match.
Matching matching_records(const store::Storage& storage, const store::PreparedFilter* filter, std::size_t begin,
                          std::size_t limit, const CancelToken& cancel) {
  Matching found;
  if (filter == nullptr) {
    const std::size_t first = std::min(begin, storage.size());
    for (std::size_t i = first; i < storage.size() && i - first < limit; ++i) {
      found.ordinals.push_back(static_cast<std::uint32_t>(i));
    }
    found.count = storage.size();
    return found;
  }
  const auto matching = store::matching_rows(*filter, storage, &cancel);
  for (std::size_t part = 0; part < matching->parts(); ++part) {
    const std::uint32_t first = storage.parts()[part].first_row;
    matching->of(part).rows.for_each([&](std::uint32_t row) {
      if (found.count >= begin && found.ordinals.size() < limit) {
        found.ordinals.push_back(storage.ordinal_of(first + row));
      }
      ++found.count;
    });
  }
  return found;
}

}  // namespace

// find(ids, cancel): the ordinal of each id, -1 for an unknown one.
Napi::Value StorageBinding::find(const Napi::CallbackInfo& info) {
  return promise_task(
      info.Env(), {Lane::kQuick, cancel_argument(info[1]), this},
      [storage = pinned(), ids = strings_argument(info[0], "ids")](const TaskContext&) {
        return storage->checked([&] {
          std::vector<std::int32_t> ordinals;
          for (const std::string& id : ids) {
            const auto found = storage->find(id);
            ordinals.push_back(found ? static_cast<std::int32_t>(*found) : -1);
          }
          return ordinals;
        });
      },
      [](Napi::Env env, std::vector<std::int32_t>&& ordinals) { return to_js_array<Napi::Int32Array>(env, ordinals); });
}

// matching(filter, variables, begin, limit, cancel): ordinals and count.
Napi::Value StorageBinding::matching(const Napi::CallbackInfo& info) {
  const auto storage = pinned();
  std::shared_ptr<const store::PreparedFilter> filter;
  if (!info[0].IsUndefined()) {
    const auto compiled = unwrap_argument<FilterBinding>(info[0], "filter")->compiled();
    filter = std::make_shared<const store::PreparedFilter>(compiled->prepare(storage, variables_argument(info[1])));
  }
  const auto begin = integer_argument(info[2], "offset", 0, std::uint64_t{1} << 32);
  const auto limit = integer_argument(info[3], "limit", 0, std::uint64_t{1} << 32);
  return promise_task(
      info.Env(), {Lane::kQuick, cancel_argument(info[4]), this},
      [=](const TaskContext& task) { return matching_records(*storage, filter.get(), begin, limit, task.cancel); },
      [](Napi::Env env, Matching&& found) -> Napi::Value {
        Napi::Object result = Napi::Object::New(env);
        result.Set("count", static_cast<double>(found.count));
        result.Set("ordinals", to_js_ordinals(env, std::move(found.ordinals)));
        return result;
      });
}

// records(ordinals): numbers and a reader, as search() returns them.
Napi::Value StorageBinding::records(const Napi::CallbackInfo& info) {
  const auto storage = pinned();
  store::SearchResult found;
  for (const std::uint32_t ordinal : known_ordinals(info[0], *storage)) {
    store::Hit hit{};
    hit.ordinal = ordinal;
    hit.row = storage->row_of(ordinal);
    found.hits.push_back(hit);
  }
  return readable_result(info.Env(), storage, std::move(found));
}

// rows(ordinals, cancel): the embeddings.
Napi::Value StorageBinding::rows(const Napi::CallbackInfo& info) {
  const auto storage = pinned();
  return promise_task(
      info.Env(), {Lane::kQuick, cancel_argument(info[1]), this},
      [storage, ordinals = known_ordinals(info[0], *storage)](const TaskContext& task) {
        return storage->checked([&] {
          std::vector<float> rows;
          for (const std::uint32_t ordinal : ordinals) {
            task.cancel.check();
            const std::vector<float> row = storage->embedding(ordinal);
            rows.insert(rows.end(), row.begin(), row.end());
          }
          return rows;
        });
      },
      [](Napi::Env env, std::vector<float>&& rows) { return to_js_array<Napi::Float32Array>(env, rows); });
}

// distinct(ordinals, distance, most, cancel): positions of the records that are kept.
Napi::Value StorageBinding::distinct(const Napi::CallbackInfo& info) {
  const auto storage = pinned();
  const auto distance = static_cast<float>(info[1].ToNumber().DoubleValue());
  const auto most = integer_argument(info[2], "most", 0, std::uint64_t{1} << 32);
  return promise_task(
      info.Env(), {Lane::kQuick, cancel_argument(info[3]), this},
      [=, ordinals = known_ordinals(info[0], *storage)](const TaskContext& task) {
        return storage->checked([&] { return store::distinct(*storage, ordinals, distance, most, &task.cancel); });
      },
      to_js_ordinals);
}

// indexes(): [vector index, text index], which share the storage's memory.
Napi::Value StorageBinding::indexes(const Napi::CallbackInfo& info) {
  const auto storage = pinned();
  const store::StorageParts& parts = one_segment(*storage).parts();
  Napi::Array pair = Napi::Array::New(info.Env(), 2);
  pair.Set(0u, wrap_index(info.Env(), std::shared_ptr(parts.vectors)));
  pair.Set(1u, wrap_text_index(info.Env(), std::shared_ptr(parts.text_index)));
  return pair;
}

}  // namespace lorekeep::binding
