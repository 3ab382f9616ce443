#include "filter/evaluation.h"

#include <algorithm>
#include <utility>

#include "core/values/error.h"
#include "filter/interval.h"
#include "filter/interval_scan.h"
#include "filter/row_scan.h"

namespace lorekeep::filter {
namespace {

// Lists of integers whose range is at most this are looked up in a bit table, which fits the first-level cache.
constexpr std::uint64_t kMaxTabled = 65'536;

/// Calls visit(op) with a function object op(a, b) for the comparison.
template <class Visit>
Bitmap with_operator(Comparison comparison, Visit visit) {
  switch (comparison) {
    case Comparison::kEqual: return visit([](const auto& a, const auto& b) { return a == b; });
    case Comparison::kNotEqual: return visit([](const auto& a, const auto& b) { return a != b; });
    case Comparison::kLess: return visit([](const auto& a, const auto& b) { return a < b; });
    case Comparison::kLessOrEqual: return visit([](const auto& a, const auto& b) { return a <= b; });
    case Comparison::kGreater: return visit([](const auto& a, const auto& b) { return a > b; });
    case Comparison::kGreaterOrEqual: return visit([](const auto& a, const auto& b) { return a >= b; });
  }
  fail(Code::kInternal, "unknown comparison");
}

/// Returns the ranks of the texts of both dictionaries in one common order; equal texts have equal ranks.
std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>> common_ranks(const Dictionary& a,
                                                                               const Dictionary& b) {
  std::vector<std::uint32_t> ranks_a(a.size());
  std::vector<std::uint32_t> ranks_b(b.size());
  std::uint32_t i = 0;
  std::uint32_t j = 0;
  for (std::uint32_t rank = 0; i < a.size() || j < b.size(); ++rank) {
    const bool take_a = j == b.size() || (i < a.size() && a[i] <= b[j]);
    const bool take_b = i == a.size() || (j < b.size() && b[j] <= a[i]);
    if (take_a) ranks_a[i++] = rank;
    if (take_b) ranks_b[j++] = rank;
  }
  return {std::move(ranks_a), std::move(ranks_b)};
}

class Evaluator {
 public:
  Evaluator(const BoundPredicate& predicate, const Columns& columns, const CancelToken* cancel)
      : predicate_(predicate), columns_(columns), rows_(columns.size()), cancel_(cancel) {}

  Bitmap evaluate(const Node& node) const {
    switch (node.kind) {
      case Node::Kind::kAnd: return all_of(node);
      case Node::Kind::kOr: return any_of(node);
      case Node::Kind::kNot: {
        Bitmap result = evaluate(child(node, 0));
        result.complement();
        return result;
      }
      case Node::Kind::kCompare: return present(node, compare(node));
      case Node::Kind::kIn: return present(node, contains(node));
      case Node::Kind::kStartsWith: return present(node, starts_with(node));
      case Node::Kind::kExists: return columns_[node.left.index].present.value_or(Bitmap(rows_, true));
    }
    fail(Code::kInternal, "unknown operator");
  }

 private:
  const Node& child(const Node& node, std::size_t index) const { return predicate_.nodes()[node.children[index]]; }

  Bitmap any_of(const Node& node) const {
    Bitmap result(rows_);
    for (std::size_t i = 0; i < node.children.size(); ++i) result.unite(evaluate(child(node, i)));
    return result;
  }

  Bitmap all_of(const Node& node) const {
    std::optional<Bitmap> result;
    std::vector<bool> done(node.children.size());
    for (std::size_t i = 0; i < done.size(); ++i) {
      if (done[i]) continue;
      Bitmap one = narrowed(node, i, done);
      if (result) {
        result->intersect(one);
      } else {
        result = std::move(one);
      }
    }
    return result ? std::move(*result) : Bitmap(rows_, true);
  }

  /// Evaluates a child together with later children that compare the same field with a constant, so that a range takes
  /// one pass over the values, not two.
  Bitmap narrowed(const Node& node, std::size_t first, std::vector<bool>& done) const {
    const Node& one = child(node, first);
    if (!compares_constant(one)) return evaluate(one);
    const auto scan = [&](const auto& column) {
      if constexpr (requires { interval(one.comparison, column, scalar(one.right)); }) {
        auto range = interval(one.comparison, column, scalar(one.right));
        for (std::size_t i = first + 1; i < done.size() && !range.outside; ++i) {
          const Node& other = child(node, i);
          if (done[i] || !compares_constant(other) || other.left.index != one.left.index) continue;
          const auto more = interval(other.comparison, column, scalar(other.right));
          if (more.outside) continue;
          range.low = std::max(range.low, more.low);
          range.high = std::min(range.high, more.high);
          done[i] = true;
        }
        return present(one, scan_interval(range, column));
      } else {
        return evaluate(one);
      }
    };
    return std::visit(scan, columns_[one.left.index].data);
  }

  bool compares_constant(const Node& node) const noexcept {
    return node.kind == Node::Kind::kCompare && node.right.kind != Operand::Kind::kField;
  }

  /// Removes the records that lack a field of the operator: it is false for them.
  Bitmap present(const Node& node, Bitmap result) const {
    for (const Operand& operand : {node.left, node.right}) {
      if (operand.kind != Operand::Kind::kField) continue;
      const auto& there = columns_[operand.index].present;
      if (there) result.intersect(*there);
    }
    return result;
  }

  const Scalar& scalar(const Operand& operand) const { return std::get<Scalar>(predicate_.constant(operand.index)); }

  // -- comparisons

  Bitmap compare(const Node& node) const {
    const auto& left = columns_[node.left.index].data;
    if (node.right.kind == Operand::Kind::kField) {
      return with_operator(node.comparison, [&](auto op) {
        return std::visit([&](const auto& a, const auto& b) { return compare_fields(op, a, b); }, left,
                          columns_[node.right.index].data);
      });
    }
    return std::visit([&](const auto& column) { return compare_constant(node.comparison, column, scalar(node.right)); },
                      left);
  }

  template <class T>
  Bitmap scan_interval(const Interval<std::int64_t>& interval, const Values<T>& column) const {
    if (interval.low > interval.high) return Bitmap(rows_, interval.outside);
    const auto low = static_cast<std::uint64_t>(interval.low);
    const std::uint64_t length = static_cast<std::uint64_t>(interval.high) - low;
    const IntervalScan<T> scan = interval_scan<T>();
    Bitmap result(rows_);
    for (std::size_t begin = 0; begin < rows_; begin += kRowsPerPoll) {
      if (cancel_ != nullptr) cancel_->check();
      scan(column.data() + begin, std::min(kRowsPerPoll, rows_ - begin), low, length,
           result.words().data() + begin / 64);
    }
    if (interval.outside) result.complement();
    return result;
  }

  Bitmap scan_interval(const Interval<double>& interval, const FloatColumn& column) const {
    Bitmap result = scan_rows(rows_, cancel_, [values = column.data(), interval](std::size_t row) {
      return static_cast<bool>((values[row] >= interval.low) & (values[row] <= interval.high));
    });
    if (interval.outside) result.complement();
    return result;
  }

  Bitmap scan_interval(const Interval<std::int64_t>& interval, const StringColumn& column) const {
    return scan_interval(interval, column.codes);
  }

  static Interval<std::int64_t> interval(Comparison comparison, const IntColumn&, const Scalar& constant) {
    return int_interval(comparison, constant);
  }
  static Interval<double> interval(Comparison comparison, const FloatColumn&, const Scalar& constant) {
    return float_interval(comparison, constant);
  }
  static Interval<std::int64_t> interval(Comparison comparison, const StringColumn& column, const Scalar& constant) {
    const std::string& text = std::get<std::string>(constant);
    const std::uint32_t lower = column.dictionary.lower_bound(text);
    const bool found = lower < column.dictionary.size() && column.dictionary[lower] == text;
    return code_interval(comparison, lower, lower + (found ? 1 : 0));
  }

  template <class Column>
  Bitmap compare_constant(Comparison comparison, const Column& column, const Scalar& constant) const {
    return scan_interval(interval(comparison, column, constant), column);
  }
  Bitmap compare_constant(Comparison comparison, const BoolColumn& column, const Scalar& constant) const {
    Bitmap result = column;
    if (std::get<bool>(constant) != (comparison == Comparison::kEqual)) result.complement();
    return result;
  }
  Bitmap compare_constant(Comparison, const SetColumn&, const Scalar&) const {
    fail(Code::kInternal, "a set was compared");
  }

  template <class Op, class A, class B>
  Bitmap compare_fields(Op op, const A& a, const B& b) const {
    if constexpr (std::is_same_v<A, B> && (std::is_same_v<A, IntColumn> || std::is_same_v<A, FloatColumn>)) {
      return scan_rows(rows_, cancel_, [&](std::size_t row) { return op(a[row], b[row]); });
    } else if constexpr (std::is_same_v<A, IntColumn> && std::is_same_v<B, FloatColumn>) {
      return scan_rows(rows_, cancel_, [&](std::size_t row) { return op(filter::compare(a[row], b[row]), 0); });
    } else if constexpr (std::is_same_v<A, FloatColumn> && std::is_same_v<B, IntColumn>) {
      return scan_rows(rows_, cancel_, [&](std::size_t row) { return op(0, filter::compare(b[row], a[row])); });
    } else if constexpr (std::is_same_v<A, StringColumn> && std::is_same_v<B, StringColumn>) {
      const auto ranks = common_ranks(a.dictionary, b.dictionary);
      return scan_rows(rows_, cancel_,
                       [&](std::size_t row) { return op(ranks.first[a.codes[row]], ranks.second[b.codes[row]]); });
    } else if constexpr (std::is_same_v<A, BoolColumn> && std::is_same_v<B, BoolColumn>) {
      return scan_rows(rows_, cancel_, [&](std::size_t row) { return op(a.test(row), b.test(row)); });
    } else {
      fail(Code::kInternal, "fields of different types were compared");
    }
  }

  Bitmap starts_with(const Node& node) const {
    const StringColumn& column = std::get<StringColumn>(columns_[node.left.index].data);
    const auto [first, end] = column.dictionary.starting_with(std::get<std::string>(scalar(node.right)));
    return scan_interval({std::int64_t{first}, std::int64_t{end} - 1}, column);
  }

  // -- in

  Bitmap contains(const Node& node) const {
    if (node.right.kind == Operand::Kind::kField) {
      const SetColumn& haystack = std::get<SetColumn>(columns_[node.right.index].data);
      if (node.left.kind == Operand::Kind::kField) {
        return field_in_set(std::get<StringColumn>(columns_[node.left.index].data), haystack);
      }
      return constant_in_set(std::get<std::string>(scalar(node.left)), haystack);
    }
    const ScalarList& list = std::get<ScalarList>(predicate_.constant(node.right.index));
    return std::visit([&](const auto& column) { return in_list(column, list); }, columns_[node.left.index].data);
  }

  Bitmap constant_in_set(const std::string& needle, const SetColumn& haystack) const {
    Bitmap result(rows_);
    if (const auto code = haystack.dictionary.find(needle)) {
      for (const std::uint32_t row : haystack.rows_with(*code)) result.set(row);
    }
    return result;
  }

  Bitmap field_in_set(const StringColumn& needles, const SetColumn& haystack) const {
    const std::vector<std::uint32_t> codes = needles.dictionary.codes_in(haystack.dictionary);
    return scan_rows(rows_, cancel_, [&](std::size_t row) {
      const auto set = haystack.codes_of(row);
      return std::binary_search(set.begin(), set.end(), codes[needles.codes[row]]);
    });
  }

  template <class T>
  Bitmap scan_members(const Values<T>& column, std::vector<T> members) const {
    if (members.empty()) return Bitmap(rows_);
    std::sort(members.begin(), members.end());
    return scan_rows(rows_, cancel_, [&](std::size_t row) {
      // Branchless binary search for the last member that is not above the value, or the first member.
      const T* at = members.data();
      for (std::size_t left = members.size(); left > 1; left -= left / 2)
        at += at[left / 2] <= column[row] ? left / 2 : 0;
      return *at == column[row];
    });
  }

  Bitmap in_list(const IntColumn& column, const ScalarList& list) const {
    std::vector<std::int64_t> members;
    for (const Scalar& element : list) {
      if (const auto value = exact_int(element)) members.push_back(*value);
    }
    if (members.empty()) return Bitmap(rows_);
    const auto [least, greatest] = std::minmax_element(members.begin(), members.end());
    const auto low = static_cast<std::uint64_t>(*least);
    const std::uint64_t length = static_cast<std::uint64_t>(*greatest) - low;
    return length < kMaxTabled ? scan_tabled(column, members, low, length) : scan_members(column, std::move(members));
  }

  /// Looks values up in a table: one bit per value from `low` on, one false bit for all others. Any number of members
  /// takes the same time.
  Bitmap scan_tabled(const IntColumn& column, const std::vector<std::int64_t>& members, std::uint64_t low,
                     std::uint64_t length) const {
    Bitmap table(length + 2);
    for (const std::int64_t member : members) table.set(static_cast<std::uint64_t>(member) - low);
    if (table.count() == length + 1) {  // without a gap
      const auto least = static_cast<std::int64_t>(low);
      return scan_interval(Interval<std::int64_t>{least, static_cast<std::int64_t>(low + length)}, column);
    }
    return scan_rows(rows_, cancel_, [&](std::size_t row) {
      return table.test(std::min(static_cast<std::uint64_t>(column[row]) - low, length + 1));
    });
  }
  Bitmap in_list(const FloatColumn& column, const ScalarList& list) const {
    std::vector<double> members;
    for (const Scalar& element : list) {
      if (const auto value = exact_float(element)) members.push_back(*value);
    }
    return scan_members(column, std::move(members));
  }
  Bitmap in_list(const StringColumn& column, const ScalarList& list) const {
    Bitmap members(column.dictionary.size());
    for (const Scalar& element : list) {
      if (const auto code = column.dictionary.find(std::get<std::string>(element))) members.set(*code);
    }
    return scan_rows(rows_, cancel_, [&](std::size_t row) { return members.test(column.codes[row]); });
  }
  Bitmap in_list(const BoolColumn& column, const ScalarList& list) const {
    bool wanted[2] = {};
    for (const Scalar& element : list) wanted[std::get<bool>(element) ? 1 : 0] = true;
    if (wanted[0] == wanted[1]) return Bitmap(rows_, wanted[0]);
    return compare_constant(Comparison::kEqual, column, Scalar(wanted[1]));
  }
  Bitmap in_list(const SetColumn&, const ScalarList&) const { fail(Code::kInternal, "a set was a needle"); }

  const BoundPredicate& predicate_;
  const Columns& columns_;
  const std::size_t rows_;
  const CancelToken* cancel_;
};

}  // namespace

Bitmap evaluate(const BoundPredicate& predicate, const Columns& columns, const CancelToken* cancel) {
  if (&predicate.schema() != &columns.schema() && predicate.schema() != columns.schema()) {
    fail(Code::kInvalidArgument, "filter: it was compiled against a schema that differs from the records' schema");
  }
  return Evaluator(predicate, columns, cancel).evaluate(predicate.nodes().back());
}

}  // namespace lorekeep::filter
