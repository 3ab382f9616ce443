#include "store/change_log.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <utility>

#include "core/files/utf8_path.h"
#include "core/values/checksum.h"
#include "core/values/error.h"
#include "core/values/text_table.h"
#include "core/values/wipe.h"
#include "filter/columns_builder.h"
#include "store/file_identity.h"
#include "store/file_window.h"
#include "store/json_record.h"
#include "vector/vector_type.h"

namespace lorekeep::store {
namespace {

constexpr std::uint64_t kAlignment = 8;
constexpr std::size_t kOperationsPerPoll = 1024;
constexpr std::uint64_t kBytesPerPoll = std::uint64_t{4} << 20;
/// Frames that begin within others are read again up to this many times the size of the log.
constexpr std::uint64_t kMostReread = 8;
constexpr std::size_t kReadBytes = std::size_t{4} << 20;
constexpr std::size_t kHeaderChecked = offsetof(ChangeLogHeader, checksum);
constexpr std::size_t kFrameChecked = offsetof(ChangeFrame, checksum);

constexpr std::uint64_t aligned(std::uint64_t size) noexcept {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

template <class T>
T value_at(const std::byte* bytes) noexcept {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

std::string_view text_at(const std::byte* bytes, std::size_t size) noexcept {
  return {reinterpret_cast<const char*>(bytes), size};
}

/// Bytes of an operation with its padding; 0 for one that is not sound.
std::uint64_t operation_size(const LoggedOperation& operation, std::uint32_t dimension) noexcept {
  const bool put = operation.kind == ChangeKind::kPut;
  if ((!put && operation.kind != ChangeKind::kRemove) || operation.zero != 0) return 0;
  if (operation.id_bytes == 0 || put == (operation.json_bytes == 0)) return 0;
  const std::uint64_t vector = put ? std::uint64_t{dimension} * sizeof(float) : 0;
  return aligned(sizeof(operation) + vector + operation.id_bytes + operation.json_bytes);
}

/// Reads the rest of a file, which may be cut or appended to meanwhile.
std::size_t read_rest(std::ifstream& file, std::span<std::byte> to, const CancelToken* cancel) {
  std::size_t got = 0;
  while (got < to.size() && file) {
    if (cancel != nullptr) cancel->check();
    const std::size_t wanted = std::min(kReadBytes, to.size() - got);
    file.read(reinterpret_cast<char*>(to.data() + got), static_cast<std::streamsize>(wanted));
    got += static_cast<std::size_t>(file.gcount());
  }
  return got;
}

}  // namespace

ChangeLog ChangeLog::read(const std::filesystem::path& path, std::uint64_t from, std::uint64_t version,
                          const CancelToken* cancel) {
  const FileStamp stamp = read_stamp(path);
  std::ifstream file;
  file.rdbuf()->pubsetbuf(nullptr, 0);
  file.open(path, std::ios::binary);
  if (!file) refuse_open(path);
  ChangeLog log;
  log.name_ = utf8_path(path);
  std::byte header[sizeof(ChangeLogHeader)];
  const std::size_t got = read_rest(file, header, cancel);
  log.read_header(std::span(header, got));
  log.from_ = std::max<std::uint64_t>(from, sizeof(ChangeLogHeader));
  log.version_ = from == 0 ? log.header_.base_version : version;
  log.end_ = log.from_;
  if (stamp.size <= log.from_) return log;
  log.size_ = static_cast<std::size_t>(stamp.size - log.from_);
  std::byte* const bytes = log.allocate(log.size_);
  file.clear();
  file.seekg(static_cast<std::streamoff>(log.from_));
  log.size_ = read_rest(file, {bytes, log.size_}, cancel);
  log.read_frames(cancel);
  return log;
}

ChangeLog::ChangeLog(std::span<const std::byte> bytes, std::string name) : name_(std::move(name)) {
  read_header(bytes.first(std::min(bytes.size(), sizeof(ChangeLogHeader))));
  from_ = end_ = sizeof(ChangeLogHeader);
  version_ = header_.base_version;
  size_ = bytes.size() - sizeof(ChangeLogHeader);
  std::copy(bytes.begin() + sizeof(ChangeLogHeader), bytes.end(), allocate(size_));
  read_frames(nullptr);
}

void WipedBytes::operator()(std::byte* bytes) const noexcept {
  wipe_bytes(bytes, size);
  delete[] bytes;
}

/// Returns the memory for `size` bytes of the file, to be written before anything reads it.
std::byte* ChangeLog::allocate(std::size_t size) {
  auto bytes = std::make_unique_for_overwrite<std::byte[]>(size + FileWindow::kPadding);
  std::fill_n(bytes.get() + size, FileWindow::kPadding, std::byte{0});
  std::byte* const writable = bytes.get();
  bytes_ = std::shared_ptr<std::byte[]>(bytes.release(), WipedBytes{size});
  return writable;
}

void ChangeLog::read_header(std::span<const std::byte> bytes) {
  const std::size_t named = std::min(bytes.size(), sizeof(kChangeLogMagic));
  if (std::memcmp(bytes.data(), &kChangeLogMagic, named) != 0) {
    fail_file(Code::kCorrupt, name_, "is not a change log of lorekeep");
  }
  if (bytes.size() >= sizeof(Magic) + sizeof(std::uint32_t)) {
    const auto version = value_at<std::uint32_t>(bytes.data() + sizeof(Magic));
    if (version > kChangeLogVersion) {
      fail_file(Code::kUnsupported, name_,
                "its format has version " + std::to_string(version) + "; this lorekeep reads version " +
                    std::to_string(kChangeLogVersion),
                {{"version", std::int64_t{version}}});
    }
  }
  if (bytes.size() < sizeof(ChangeLogHeader)) fail_file(Code::kCorrupt, name_, "its header is truncated");
  header_ = value_at<ChangeLogHeader>(bytes.data());
  if (checksum(bytes.first(kHeaderChecked)) != header_.checksum || header_.version != kChangeLogVersion ||
      header_.dimension == 0 || header_.dimension > vector::kMaxDimension) {
    fail_file(Code::kCorrupt, name_, "its header is damaged");
  }
}

void ChangeLog::read_frames(const CancelToken* cancel) {
  const std::uint64_t file_end = from_ + size_;
  std::uint64_t looked = end_;
  while (end_ < file_end) {
    if (end_ - looked >= kBytesPerPoll) {
      looked = end_;
      if (cancel != nullptr) cancel->check();
    }
    auto defect = read_frame(end_);
    if (!defect) continue;
    find_damage(std::move(*defect), cancel);
    return;
  }
}

/// Returns the head of the frame at an offset if its checksum is right and the rest of the file has room for the frame.
std::optional<ChangeFrame> ChangeLog::frame_head(std::uint64_t at) const {
  const std::uint64_t left = from_ + size_ - at;
  if (left < sizeof(ChangeFrame)) return std::nullopt;
  const auto frame = value_at<ChangeFrame>(data(at));
  if (frame.magic != kFrameMagic || frame.zero != 0 || frame.size % kAlignment != 0) return std::nullopt;
  if (checksum({data(at), kFrameChecked}, header_.id) != frame.checksum) return std::nullopt;
  if (frame.size > left - sizeof(ChangeFrame)) return std::nullopt;
  return frame;
}

/// Whether the payload of a frame has its checksum.
bool ChangeLog::is_sound(std::uint64_t at, const ChangeFrame& frame) const {
  const std::span payload(data(at) + sizeof(ChangeFrame), static_cast<std::size_t>(frame.size));
  return checksum(payload, header_.id) == frame.payload_checksum;
}

/// Takes over the frame at an offset. Returns why it cannot.
std::optional<std::string> ChangeLog::read_frame(std::uint64_t at) {
  const auto frame = frame_head(at);
  if (!frame || !is_sound(at, *frame)) return "its checksum is wrong, or it is incomplete";
  if (frame->kind == FrameKind::kMerge) {
    if (frame->size != sizeof(MergeMark) || frame->version > version_ || frame->version < header_.base_version) {
      return "it is not a merge of this log";
    }
  } else {
    if (frame->kind != FrameKind::kBatch) return "its kind is unknown";
    if (frame->version != version_ + 1) {
      return "it has version " + std::to_string(frame->version) + " and follows version " + std::to_string(version_);
    }
    if (!has_operations(at, *frame)) return "its operations are invalid";
    version_ = frame->version;
  }
  end_ = at + sizeof(ChangeFrame) + frame->size;
  frames_.push_back({at, end_, frame->version, frame->time, frame->kind, frame->operations});
  return std::nullopt;
}

bool ChangeLog::has_operations(std::uint64_t at, const ChangeFrame& frame) const {
  std::uint64_t left = frame.size;
  const std::byte* bytes = data(at) + sizeof(ChangeFrame);
  for (std::uint32_t i = 0; i < frame.operations; ++i) {
    if (left < sizeof(LoggedOperation)) return false;
    const std::uint64_t size = operation_size(value_at<LoggedOperation>(bytes), header_.dimension);
    if (size == 0 || size > left) return false;
    bytes += size;
    left -= size;
  }
  return left == 0 && frame.operations > 0;
}

/// Tells a torn tail from damage: a sound frame behind the defect may say that the bytes before it were durable. Of
/// forged frames, each may have the rest of the file: a tail with more of them than writers leave counts as damage.
void ChangeLog::find_damage(std::string reason, const CancelToken* cancel) {
  damage_ = LogDamage{end_, std::move(reason), true};
  const std::uint64_t file_end = from_ + size_;
  std::uint64_t work = 0;
  std::uint64_t looked = 0;
  for (std::uint64_t at = end_ + kAlignment; at + sizeof(ChangeFrame) <= file_end; at += kAlignment) {
    if (work + (at - end_) - looked >= kBytesPerPoll) {
      looked = work + (at - end_);
      if (cancel != nullptr) cancel->check();
    }
    if (value_at<std::uint32_t>(data(at)) != kFrameMagic) continue;
    const auto frame = frame_head(at);
    if (!frame) continue;
    work += frame->size;
    if (work > kMostReread * size_) damage_->torn = false;
    if (!damage_->torn) return;
    if (!is_sound(at, *frame)) continue;
    if (frame->durable > end_) damage_->torn = false;
    if (!damage_->torn) return;
    at += sizeof(ChangeFrame) + frame->size - kAlignment;
  }
}

ChangeLog::Operation ChangeLog::next_operation(std::uint64_t& at) const {
  const auto operation = value_at<LoggedOperation>(data(at));
  const std::byte* bytes = data(at) + sizeof(operation);
  const bool put = operation.kind == ChangeKind::kPut;
  const std::size_t vector = put ? header_.dimension * sizeof(float) : 0;
  at += operation_size(operation, header_.dimension);
  const std::byte* const id = bytes + vector;
  return {operation.kind,
          text_at(id, operation.id_bytes),
          text_at(id + operation.id_bytes, operation.json_bytes),
          {bytes, vector}};
}

/// The digest of a batch and those before it, whose digest is `before`. A frame's checksum has the log's id as seed.
std::uint64_t ChangeLog::digest_with(std::uint64_t before, const LoggedFrame& frame) const {
  return checksum({data(frame.begin) + kFrameChecked, sizeof(ChangeFrame::checksum)}, before);
}

std::uint64_t ChangeLog::digest(std::uint64_t version) const {
  std::uint64_t digest = header_.checksum;
  for (const LoggedFrame& frame : frames_) {
    if (frame.kind == FrameKind::kBatch && frame.version <= version) digest = digest_with(digest, frame);
  }
  return digest;
}

std::optional<std::uint64_t> ChangeLog::version_with(std::uint64_t digest) const {
  std::uint64_t own = header_.checksum;
  for (const LoggedFrame& frame : frames_) {
    if (frame.kind != FrameKind::kBatch) continue;
    own = digest_with(own, frame);
    if (own == digest) return frame.version;
  }
  return std::nullopt;
}

std::optional<LoggedMerge> ChangeLog::mark() const {
  const auto found = std::find_if(frames_.rbegin(), frames_.rend(),
                                  [](const LoggedFrame& frame) { return frame.kind == FrameKind::kMerge; });
  if (found == frames_.rend()) return std::nullopt;
  return LoggedMerge{value_at<MergeMark>(data(found->begin) + sizeof(ChangeFrame)), found->version};
}

namespace {

/// Folds operations into their effect.
class Folding {
 public:
  Folding(const ChangeLog& log, std::shared_ptr<const filter::Schema> schema, const CancelToken* cancel)
      : log_(log), schema_(std::move(schema)), parser_(schema_.get()), cancel_(cancel) {
    if (schema_) columns_.emplace(schema_);
  }

  LoggedChanges fold(std::uint64_t after, std::uint64_t up_to) {
    const auto wanted = [&](const LoggedFrame& frame) {
      return frame.kind == FrameKind::kBatch && frame.version > after && frame.version <= up_to;
    };
    for (const LoggedFrame& frame : log_.frames()) {
      if (wanted(frame)) log_.each_operation(frame, [&](const ChangeLog::Operation& each) { enter(each); });
    }
    changes_.log = log_.bytes();
    changes_.texts.reserve(json_bytes_);
    changes_.vectors.reserve(puts_ * log_.header().dimension);
    operations_ = 0;
    for (const LoggedFrame& frame : log_.frames()) {
      if (!wanted(frame)) continue;
      changes_.version = frame.version;
      log_.each_operation(frame, [&](const ChangeLog::Operation& each) { keep(each); });
    }
    if (columns_) changes_.metadata = std::make_shared<const filter::Columns>(std::move(*columns_).build());
    return std::move(changes_);
  }

 private:
  void poll(std::string_view json) {
    bytes_ += json.size();
    if (operations_ % kOperationsPerPoll != 0 && bytes_ < kBytesPerPoll) return;
    bytes_ = 0;
    if (cancel_ != nullptr) cancel_->check();
  }

  /// Remembers the last operation of each id.
  void enter(const ChangeLog::Operation& operation) {
    poll({});
    json_bytes_ += operation.json.size();
    puts_ += operation.kind == ChangeKind::kPut;
    names_.append(operation.id);
    const std::size_t position = names_.size() - 1;
    last_.push_back(operations_);
    if (const auto first = table_.enter(names_, position)) last_[*first] = operations_;
    ++operations_;
  }

  void keep(const ChangeLog::Operation& operation) {
    poll(operation.json);
    const std::uint32_t own = operations_++;
    if (last_[*table_.find(names_, operation.id)] != own) return;
    if (operation.kind == ChangeKind::kRemove) return changes_.removed.append(operation.id);
    const JsonRecord& record = parser_.parse(operation.json);
    if (!record.issues.empty()) {
      const RecordIssue& issue = record.issues.front();
      refuse(operation.id, issue.field + ": expected " + issue.expected + ", found " + issue.found);
    }
    if (record.id != operation.id) refuse(operation.id, "its record has another id");
    changes_.ids.append(record.id);
    changes_.texts.append(record.text);
    changes_.jsons.push_back(operation.json);
    if (columns_) {
      columns_->begin_record(record.id);
      for (const auto& [field, value] : record.values) columns_->set(field, value);
    }
    keep_vector(operation);
  }

  void keep_vector(const ChangeLog::Operation& operation) {
    const std::size_t begin = changes_.vectors.size();
    changes_.vectors.resize(begin + log_.header().dimension);
    const std::span row = std::span(changes_.vectors).subspan(begin);
    std::memcpy(row.data(), operation.vector.data(), operation.vector.size());
    bool finite = true;
    for (const float value : row) finite &= std::isfinite(value);
    if (!finite) refuse(operation.id, "its vector has values that are not finite");
  }

  [[noreturn]] void refuse(std::string_view id, const std::string& reason) const {
    fail_file(Code::kCorrupt, log_.name(), "record " + filter::quoted(id) + ": " + reason, {{"id", std::string(id)}});
  }

  const ChangeLog& log_;
  std::shared_ptr<const filter::Schema> schema_;
  JsonRecordParser parser_;
  const CancelToken* cancel_;
  std::size_t bytes_ = 0;  // of records since the last look
  std::size_t json_bytes_ = 0;
  std::size_t puts_ = 0;
  std::optional<filter::ColumnsBuilder> columns_;
  TextArena names_;  // the id of each operation
  TextTable table_;
  std::vector<std::uint32_t> last_;  // by the position of an id's first operation
  std::uint32_t operations_ = 0;
  LoggedChanges changes_;
};

}  // namespace

LoggedChanges::~LoggedChanges() {
  texts.wipe();
}

std::size_t LoggedChanges::memory_bytes() const noexcept {
  return ids.memory_bytes() + texts.memory_bytes() + removed.memory_bytes() +
         jsons.capacity() * sizeof(std::string_view) + vectors.capacity() * sizeof(float) +
         (metadata ? metadata->memory_bytes() : 0);
}

LoggedChanges fold_changes(const ChangeLog& log, std::uint64_t after, std::uint64_t up_to,
                           std::shared_ptr<const filter::Schema> schema, const CancelToken* cancel) {
  return Folding(log, std::move(schema), cancel).fold(after, up_to);
}

void seal_header(std::span<std::byte> bytes) {
  const std::uint64_t sum = checksum(bytes.first(kHeaderChecked));
  std::memcpy(bytes.data() + kHeaderChecked, &sum, sizeof(sum));
}

void seal_frame(std::span<std::byte> bytes, std::uint64_t id) {
  const std::uint64_t payload = checksum(bytes.subspan(sizeof(ChangeFrame)), id);
  std::memcpy(bytes.data() + offsetof(ChangeFrame, payload_checksum), &payload, sizeof(payload));
  const std::uint64_t sum = checksum(bytes.first(kFrameChecked), id);
  std::memcpy(bytes.data() + kFrameChecked, &sum, sizeof(sum));
}

}  // namespace lorekeep::store
