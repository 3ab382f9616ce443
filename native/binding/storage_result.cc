#include "binding/storage_result.h"

#include <limits>

#include "binding/arguments.h"
#include "binding/error_translator.h"
#include "binding/layout.gen.h"
#include "binding/result_numbers.h"
#include "binding/value_conversion.h"

namespace lorekeep::binding {
namespace {

namespace head = layout::storage_result;
constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

void write_times(const store::PartTimes& times, std::span<double> numbers) {
  numbers[head::kFilterMs] = times.filter;
  numbers[head::kDenseMs] = times.dense;
  numbers[head::kLexicalMs] = times.lexical;
  numbers[head::kFusionMs] = times.fusion;
}

void write_plan(const store::Storage& storage, const store::StoragePlan& plan, std::span<double> numbers) {
  numbers[head::kDense] = plan.dense ? 1 : 0;
  numbers[head::kPath] = static_cast<double>(plan.dense_path);
  numbers[head::kMatched] = static_cast<double>(plan.matched.value_or(storage.size()));
  numbers[head::kVisited] = static_cast<double>(plan.dense_visited);
  numbers[head::kExact] = plan.dense_exact ? 1 : 0;
  numbers[head::kLexical] = plan.lexical ? 1 : 0;
  numbers[head::kTokens] = static_cast<double>(plan.lexical_tokens);
  numbers[head::kTerms] = static_cast<double>(plan.lexical_terms);
  numbers[head::kScored] = static_cast<double>(plan.lexical_scored);
  numbers[head::kScoreWeight] = plan.dense_weight.value_or(kAbsent);
  numbers[head::kFeedback] = plan.feedback.value_or(kAbsent);
  numbers[head::kFeedbackAdded] = static_cast<double>(plan.feedback_added);
}

/// Prefetches the hits' ids and texts, which are scattered in memory, so that the cache misses overlap.
void prefetch(const store::Storage& storage, std::span<const store::Hit> hits) noexcept {
#if defined(__GNUC__)
  for (const store::Hit& hit : hits) {
    const store::Place place = storage.place_of_row(hit.row);
    __builtin_prefetch(place.segment.id(place.row).data());
    __builtin_prefetch(place.segment.text(place.row).data());
  }
#endif
}

class Flattener {
 public:
  Flattener(Napi::Env env, const store::Storage& storage, double* numbers, std::size_t hits)
      : env_(env), storage_(storage), next_(numbers), rest_(Napi::Array::New(env, 2 * hits)) {}

  void add(const store::Hit& hit) {
    namespace at = layout::storage_hit;
    next_[at::kOrdinal] = hit.ordinal;
    next_[at::kScore] = hit.score;
    next_[at::kDistance] = or_absent(hit.distance);
    next_[at::kBm25Score] = or_absent(hit.bm25_score);
    next_[at::kDenseRank] = or_absent(hit.dense_rank);
    next_[at::kLexicalRank] = or_absent(hit.lexical_rank);
    next_[at::kDenseScore] = or_absent(hit.dense_score);
    next_[at::kLexicalScore] = or_absent(hit.lexical_score);
    next_[at::kRelevance] = hit.relevance;
    next_ += at::kNumbers;
    const store::Place place = storage_.place_of_row(hit.row);
    add_rest(to_js_text(env_, place.segment.id(place.row)));
    add_rest(to_js_text(env_, place.segment.text(place.row)));
    if (place.segment.metadata() != nullptr) add_fields(*place.segment.metadata(), place.row);
  }
  Napi::Array rest() const { return rest_; }

 private:
  template <class T>
  static double or_absent(const std::optional<T>& value) {
    return value ? static_cast<double>(*value) : kAbsent;
  }
  void add_rest(napi_value value) {
    if (napi_set_element(env_, rest_, length_++, value) != napi_ok) throw Napi::Error::New(env_);
  }

  void add_fields(const filter::Columns& columns, std::uint32_t record) {
    for (std::size_t field = 0; field < columns.schema().size(); ++field) {
      const auto value = columns.value(record, field);
      const double number = value ? as_number(*value) : kAbsent;
      *next_++ = number;
      if (number == number) continue;
      add_rest(value ? to_js_value(env_, *value) : env_.Undefined());
    }
  }
  /// Returns NaN for a value that is not a double.
  static double as_number(const filter::FieldValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
      return *whole < -kMaxExactInteger || *whole > kMaxExactInteger ? kAbsent : static_cast<double>(*whole);
    }
    if (const auto* number = std::get_if<double>(&value)) return *number;
    if (const auto* truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
    return kAbsent;
  }

  Napi::Env env_;
  const store::Storage& storage_;
  double* next_;
  Napi::Array rest_;
  std::uint32_t length_ = 0;
};

/// Returns the count of numbers per hit.
std::size_t hit_numbers(const store::Storage& storage) noexcept {
  return layout::storage_hit::kNumbers + (storage.metadata() == nullptr ? 0 : storage.metadata()->schema().size());
}

void write_head(const store::Storage& storage, const store::SearchResult& found, std::span<double> numbers) {
  numbers[head::kHits] = static_cast<double>(found.hits.size());
  write_plan(storage, found.plan, numbers);
  numbers[head::kVersion] = static_cast<double>(storage.version());
  numbers[head::kFloor] = found.floor.value_or(kAbsent);
  write_times(found.times, numbers);
}

/// Writes the numbers of the hits [begin, end). Returns the rest of them.
Napi::Array flatten_hits(Napi::Env env, const store::Storage& storage, std::span<const store::Hit> hits,
                         std::size_t begin, std::size_t end, std::span<double> numbers) {
  const auto part = hits.subspan(begin, end - begin);
  prefetch(storage, part);
  Flattener flattener(env, storage, numbers.data() + head::kNumbers + begin * hit_numbers(storage), part.size());
  for (const store::Hit& hit : part) flattener.add(hit);
  storage.check_files();
  return flattener.rest();
}

/// Maximum number of bytes of texts that are converted at once, in a small part of a millisecond; one text may have
/// more.
constexpr std::size_t kBytesAtOnce = 256 * 1024;

/// Returns where the part of [begin, end) ends that is converted at once.
std::size_t end_of_part(const store::Storage& storage, std::span<const store::Hit> hits, std::size_t begin,
                        std::size_t end) {
  std::size_t bytes = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const store::Place place = storage.place_of_row(hits[i].row);
    bytes += place.segment.text(place.row).size();
    if (bytes > kBytesAtOnce && i > begin) return i;
  }
  return end;
}

/// The hits of a search on their way to JavaScript. Holds the storage until it is released.
class HitReader {
 public:
  HitReader(std::shared_ptr<const store::Storage> storage, std::vector<store::Hit> hits)
      : storage_(std::move(storage)), hits_(std::move(hits)) {}

  /// See NativeHitReader in lib/boundary/native.ts.
  Napi::Value call(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      if (info.Length() == 0) {
        storage_.reset();
        hits_ = {};
        return info.Env().Undefined();
      }
      if (!storage_) fail(Code::kClosed, "hits: used after their release");
      const store::Storage& storage = *storage_;
      const std::span<double> numbers = result_argument(info[0], result_numbers(storage, hits_.size()));
      const auto end = integer_argument(info[2], "end", 0, hits_.size());
      const auto begin = integer_argument(info[1], "begin", 0, end);
      return flatten_hits(info.Env(), storage, hits_, begin, end_of_part(storage, hits_, begin, end), numbers);
    });
  }

 private:
  std::shared_ptr<const store::Storage> storage_;  // null: released
  std::vector<store::Hit> hits_;
};

}  // namespace

std::size_t result_numbers(const store::Storage& storage, std::size_t hits) noexcept {
  return head::kNumbers + hits * hit_numbers(storage);
}

bool converts_at_once(const store::Storage& storage, const store::SearchResult& found) {
  return end_of_part(storage, found.hits, 0, found.hits.size()) == found.hits.size();
}

Napi::Array flatten(Napi::Env env, const store::Storage& storage, const store::SearchResult& found,
                    std::span<double> numbers) {
  write_head(storage, found, numbers);
  return flatten_hits(env, storage, found.hits, 0, found.hits.size(), numbers);
}

Napi::Value readable_result(Napi::Env env, std::shared_ptr<const store::Storage> storage, store::SearchResult&& found) {
  const std::size_t count = result_numbers(*storage, found.hits.size());
  auto numbers = Napi::Float64Array::New(env, count);
  write_head(*storage, found, {numbers.Data(), count});
  auto reader = std::make_shared<HitReader>(std::move(storage), std::move(found.hits));
  Napi::Array pair = Napi::Array::New(env, 2);
  pair.Set(0u, numbers);
  pair.Set(1u, Napi::Function::New(
                   env, [reader](const Napi::CallbackInfo& info) { return reader->call(info); }, "readHits"));
  return pair;
}

}  // namespace lorekeep::binding
