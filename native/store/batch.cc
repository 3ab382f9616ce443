#include "store/batch.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "core/values/error.h"
#include "core/values/text_table.h"
#include "filter/value.h"
#include "vector/flat_index.h"

namespace lorekeep::store {
namespace {

constexpr std::size_t kListedIds = 100;  // in an error

void append_json(std::string& out, std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      out += "\\u00";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

/// Returns the texts without unused memory. Copies them, and looks at the token after each MiB or so.
TextArena shrunk(TextArena texts, const Work& work) {
  constexpr std::size_t kGrain = std::size_t{1} << 20;
  constexpr std::size_t kWasted = std::size_t{64} << 10;
  constexpr std::size_t kWastedShare = 8;
  const std::size_t used = texts.text_bytes() + texts.size() * sizeof(std::uint64_t);
  if (texts.memory_bytes() <= used + used / kWastedShare + kWasted) return texts;
  TextArena exact;
  exact.reserve(texts.text_bytes());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    exact.append(texts[i]);
    bytes += texts[i].size();
    if (bytes < kGrain) continue;
    bytes = 0;
    work.check();
  }
  exact.shrink_to_fit();
  return exact;
}

/// Ids that a batch cannot be applied for.
class Culprits {
 public:
  void add(std::string_view id) {
    if (count_ == 0) first_ = id;
    if (count_ < kListedIds) {
      if (count_ > 0) listed_ += ',';
      append_json(listed_, id);
    }
    ++count_;
  }
  /// Throws if there are any.
  void check(Code code, const char* problem) const {
    if (count_ == 0) return;
    std::string message = filter::quoted(first_) + ": " + problem;
    if (count_ > 1)
      message += "; so " + std::string(count_ == 2 ? "is" : "are") + " " + std::to_string(count_ - 1) + " more";
    fail(code, message,
         {{"id", std::string(first_)}, {"ids", "[" + listed_ + "]"}, {"count", static_cast<std::int64_t>(count_)}});
  }

 private:
  std::string_view first_;
  std::string listed_;
  std::size_t count_ = 0;
};

}  // namespace

Batch::Batch(const Storage& before, Changes&& changes) : before_(before), changes_(std::move(changes)) {
  if (changes_.if_version && *changes_.if_version != before.version()) {
    fail(
        Code::kVersionMismatch,
        "the storage has version " + std::to_string(before.version()) + ", not " + std::to_string(*changes_.if_version),
        {{"version", static_cast<std::int64_t>(before.version())}});
  }
  check_shape();
  check_twice();
  resolve();
}

void Batch::check_shape() const {
  const std::size_t records = changes_.ids.size();
  const auto refuse = [](const std::string& message) { fail(Code::kInvalidArgument, message); };
  if (changes_.texts.size() != records) refuse("texts: not as many as ids");
  if (before_.vectors() != nullptr && changes_.rows.size() != records * before_.vectors()->dimension()) {
    const std::size_t dimension = before_.vectors()->dimension();
    fail(Code::kDimensionMismatch,
         "vectors: " + std::to_string(changes_.rows.size()) + " values for " + std::to_string(records) +
             " records of dimension " + std::to_string(dimension),
         {{"values", static_cast<std::int64_t>(changes_.rows.size())},
          {"expected", static_cast<std::int64_t>(records * dimension)}});
  }
  if (changes_.words && changes_.words->documents() != records) refuse("words: not of as many texts as ids");
  if (changes_.words && before_.text_index() != nullptr &&
      changes_.words->tokenizer() != before_.text_index()->tokenizer()) {
    refuse("words: of another tokenizer than the storage's");
  }
  if (records == 0) return;
  if ((before_.metadata() != nullptr) != (changes_.metadata != nullptr))
    refuse("metadata: not of the storage's fields");
  if (changes_.metadata && !(changes_.metadata->schema() == before_.metadata()->schema())) {
    refuse("metadata: of other fields than the storage's");
  }
}

void Batch::check_twice() const {
  TextTable table;
  TextArena all;
  Culprits twice;
  const auto enter = [&](std::string_view id) {
    all.append(id);
    if (table.enter(all, all.size() - 1)) twice.add(id);
  };
  for (std::size_t i = 0; i < changes_.ids.size(); ++i) enter(changes_.ids[i]);
  for (const std::string& id : changes_.removed) enter(id);
  twice.check(Code::kDuplicateId, "the id occurs twice in the batch");
}

/// Finds the rows that the batch replaces or removes.
void Batch::resolve() {
  Culprits existing;
  Culprits missing;
  for (std::size_t i = 0; i < changes_.ids.size(); ++i) {
    const std::string_view id = changes_.ids[i];
    const auto row = before_.find_row(id);
    ++(row ? changed_.replaced : changed_.added);
    if (row) removed_.push_back(*row);
    if (changes_.upsert) continue;
    if (row && i < changes_.added) existing.add(id);
    if (!row && i >= changes_.added) missing.add(id);
  }
  for (const std::string& id : changes_.removed) {
    const auto row = before_.find_row(id);
    if (row) {
      removed_.push_back(*row);
    } else {
      missing.add(id);
    }
  }
  existing.check(Code::kRecordExists, "a record with this id exists");
  missing.check(Code::kRecordMissing, "no record has this id");
  changed_.removed = changes_.removed.size();
  changed_.version = before_.version() + (empty() ? 0 : 1);
  changed_.size = before_.size() + changes_.ids.size() - removed_.size();
}

std::shared_ptr<const Segment> Batch::segment(const SegmentKind& kind, const Work& work) {
  StorageParts made;
  if (before_.vectors() != nullptr) {
    const std::size_t dimension = before_.vectors()->dimension();
    auto rows = vector::VectorMatrix::encode(changes_.rows, dimension, before_.vectors()->type(), work);
    changes_.rows = {};
    // A graph is left to a merge, which batches and searches do not wait for.
    SegmentKind flat = kind;
    flat.graph = false;
    made.vectors = index_rows(std::move(rows), flat, work, nullptr);
  }
  made.ids = shrunk(std::move(changes_.ids), work);
  made.texts = shrunk(std::move(changes_.texts), work);
  made.metadata = std::move(changes_.metadata);
  made.ids_checked = false;
  if (before_.text_index() != nullptr && changes_.words) {
    made.text_index = std::move(changes_.words);
  } else if (before_.text_index() != nullptr) {
    made.text_index = text::TextIndex::build(made.texts.size(), [&made](std::size_t row) { return made.texts[row]; },
                                             {before_.text_index()->tokenizer(), work});
  }
  return std::make_shared<const Segment>(std::move(made));
}

std::vector<Part> Batch::apply(const SegmentKind& kind, const Work& work) && {
  std::vector<Part> parts = before_.parts();
  std::sort(removed_.begin(), removed_.end());
  std::vector<std::uint32_t> own;
  auto at = removed_.begin();
  for (Part& part : parts) {
    own.clear();
    const std::size_t end = part.first_row + part.segment->size();
    for (; at != removed_.end() && *at < end; ++at) own.push_back(*at - part.first_row);
    if (!own.empty()) part.removed = Tombstones::with(part.removed.get(), *part.segment, own, work);
  }
  if (changes_.ids.size() > 0) parts.push_back({segment(kind, work), nullptr});
  return parts;
}

}  // namespace lorekeep::store
