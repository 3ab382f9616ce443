// Fills one step: first the decodes, then chunks of prompts, within the batch and the step's time limit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/costs.h"
#include "scheduler/request.h"
#include "scheduler/scheduler.h"
#include "scheduler/settings.h"

namespace lorekeep::scheduler {

/// The work of one class on the step's model, least recently served first.
struct ClassWork {
  ConsumerClass consumer_class;
  std::vector<const Request*> decodes;
  std::vector<const Request*> prompts;
};

struct StepPlan {
  ModelId model;
  const ModelLimits& limits;
  const Settings& settings;
  const Costs& costs;
  /// Time limit in ms; absent: none.
  std::optional<double> limit_ms;
  /// Number of unfinished prompts that compete for the model.
  std::uint32_t competing;
  /// Decodes wait this time, where a batch of one token serves prompts and decodes in turns.
  bool prompts_first;
};

/// A step, and the chunks that its time limit made smaller.
struct BuiltStep {
  Step step;
  std::uint32_t chunks_cut = 0;
};

/// `work` is in the order of service: the class whose turn it is first, then better classes.
BuiltStep build_step(const StepPlan& plan, const std::vector<ClassWork>& work);

}  // namespace lorekeep::scheduler
