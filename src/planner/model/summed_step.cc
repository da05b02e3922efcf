#include "planner/model/summed_step.h"

#include <algorithm>
#include <vector>

namespace tensorbraid::planner {
namespace {

// Of one core.
constexpr double kCopyByteNs = 0.1;  // to shared memory
constexpr double kAddByteNs = 0.25;  // to a sum

// For each activity, whether it waits for a tensor of the worker.
std::vector<bool> ThoseThatNeedTheWorker(const StepProgram& program) {
  std::vector<bool> needs(program.activities.size());
  std::vector<int> open;
  const auto add = [&](const std::vector<int>& activities) {
    for (const int a : activities) {
      if (needs[a] || program.activities[a].task == 0) continue;
      needs[a] = true;
      open.push_back(a);
    }
  };
  for (const TensorTransfer& t : program.transfers) {
    if (t.from == 0) add(t.next);
  }
  while (!open.empty()) {
    const Activity& a = program.activities[open.back()];
    open.pop_back();
    add(a.next);
    for (const int send : a.sends) add(program.transfers[send].next);
  }
  return needs;
}

}  // namespace

StepProgram SummedStep(const StepProgram& program, int workers) {
  StepProgram summed = program;
  summed.workers = workers;
  summed.batch *= workers;
  if (workers == 1) return summed;
  const std::vector<bool> needs_worker = ThoseThatNeedTheWorker(program);
  const int values = static_cast<int>(program.activities.size()), sum = values + 1;
  Activity copy, add;
  const auto is_gradient = [&](const TensorTransfer& t) {
    return t.from == 0 && !t.next.empty() &&
           std::ranges::all_of(t.next, [&](int next) { return program.activities[next].after_gradients; });
  };
  for (size_t i = 0; i < program.activities.size(); ++i) {
    Activity& activity = summed.activities[i];
    if (activity.task == 0 && !program.has_device) activity.threads *= workers;
    bool has_gradient = false;
    std::erase_if(activity.sends, [&](int send) {
      TensorTransfer& t = summed.transfers[send];
      if (t.to == 0 && !needs_worker[i]) {
        copy.ns += t.bytes * kCopyByteNs;
        ++copy.waits_for;
        copy.next.insert(copy.next.end(), t.next.begin(), t.next.end());
        t.next = {values};
      } else if (is_gradient(program.transfers[send])) {
        add.ns += t.bytes * kAddByteNs * (workers - 1);
        add.sends.push_back(send);
        has_gradient = true;
        return true;
      } else if (t.from == 0 || t.to == 0) {
        t.bytes *= workers;
      }
      return false;
    });
    if (!has_gradient) continue;
    activity.next.push_back(sum);
    ++add.waits_for;
  }
  summed.activities.push_back(copy);
  summed.activities.push_back(add);
  return summed;
}

}  // namespace tensorbraid::planner
