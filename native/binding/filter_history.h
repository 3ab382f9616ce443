// What is learnt of a compiled filter from the searches under it.
#pragma once

#include <memory>
#include <utility>

#include "binding/short_search.h"
#include "core/bitmap.h"
#include "store/storage.h"

namespace lorekeep::binding {

/// JavaScript thread only.
class FilterHistory {
 public:
  /// Of searches that need not find out first what the filter lets through, or must each time.
  SearchTimes& times(store::Mode mode) noexcept { return times_.of(mode); }

  /// Which records a filter without variables lets through: storage and filter never change, so it is found out once.
  /// Null: not known for this storage.
  std::shared_ptr<const Bitmap> selection(const std::shared_ptr<const store::Storage>& storage) const {
    return bitmap_ && storage_.lock() == storage ? bitmap_ : nullptr;
  }
  /// Counts a search. True from the second on: a filter that is used once is not worth a bit per record.
  bool worth_keeping() noexcept { return std::exchange(used_, true); }
  void keep(const std::shared_ptr<const store::Storage>& storage, std::shared_ptr<const Bitmap> bitmap) {
    storage_ = storage;
    bitmap_ = std::move(bitmap);
  }

 private:
  ModeTimes times_;
  std::weak_ptr<const store::Storage> storage_;  // a filter keeps no storage alive
  std::shared_ptr<const Bitmap> bitmap_;
  bool used_ = false;
};

}  // namespace lorekeep::binding
