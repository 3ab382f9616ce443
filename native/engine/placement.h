#pragma once

namespace lorekeep::engine {

/// The memory that holds a model. kVram: the chosen GPU's, or loading fails; kAuto: the GPU's if there is one with
/// room.
enum class Placement { kRam, kVram, kAuto };

}  // namespace lorekeep::engine
