// Settings, throttle and counts of the process's scheduler.
#pragma once

#include <napi.h>

namespace lorekeep::binding {

// configureScheduler({ enabled?, prefillYieldEnabled?, prefillQuantumTokens?, stepTargetMs?, interactiveVisible?, ...
// })
void configure_scheduler(const Napi::CallbackInfo& info);
// setThrottle(level)
void set_throttle(const Napi::CallbackInfo& info);
// schedulerStats(): plain numbers
Napi::Value scheduler_stats(const Napi::CallbackInfo& info);

}  // namespace lorekeep::binding
