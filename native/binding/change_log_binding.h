#pragma once

#include <napi.h>

#include "binding/handle.h"
#include "core/files/file_lock.h"
#include "store/change_log.h"

namespace lorekeep::binding {

/// The content of a write-ahead file.
class ChangeLogBinding final : public Handle<ChangeLogBinding, store::ChangeLog> {
 public:
  static constexpr const char* kName = "ChangeLog";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x11};
  static Members members();
  using Handle::Handle;

 private:
  Exported facts, fold, load_words;
};

/// The effect of logged batches.
class LoggedChangesBinding final : public Handle<LoggedChangesBinding, store::LoggedChanges> {
 public:
  static constexpr const char* kName = "LoggedChanges";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x12};
  static Members members();
  using Handle::Handle;

 private:
  Exported facts, texts, removed_ids, rewrite, save_words;
};

/// A lock between processes.
class FileLockBinding final : public Handle<FileLockBinding, FileLock> {
 public:
  static constexpr const char* kName = "FileLock";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x13};
  static Members members();
  using Handle::Handle;
};

}  // namespace lorekeep::binding
