#include "planner/model/updates.h"

#include <deque>
#include <vector>

#include "runtime/kernel/cost.h"

namespace tensorbraid::planner {
namespace {

// What reaches an activity of a server.
struct Inflow {
  bool from_worker = false;  // a tensor of the worker
  bool after = false;        // it follows an update
  double bytes = 0;          // of tensors of other tasks

  void Add(const Inflow& other) {
    from_worker = from_worker || other.from_worker;
    after = after || other.after;
    bytes += other.bytes;
  }
};

bool Has(const std::string& type, const char* word) { return type.find(word) != std::string::npos; }

// Visits each activity after the activities that it waits for.
class Marker {
 public:
  Marker(const std::map<int, UpdateNode>& updates, StepProgram* program)
      : updates_(updates), program_(program), inflows_(program->activities.size()) {
    for (const Activity& a : program->activities) waits_.push_back(a.waits_for);
  }

  void Run() {
    const int n = static_cast<int>(waits_.size());
    for (int i = 0; i < n; ++i) {
      if (waits_[i] == 0) ready_.push_back(i);
    }
    FollowReady();
    // The activities of a loop that is divided among tasks wait for each other.
    for (int i = 0; i < n; ++i) {
      if (waits_[i] <= 0) continue;
      waits_[i] = 0;
      ready_.push_back(i);
      FollowReady();
    }
  }

 private:
  void FollowReady() {
    while (!ready_.empty()) {
      const int activity = ready_.front();
      ready_.pop_front();
      Mark(activity);
      Pass(activity);
    }
  }

  void Mark(int activity) {
    Activity& a = program_->activities[activity];
    if (a.task == 0) return;
    const Inflow& in = inflows_[activity];
    const auto update = updates_.find(activity);
    a.after_gradients = in.after || update != updates_.end();
    if (update == updates_.end()) return;
    a.variable = update->second.variable;
    const std::string& type = update->second.type;
    // An optimizer's update uses a gradient, even if it waits for another update, such as that of a moving average. An
    // assignment of the worker's value that follows an update, such as the average of a trained variable, does not.
    const bool by_optimizer = Has(type, "Apply") || Has(type, "Scatter");
    a.accumulates = in.from_worker && (by_optimizer || !in.after);
    a.by_rows = a.accumulates && (Has(type, "Scatter") || Has(type, "Sparse"));
    // Reads the gradient and the sum, writes the sum; or reads and writes each gradient that the sum of rows has.
    if (a.accumulates) a.accumulate_ns = EstimatedNs({.bytes = (a.by_rows ? 2 : 3) * in.bytes});
  }

  void Pass(int activity) {
    const Activity& a = program_->activities[activity];
    Inflow out = inflows_[activity];
    out.after = a.after_gradients;
    for (const int next : a.next) Reach(next, out);
    for (const int send : a.sends) {
      const TensorTransfer& t = program_->transfers[send];
      const bool is_signal = t.name.starts_with("^");
      Inflow passed = {.from_worker = t.from == 0 || out.from_worker, .after = out.after, .bytes = t.bytes};
      if (is_signal) passed.from_worker = false;
      for (const int next : t.next) Reach(next, t.to == 0 ? Inflow{} : passed);
    }
  }

  void Reach(int activity, const Inflow& inflow) {
    inflows_[activity].Add(inflow);
    if (--waits_[activity] == 0) ready_.push_back(activity);
  }

  const std::map<int, UpdateNode>& updates_;
  StepProgram* const program_;
  std::vector<Inflow> inflows_;  // by activity
  std::vector<int> waits_;       // by activity: what has not reached it
  std::deque<int> ready_;
};

}  // namespace

void MarkUpdates(const std::map<int, UpdateNode>& updates, StepProgram* program) { Marker(updates, program).Run(); }

}  // namespace tensorbraid::planner
