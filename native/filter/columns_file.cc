#include "filter/columns_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/values/bytes.h"
#include "core/values/error.h"

namespace lorekeep::filter {
namespace {

constexpr std::size_t kAlignment = 8;  // of every array
constexpr std::uint64_t kHasPresence = 1;

constexpr std::uint64_t padding_of(std::uint64_t size) {
  return (kAlignment - size % kAlignment) % kAlignment;
}

void write_text(ByteWriter& writer, std::string_view text) {
  writer.write(std::uint64_t{text.size()});
  writer.append(std::as_bytes(std::span(text)));
}

struct WriteDefault {
  ByteWriter& writer;
  void operator()(std::int64_t value) const { writer.write(value); }
  void operator()(double value) const { writer.write(value); }
  void operator()(bool value) const { writer.write(std::uint8_t{value}); }
  void operator()(const std::string& value) const { write_text(writer, value); }
  void operator()(const StringSet& value) const {
    writer.write(std::uint64_t{value.size()});
    for (const std::string& text : value) write_text(writer, text);
  }
};

class Writer {
 public:
  explicit Writer(const std::function<void(std::span<const std::byte>)>& write) : write_(write) {}

  void column(const Column& column) {
    number(column.present ? kHasPresence : 0);
    if (column.present) array(std::span(column.present->words()));
    std::visit(*this, column.data);
  }
  void operator()(const IntColumn& column) { array(column.span()); }
  void operator()(const FloatColumn& column) { array(column.span()); }
  void operator()(const BoolColumn& column) { array(std::span(column.words())); }
  void operator()(const StringColumn& column) {
    dictionary(column.dictionary);
    array(column.codes.span());
  }
  void operator()(const SetColumn& column) {
    dictionary(column.dictionary);
    array(column.row_ends.span());
    array(column.codes.span());
    array(column.code_ends.span());
    array(column.rows.span());
  }

 private:
  void dictionary(const Dictionary& dictionary) {
    array(dictionary.texts().ends());
    array(std::span(dictionary.texts().bytes()));
  }
  void number(std::uint64_t value) { write_(std::as_bytes(std::span(&value, 1))); }
  template <class T, std::size_t N>
  void array(std::span<T, N> values) {
    static constexpr std::array<std::byte, kAlignment> kPadding{};
    number(values.size_bytes());
    write_(std::as_bytes(values));
    write_(std::span(kPadding).first(static_cast<std::size_t>(padding_of(values.size_bytes()))));
  }

  const std::function<void(std::span<const std::byte>)>& write_;
};

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::size_t rows, const std::string& source,
         std::shared_ptr<const void> owner)
      : bytes_(bytes, source), rows_(rows), source_(source), owner_(std::move(owner)) {}

  Column column(const Field& field) {
    field_ = &field;
    Column column;
    const auto flags = bytes_.read<std::uint64_t>();
    require(flags <= kHasPresence, "has unknown flags");
    if (flags == kHasPresence) column.present = bits();
    column.data = data(field.type);
    return column;
  }
  bool done() const noexcept { return bytes_.remaining() == 0; }

 private:
  decltype(Column::data) data(FieldType type) {
    switch (type) {
      case FieldType::kInt: return sized<std::int64_t>(rows_);
      case FieldType::kFloat: {
        const auto values = sized<double>(rows_);
        require(std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }),
                "holds a number that is not finite");
        return values;
      }
      case FieldType::kBool: return bits();
      case FieldType::kString: {
        StringColumn column;
        column.dictionary = dictionary();
        column.codes = sized<std::uint32_t>(rows_);
        require_below(column.codes, column.dictionary.size());
        return column;
      }
      case FieldType::kStringSet: return set();
    }
    fail(Code::kInternal, "a field of no type");
  }

  SetColumn set() {
    SetColumn column;
    column.dictionary = dictionary();
    column.row_ends = sized<std::uint64_t>(rows_);
    column.codes = array<std::uint32_t>();
    require_ends(column.row_ends.span(), column.codes.size());
    require_lists(column.codes, column.row_ends, column.dictionary.size());
    column.code_ends = sized<std::uint64_t>(column.dictionary.size());
    column.rows = array<std::uint32_t>();
    require(column.rows.size() == column.codes.size(), "has two sizes");
    require_ends(column.code_ends.span(), column.rows.size());
    require_lists(column.rows, column.code_ends, rows_);
    return column;
  }

  Dictionary dictionary() {
    const auto ends = array<std::uint64_t>();
    const auto bytes = array<char>();
    require(ends.size() < Dictionary::kAbsent, "has too many texts");
    require_ends(ends.span(), bytes.size());
    TextArena texts({bytes.data(), bytes.size()}, ends.span(), owner_);
    for (std::size_t i = 1; i < texts.size(); ++i) require(texts[i - 1] < texts[i], "has texts that are out of order");
    return Dictionary(std::move(texts));
  }

  Bitmap bits() {
    const auto words = sized<std::uint64_t>((rows_ + 63) / 64);
    Bitmap bits(rows_);
    std::copy(words.begin(), words.end(), bits.words().begin());
    bits.clear_tail();
    return bits;
  }

  template <class T>
  Values<T> array() {
    const auto size = bytes_.read<std::uint64_t>();
    require(size % sizeof(T) == 0 && size <= bytes_.remaining(), "has an array of a broken size");
    const auto content = bytes_.take(size);
    bytes_.take(padding_of(size));
    return {std::span(reinterpret_cast<const T*>(content.data()), content.size() / sizeof(T)), owner_};
  }
  template <class T>
  Values<T> sized(std::size_t size) {
    auto values = array<T>();
    require(values.size() == size, "has another number of values");
    return values;
  }

  void require_ends(std::span<const std::uint64_t> ends, std::size_t size) const {
    require(std::is_sorted(ends.begin(), ends.end()) && (ends.empty() ? 0 : ends.back()) == size,
            "has ends that are out of order");
  }
  void require_below(const Values<std::uint32_t>& values, std::size_t bound) const {
    require(std::all_of(values.begin(), values.end(), [bound](std::uint32_t value) { return value < bound; }),
            "holds a number that is out of range");
  }
  /// Requires each list to ascend strictly.
  void require_lists(const Values<std::uint32_t>& values, const Values<std::uint64_t>& ends, std::size_t bound) const {
    require_below(values, bound);
    std::size_t at = 0;
    for (const std::uint64_t end : ends) {
      for (std::size_t i = at + 1; i < end; ++i) require(values[i - 1] < values[i], "has lists that are out of order");
      at = static_cast<std::size_t>(end);
    }
  }
  void require(bool right, const char* what) const {
    if (right) return;
    fail_file(Code::kCorrupt, source_, "the column of field " + quoted(field_->name) + " " + what);
  }

  ByteReader bytes_;
  std::size_t rows_;
  const std::string& source_;
  std::shared_ptr<const void> owner_;
  const Field* field_ = nullptr;
};

}  // namespace

std::vector<std::byte> schema_bytes(const Schema& schema) {
  ByteWriter writer;
  for (std::size_t i = 0; i < schema.size(); ++i) {
    const Field& field = schema[i];
    write_text(writer, field.name);
    writer.write(
        static_cast<std::uint8_t>(static_cast<unsigned>(field.type) | static_cast<unsigned>(field.format) << 4));
    writer.write(std::uint8_t{field.filterable});
    writer.write(std::uint8_t{field.default_value.has_value()});
    if (field.default_value) std::visit(WriteDefault{writer}, *field.default_value);
  }
  return {writer.bytes().begin(), writer.bytes().end()};
}

void write_columns(const Columns& columns, const std::function<void(std::span<const std::byte>)>& write) {
  Writer writer(write);
  for (std::size_t field = 0; field < columns.schema().size(); ++field) writer.column(columns[field]);
}

Columns read_columns(std::span<const std::byte> bytes, std::shared_ptr<const Schema> schema, std::size_t rows,
                     const std::string& source, std::shared_ptr<const void> owner) {
  Reader reader(bytes, rows, source, std::move(owner));
  std::vector<Column> columns;
  for (std::size_t field = 0; field < schema->size(); ++field) columns.push_back(reader.column((*schema)[field]));
  if (!reader.done()) fail_file(Code::kCorrupt, source, "bytes follow the last column");
  return Columns(std::move(schema), rows, std::move(columns));
}

}  // namespace lorekeep::filter
