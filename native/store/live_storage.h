// A storage that changes in batches while it is searched. See docs/internals/changing-storages.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/threads/work.h"
#include "store/changes.h"
#include "store/segment_merge.h"
#include "store/storage.h"

namespace lorekeep::store {

/// Older versions that are kept. Those that exceed a limit go, oldest first.
struct VersionLimits {
  std::size_t count = 0;                        // besides the newest one
  std::size_t bytes = std::size_t{256} << 20;   // of memory that no newer version uses
  std::int64_t age_ms = std::int64_t{1} << 53;  // since the version after it was made
};

struct VersionFacts {
  std::uint64_t version;
  std::int64_t time_ms;  // since 1970, by the clock of then, which may have jumped
  std::size_t size;      // records
};

/// What merging would do.
struct MergingFacts {
  bool due = false;
  std::size_t parts = 0;
  double removed_share = 0;  // removed records that take memory, of all
  double changed_share = 0;  // records outside the largest part, of all
};

/// Thread-safe. Writers wait for each other; readers wait for nobody.
class LiveStorage {
 public:
  /// `frozen`: it stays at this version, and changes and merges throw Error(kUnsupported).
  explicit LiveStorage(std::shared_ptr<const Storage> first, bool frozen = false);
  LiveStorage(std::shared_ptr<const Storage> first, const SegmentKind& kind);

  /// Returns the newest version. Pin it for an operation.
  std::shared_ptr<const Storage> current() const;
  /// Returns a version that is kept. Throws Error(kVersionGone).
  std::shared_ptr<const Storage> at(std::uint64_t version) const;
  /// Versions that are kept, oldest first; the last one is the newest.
  std::vector<VersionFacts> versions() const;
  void keep(const VersionLimits& limits);

  /// Applies one batch whole, as one version; an empty batch makes none. Changes nothing if it throws:
  /// Error(kVersionMismatch), kDuplicateId (in the batch), kRecordExists, kRecordMissing, each naming ids;
  /// kInvalidArgument (an empty id, a number that is not finite, another schema), kDimensionMismatch, kOutOfMemory,
  /// kCancelled. Grain of cancellation: as of the indexes' builds.
  Changed update(Changes&& changes, const Work& work);
  /// Applies the effect of several batches, which makes `version`. Removed ids may be unknown. Throws as update();
  /// kInvalidArgument for a version that is less than the present one.
  /// `time_ms`: when the version was made; now by default.
  Changed apply(Changes&& changes, std::uint64_t version, const Work& work,
                std::optional<std::int64_t> time_ms = std::nullopt);
  /// Takes the newest version of another storage, which was loaded from later files of this one. Older versions go:
  /// records of them may have been forgotten since, so their memory is overwritten when it is freed. Throws
  /// Error(kInvalidArgument) for a version that is not later, or another schema.
  void adopt(const LiveStorage& later);
  /// States when the newest version was made, of a storage that was loaded.
  void set_time(std::int64_t time_ms);

  /// Removes records and rewrites every segment with one of them, in all versions. Returns how many there were. Throws
  /// Error(kRecordMissing) unless `missing_is_fine`; kDuplicateId, kOutOfMemory, kCancelled: then the records are
  /// removed but memory may hold them until forget() is called again.
  Changed forget(std::span<const std::string> ids, bool missing_is_fine, const Work& work);
  /// Removes what these ids named before their records were removed or replaced: the records of the newest version
  /// stay. Throws as forget().
  void forget_former(std::span<const std::string> ids, const Work& work);

  MergingFacts merging() const;
  /// Runs one merge that is due; with `all`, merges everything into one segment. Returns whether there was one. Changes
  /// no version. Batches may be applied meanwhile; another merge waits. Throws as merge_segments().
  bool merge(bool all, const Work& work);

  /// Bytes of all versions that are kept.
  std::size_t memory_bytes() const;
  /// Bytes that a batch may read: of the parts that it may merge at once and, if it removes records, of all texts.
  std::size_t read_bytes(bool removes) const;

 private:
  struct Version {
    std::shared_ptr<const Storage> storage;
    std::int64_t time_ms;
    std::int64_t latest_ms;  // the greatest time of this version and those before: ages ignore a clock that jumps back
  };
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool empty() const noexcept { return begin == end; }
  };

  static Version first_version(std::shared_ptr<const Storage> storage);
  Range due_range(const Storage& storage) const;
  bool lacks_graph(const Segment& segment) const noexcept;
  void replace(const std::vector<Part>& merged, std::shared_ptr<const Segment> segment);
  struct Rewritten {
    std::shared_ptr<const Segment> before;
    std::shared_ptr<const Segment> after;
    Bitmap kept;  // rows of `before`
  };

  std::vector<std::shared_ptr<const Segment>> segments() const;
  void rewrite(const std::map<const Segment*, Rewritten>& rewritten);
  void rewrite_without(std::span<const std::string> ids, const Storage* keep, const Work& work);
  Changed apply_locked(Changes&& changes, std::optional<std::uint64_t> version, const Work& work,
                       std::optional<std::int64_t> time_ms = std::nullopt);
  void merge_tail(std::vector<Part>& parts, const Work& work) const;
  void publish(std::shared_ptr<const Storage> next, bool new_version,
               std::optional<std::int64_t> time_ms = std::nullopt);
  std::size_t count_old(const Version& current) const;
  void drop_aged(std::vector<Version>& gone) const;
  void drop_old(std::size_t count, std::vector<Version>& gone) const noexcept;

  void refuse_frozen() const;

  const SegmentKind kind_;
  const bool frozen_;
  std::mutex merging_;                                // held by the merge that runs; locked before writing_
  mutable std::mutex writing_;                        // held by the batch that is applied
  std::vector<std::shared_ptr<const Segment>> busy_;  // segments of the running merge; guarded by writing_
  mutable std::mutex mutex_;                          // guards the members below
  Version current_;
  mutable std::deque<Version> kept_;  // older versions, oldest first; readers drop those that have become too old
  VersionLimits limits_;
};

}  // namespace lorekeep::store
