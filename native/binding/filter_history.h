// What is learnt of a compiled filter from the searches under it.
#pragma once

#include <memory>
#include <utility>

#include "binding/short_search.h"
#include "core/bitmap.h"
#include "store/storage.h"

namespace lorekeep::binding {

/// Which records a filter without variables lets through, and what the storage's vectors make of that
/// (VectorIndex::arrange()).
struct Selection {
  Bitmap records;
  Bitmap arranged;
};

/// JavaScript thread only.
class FilterHistory {
 public:
  /// Of searches that need not find out first what the filter lets through, or must each time.
  SearchTimes& times(store::Mode mode) noexcept { return times_.of(mode); }

  /// Storage and filter never change, so it is found out once. Null: not known for this storage.
  std::shared_ptr<const Selection> selection(const std::shared_ptr<const store::Storage>& storage) const {
    return selection_ && storage_.lock() == storage ? selection_ : nullptr;
  }
  /// Whether a selection is to be kept: a filter that is used once is not worth two bits per record.
  bool used() const noexcept { return used_; }
  void count_use() noexcept { used_ = true; }
  void keep(const std::shared_ptr<const store::Storage>& storage, std::shared_ptr<const Selection> selection) {
    storage_ = storage;
    selection_ = std::move(selection);
  }

 private:
  ModeTimes times_;
  std::weak_ptr<const store::Storage> storage_;  // a filter keeps no storage alive
  std::shared_ptr<const Selection> selection_;
  bool used_ = false;
};

}  // namespace lorekeep::binding
