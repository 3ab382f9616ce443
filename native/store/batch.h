// A batch of changes, checked against the version that it changes.
#pragma once

#include <cstdint>
#include <vector>

#include "store/changes.h"
#include "store/segment_merge.h"
#include "store/storage.h"

namespace lorekeep::store {

class Batch {
 public:
  /// Throws as LiveStorage::update() for a batch that cannot be applied. `before` must outlive it.
  Batch(const Storage& before, Changes&& changes);

  bool empty() const noexcept { return changes_.empty(); }
  /// The facts of the new version; of `before` for an empty batch.
  const Changed& changed() const noexcept { return changed_; }
  /// Returns the parts of the new version: those of `before` with new tombstones, and a new one. Some may be empty.
  std::vector<Part> apply(const SegmentKind& kind, const Work& work) &&;

 private:
  void check_shape() const;
  void check_twice() const;
  void resolve();
  std::shared_ptr<const Segment> segment(const SegmentKind& kind, const Work& work);

  const Storage& before_;
  Changes changes_;
  Changed changed_;
  std::vector<std::uint32_t> removed_;  // rows of `before`, in any order
};

}  // namespace lorekeep::store
