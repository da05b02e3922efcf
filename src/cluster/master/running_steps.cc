#include "cluster/master/running_steps.h"

#include <algorithm>
#include <vector>

#include "cluster/master/master_step.h"

namespace tensorbraid {

Status RunningSteps::CheckRunning() const { return stopped_ ? Cancelled("the server has been stopped") : OkStatus(); }

Status RunningSteps::Add(const std::shared_ptr<MasterStep>& step) {
  MutexLock lock(mu_);
  // Stop sets this before it looks for steps.
  TF_RETURN_IF_ERROR(CheckRunning());
  steps_[step->id.counter] = step;
  return OkStatus();
}

void RunningSteps::Remove(StepId id) {
  MutexLock lock(mu_);
  steps_.erase(id.counter);
}

void RunningSteps::AbortIf(const std::function<bool(const MasterStep&)>& matches, const Status& why) {
  std::vector<std::shared_ptr<MasterStep>> steps;
  {
    MutexLock lock(mu_);
    for (const auto& [number, step] : steps_) {
      if (matches(*step)) steps.push_back(step);
    }
  }
  // In the order in which they began, so that a simulation repeats.
  std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a->id.counter < b->id.counter; });
  for (const auto& step : steps) step->Abort(why);
}

void RunningSteps::Abort(SessionId session, const Status& why) {
  AbortIf([session](const MasterStep& step) { return step.session == session; }, why);
}

void RunningSteps::Stop(const Status& why) {
  stopped_ = true;
  AbortIf([](const MasterStep&) { return true; }, why);
}

}  // namespace tensorbraid
