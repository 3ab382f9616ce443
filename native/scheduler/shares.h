// Divides computing time among classes of requests: 8 : 4 : 1, so that no class gets less than a thirteenth.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "scheduler/request.h"

namespace lorekeep::scheduler {

inline constexpr PerClass<double> kWeights = {8, 4, 1};

/// The requests of one class on one model.
using Group = std::pair<ModelId, ConsumerClass>;

/// Stride scheduling: each group advances by the time it used, divided by its weight, and the least advanced one is
/// next. A group that was idle starts no earlier than the others: it saves up nothing.
class Shares {
 public:
  /// Returns the group whose turn it is. `active` are the groups with work; precondition: at least one.
  Group next(const std::vector<Group>& active);
  void charge(Group group, double ms);
  void remove(ModelId model);

 private:
  std::map<Group, double> used_;
  double now_ = 0;  // the least advanced active group at the last call of next()
};

}  // namespace lorekeep::scheduler
