// A model and a hook for the tests of training sessions.
#ifndef TENSORBRAID_TRAIN_SESSIONS_SESSION_TESTUTIL_H_
#define TENSORBRAID_TRAIN_SESSIONS_SESSION_TESTUTIL_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {

// Moves weight to target by gradient descent on (weight - target)².
struct DescentModel {
  explicit DescentModel(double rate = 0.1) {
    target = Placeholder(g, kFloat32, {}, "target");
    weight = Variable(g, {}, Zeros(), {.name = "weight"});
    loss = Square(weight - target);
    global_step = GetOrCreateGlobalStep(g);
    GradientDescentOptimizer optimizer(rate);
    train = optimizer.Minimize(loss, {.global_step = global_step});
  }
  StatusOr<std::unique_ptr<MonitoredSession>> Start(std::vector<std::shared_ptr<SessionRunHook>> hooks = {}) {
    return MonitoredTrainingSession(g, {.hooks = std::move(hooks)});
  }
  std::vector<Feed> Feeds() const { return {{target, Tensor::Scalar(3.0f)}}; }

  Graph g;
  Output target, loss;
  Variable weight, global_step;
  Operation train;
};

// Records the calls of its functions. Fetches a tensor in each run.
class RecordingHook final : public SessionRunHook {
 public:
  explicit RecordingHook(Output fetch) : fetch_(fetch) {}
  Status Begin(Graph&) override { return Note("begin"); }
  Status AfterCreateSession(SessionRunContext&) override { return Note("created"); }
  SessionRunArgs BeforeRun(SessionRunContext& context) override {
    (void)Note(context.trains() ? "before" : "before evaluation");
    return {.fetches = {fetch_}, .feeds = {}, .global_step = true};
  }
  Status AfterRun(SessionRunContext&, const SessionRunValues& values) override {
    last = values;
    return Note("after");
  }
  Status End(SessionRunContext&, const Status&) override { return Note("end"); }

  std::vector<std::string> calls;
  SessionRunValues last;

 private:
  Status Note(const std::string& call) {
    calls.push_back(call);
    return OkStatus();
  }
  const Output fetch_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_SESSIONS_SESSION_TESTUTIL_H_
