#include "filter/columns_builder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/values/error.h"
#include "core/values/seeded_hash.h"
#include "core/values/text_table.h"

namespace lorekeep::filter {
namespace {

/// Numbers texts in order of arrival; finish() renumbers them in byte order.
class DraftDictionary {
 public:
  std::uint32_t code(std::string_view text) {
    if (tables_.empty()) tables_.resize(1 << kTableBits);
    TextTable& table = tables_[seeded_hash(text) >> (64 - kTableBits)];
    const auto found = table.find(texts_, text);
    if (found) return static_cast<std::uint32_t>(*found);
    if (texts_.size() >= kMax) fail(Code::kUnsupported, "a field has more than 2^32 - 2 distinct texts");
    texts_.append(text);
    table.enter(texts_, texts_.size() - 1);
    return static_cast<std::uint32_t>(texts_.size() - 1);
  }

  /// Returns the dictionary and replaces the codes in `codes` by its codes.
  Dictionary finish(std::vector<std::uint32_t>& codes) {
    tables_ = {};
    std::vector<std::uint32_t> order(texts_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [this](auto a, auto b) { return texts_[a] < texts_[b]; });
    std::vector<std::uint32_t> renumbered(order.size());
    TextArena sorted;
    sorted.reserve(texts_.text_bytes());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      renumbered[order[i]] = i;
      sorted.append(texts_[order[i]]);
    }
    texts_ = {};
    sorted.shrink_to_fit();
    for (std::uint32_t& code : codes) code = renumbered[code];
    return Dictionary(std::move(sorted));
  }

 private:
  static constexpr std::size_t kMax = Dictionary::kAbsent - 1;  // limit of the table

  // Several small tables: the growth of a large one would hold the event loop for long.
  static constexpr int kTableBits = 4;

  TextArena texts_;
  std::vector<TextTable> tables_;
};

/// Sorts and deduplicates each row's codes, then inverts the rows.
SetColumn make_set_column(Dictionary dictionary, std::vector<std::uint32_t> codes,
                          std::vector<std::uint64_t> row_ends) {
  std::size_t kept = 0;
  std::size_t begin = 0;
  for (std::uint64_t& row_end : row_ends) {
    const auto first = codes.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = codes.begin() + static_cast<std::ptrdiff_t>(row_end);
    std::sort(first, last);
    const auto end = std::unique(first, last);
    begin = static_cast<std::size_t>(row_end);
    kept = static_cast<std::size_t>(std::copy(first, end, codes.begin() + static_cast<std::ptrdiff_t>(kept)) -
                                    codes.begin());
    row_end = kept;
  }
  codes.resize(kept);
  codes.shrink_to_fit();

  std::vector<std::uint64_t> next(dictionary.size() + std::size_t{1}, 0);
  for (const std::uint32_t code : codes) ++next[code + std::size_t{1}];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::uint64_t> code_ends(next.begin() + 1, next.end());
  std::vector<std::uint32_t> rows(kept);
  for (std::size_t row = 0, at = 0; row < row_ends.size(); ++row) {
    for (; at < row_ends[row]; ++at) rows[next[codes[at]]++] = static_cast<std::uint32_t>(row);
  }
  SetColumn column;
  column.dictionary = std::move(dictionary);
  column.row_ends = std::move(row_ends);
  column.codes = std::move(codes);
  column.code_ends = std::move(code_ends);
  column.rows = std::move(rows);
  return column;
}

/// A growing bitmap.
class DraftBits {
 public:
  void push(bool value) {
    if (size_ % 64 == 0) words_.push_back(0);
    words_.back() |= std::uint64_t{value} << (size_ % 64);
    ++size_;
    all_ = all_ && value;
  }
  bool all() const noexcept { return all_; }
  Bitmap finish() {
    Bitmap bits(size_);
    bits.words() = std::move(words_);
    return bits;
  }

 private:
  std::size_t size_ = 0;
  bool all_ = true;
  std::vector<std::uint64_t> words_;
};

}  // namespace

// Only the members of the field's type are used. `given`: the record in progress has a value, already appended.
struct ColumnsBuilder::Draft {
  bool given = false;
  DraftBits present;
  std::vector<std::int64_t> ints;
  std::vector<double> floats;
  DraftBits flags;
  DraftDictionary dictionary;
  std::vector<std::uint32_t> codes;
  std::vector<std::uint64_t> row_ends;

  void append_absent(FieldType type) {
    switch (type) {
      case FieldType::kInt: ints.push_back(0); break;
      case FieldType::kFloat: floats.push_back(0); break;
      case FieldType::kString: codes.push_back(dictionary.code("")); break;
      case FieldType::kBool: flags.push(false); break;
      case FieldType::kStringSet: row_ends.push_back(codes.size()); break;
    }
  }

  Column finish(FieldType type) {
    Column column;
    switch (type) {
      case FieldType::kInt: column.data = IntColumn(std::move(ints)); break;
      case FieldType::kFloat: column.data = FloatColumn(std::move(floats)); break;
      case FieldType::kBool: column.data = flags.finish(); break;
      case FieldType::kString: {
        Dictionary texts = dictionary.finish(codes);
        column.data = StringColumn{std::move(texts), std::move(codes)};
        break;
      }
      case FieldType::kStringSet: {
        Dictionary texts = dictionary.finish(codes);
        column.data = make_set_column(std::move(texts), std::move(codes), std::move(row_ends));
        break;
      }
    }
    if (!present.all()) column.present = present.finish();
    return column;
  }
};

ColumnsBuilder::ColumnsBuilder(std::shared_ptr<const Schema> schema)
    : schema_(std::move(schema)), drafts_(schema_->size()) {}

ColumnsBuilder::~ColumnsBuilder() = default;

void ColumnsBuilder::begin_record(std::string_view name) {
  end_record();
  if (records_ == Dictionary::kAbsent) fail(Code::kUnsupported, "more than 2^32 - 1 records");
  ++records_;
  record_name_ = name;
}

void ColumnsBuilder::end_record() {
  if (records_ == 0) return;
  for (std::size_t field = 0; field < drafts_.size(); ++field) {
    Draft& draft = drafts_[field];
    const Field& described = (*schema_)[field];
    if (!draft.given && described.default_value) set(field, *described.default_value);
    if (!draft.given) draft.append_absent(described.type);
    draft.present.push(draft.given);
    draft.given = false;
  }
}

template <class Describe>
ColumnsBuilder::Draft& ColumnsBuilder::draft(std::size_t field, FieldType given, Describe found) {
  if (records_ == 0 || field >= drafts_.size()) fail(Code::kInternal, "a value outside of any record or field");
  if ((*schema_)[field].type != given) refuse(field, std::string(type_name((*schema_)[field].type)), found());
  Draft& draft = drafts_[field];
  if (draft.given) refuse(field, "one value", "two");
  draft.given = true;
  return draft;
}

void ColumnsBuilder::refuse(std::size_t field, const std::string& expected, const std::string& found) const {
  const std::string& name = (*schema_)[field].name;
  fail(Code::kInvalidArgument,
       "record " + std::to_string(records_ - 1) + " (" + quoted(record_name_) + "): field " + quoted(name) +
           ": expected " + expected + ", found " + found,
       {{"record", static_cast<std::int64_t>(records_ - 1)},
        {"id", record_name_},
        {"field", name},
        {"expected", expected},
        {"found", found}});
}

void ColumnsBuilder::set_int(std::size_t field, std::int64_t value) {
  if (field < drafts_.size() && (*schema_)[field].type == FieldType::kFloat) {
    set_float(field, static_cast<double>(value));
  } else {
    draft(field, FieldType::kInt, [&] { return describe(value); }).ints.push_back(value);
  }
}

void ColumnsBuilder::set_float(std::size_t field, double value) {
  Draft& target = draft(field, FieldType::kFloat, [&] { return describe(value); });
  if (!std::isfinite(value)) refuse(field, "a finite number", describe(value));
  target.floats.push_back(value);
}

void ColumnsBuilder::set_string(std::size_t field, std::string_view value) {
  Draft& target = draft(field, FieldType::kString, [&] { return quoted(value); });
  target.codes.push_back(target.dictionary.code(value));
}

void ColumnsBuilder::set_bool(std::size_t field, bool value) {
  draft(field, FieldType::kBool, [&] { return describe(value); }).flags.push(value);
}

void ColumnsBuilder::set_strings(std::size_t field, std::span<const std::string_view> values) {
  Draft& target = draft(field, FieldType::kStringSet, [] { return std::string("an array of strings"); });
  for (const std::string_view value : values) target.codes.push_back(target.dictionary.code(value));
  target.row_ends.push_back(target.codes.size());
}

void ColumnsBuilder::set(std::size_t field, const Value& value) {
  if (field >= drafts_.size()) fail(Code::kInternal, "no such field");
  const auto coerced = coerce(value, (*schema_)[field]);
  if (!coerced) refuse(field, std::string(expected_values((*schema_)[field])), describe(value));
  set(field, *coerced);
}

void ColumnsBuilder::set(std::size_t field, const FieldValue& value) {
  switch (static_cast<FieldType>(value.index())) {
    case FieldType::kInt: return set_int(field, std::get<std::int64_t>(value));
    case FieldType::kFloat: return set_float(field, std::get<double>(value));
    case FieldType::kString: return set_string(field, std::get<std::string>(value));
    case FieldType::kBool: return set_bool(field, std::get<bool>(value));
    case FieldType::kStringSet: {
      const StringSet& set = std::get<StringSet>(value);
      return set_strings(field, std::vector<std::string_view>(set.begin(), set.end()));
    }
  }
}

Columns ColumnsBuilder::build() && {
  end_record();
  std::vector<Column> columns;
  for (std::size_t field = 0; field < drafts_.size(); ++field) {
    columns.push_back(drafts_[field].finish((*schema_)[field].type));
    drafts_[field] = Draft{};  // frees its memory before the next column allocates
  }
  return Columns(schema_, records_, std::move(columns));
}

}  // namespace lorekeep::filter
