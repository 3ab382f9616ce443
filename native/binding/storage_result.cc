#include "binding/storage_result.h"

#include <limits>

#include "binding/value_conversion.h"

namespace lorekeep::binding {
namespace {

// The layout of the numbers; lib/storage-hits.ts has the same. First this head, then per hit kHitNumbers and one number
// per field. NaN: absent.
enum Head : std::size_t {
  kHeld,  // ns that the search held the JavaScript thread
  kHits,
  kDense,  // 1: the dense leg ran
  kPath,   // 1: graph
  kMatched,
  kVisited,
  kExact,
  kLexical,  // 1: the lexical leg ran
  kTokens,
  kTerms,
  kScored,
  kHeadNumbers,
};
constexpr std::size_t kHitNumbers = 6;  // ordinal, score, distance, bm25Score, denseRank, lexicalRank
constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

void write_plan(const store::Storage& storage, const store::SearchPlan& plan, std::span<double> numbers) {
  numbers[kDense] = plan.dense ? 1 : 0;
  numbers[kPath] = static_cast<double>(plan.dense_path);
  numbers[kMatched] = static_cast<double>(plan.matched.value_or(storage.size()));
  numbers[kVisited] = static_cast<double>(plan.dense_visited);
  numbers[kExact] = plan.dense_exact ? 1 : 0;
  numbers[kLexical] = plan.lexical ? 1 : 0;
  numbers[kTokens] = static_cast<double>(plan.lexical_tokens);
  numbers[kTerms] = static_cast<double>(plan.lexical_terms);
  numbers[kScored] = static_cast<double>(plan.lexical_scored);
}

/// Asks for what is about to be read: the texts lie anywhere in memory, and each would be waited for in its turn.
void prefetch(const store::Storage& storage, std::span<const store::Hit> hits) noexcept {
#if defined(__GNUC__)
  for (const store::Hit& hit : hits) {
    __builtin_prefetch(storage.id(hit.ordinal).data());
    __builtin_prefetch(storage.text(hit.ordinal).data());
  }
#endif
}

class Flattener {
 public:
  Flattener(Napi::Env env, const store::Storage& storage, double* numbers, std::size_t hits)
      : env_(env), storage_(storage), next_(numbers), rest_(Napi::Array::New(env, 2 * hits)) {}

  void add(const store::Hit& hit) {
    add_number(hit.ordinal);
    add_number(hit.score);
    add_optional(hit.distance);
    add_optional(hit.bm25_score);
    add_optional(hit.dense_rank);
    add_optional(hit.lexical_rank);
    add_rest(to_js_text(env_, storage_.id(hit.ordinal)));
    add_rest(to_js_text(env_, storage_.text(hit.ordinal)));
    if (storage_.metadata() != nullptr) add_fields(*storage_.metadata(), hit.ordinal);
  }
  Napi::Array rest() const { return rest_; }

 private:
  void add_number(double value) { *next_++ = value; }
  template <class T>
  void add_optional(const std::optional<T>& value) {
    add_number(value ? static_cast<double>(*value) : kAbsent);
  }
  void add_rest(napi_value value) {
    if (napi_set_element(env_, rest_, length_++, value) != napi_ok) throw Napi::Error::New(env_);
  }

  void add_fields(const filter::Columns& columns, std::uint32_t record) {
    for (std::size_t field = 0; field < columns.schema().size(); ++field) {
      const auto value = columns.value(record, field);
      const double number = value ? as_number(*value) : kAbsent;
      add_number(number);
      if (number == number) continue;
      add_rest(value ? to_js_value(env_, *value) : env_.Undefined());
    }
  }
  /// NaN for what no double holds.
  static double as_number(const filter::FieldValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
      return *whole < -kMostExactInteger || *whole > kMostExactInteger ? kAbsent : static_cast<double>(*whole);
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

}  // namespace

std::size_t result_numbers(const store::Storage& storage, std::size_t hits) noexcept {
  const std::size_t fields = storage.metadata() == nullptr ? 0 : storage.metadata()->schema().size();
  return kHeadNumbers + hits * (kHitNumbers + fields);
}

void write_held(std::span<double> numbers, SearchClock::duration held) noexcept {
  numbers[kHeld] = nanoseconds(held);
}

Napi::Array flatten(Napi::Env env, const store::Storage& storage, const store::SearchResult& found,
                    std::span<double> numbers) {
  prefetch(storage, found.hits);
  numbers[kHits] = static_cast<double>(found.hits.size());
  write_plan(storage, found.plan, numbers);
  Flattener flattener(env, storage, numbers.data() + kHeadNumbers, found.hits.size());
  for (const store::Hit& hit : found.hits) flattener.add(hit);
  return flattener.rest();
}

}  // namespace lorekeep::binding
