#include "planner/model/calibration.h"

#include <algorithm>
#include <cmath>

namespace tensorbraid::planner {
namespace {

constexpr double kMostOfUsualCost = 4;  // of a message
constexpr int kSearchSteps = 12;

// One worker and one server on the hardware of the measurement.
class MeasuredPair {
 public:
  MeasuredPair(const PlanInput& input, const Hardware& measured_on) : input_(input) {
    input_.hardware = measured_on;
    input_.training.stragglers = {};
  }

  WayCosts& way() {
    Hardware& h = input_.hardware;
    return h.one_machine && !h.link_per_task ? h.local : h.remote;
  }
  MeasuredStep& measured() { return input_.graph.measured; }

  // The predicted time of a step, in ns.
  StatusOr<double> StepNs() {
    TF_ASSIGN_OR_RETURN(const PlanRow row, PlanOne(input_, {}));
    cpu_ns_ = row.prediction.cpu_ms * 1e6;
    return row.prediction.step_ms * 1e6;
  }
  // The time of a step if a message costs `message_ns`. The rest of the measured time of the cores follows messages.
  StatusOr<double> StepNsWith(double message_ns) {
    WayCosts& costs = way();
    costs.message_ns = message_ns;
    costs.server_after_ns = costs.worker_after_ns = 0;
    TF_RETURN_IF_ERROR(StepNs().status());
    if (messages_ <= 0) return StepNs();
    const double server_ns = ServerNs();
    costs.server_after_ns =
        std::max(0.0, measured().server_cpu_ns - server_ns) / messages_ + WakeNs(measured().server_polling_ns);
    costs.worker_after_ns =
        std::max(0.0, measured().cpu_ns - (cpu_ns_ - server_ns)) / messages_ + WakeNs(measured().polling_ns);
    return StepNs();
  }
  Status CountMessages() {
    WayCosts& costs = way();
    const double usual_ns = costs.message_ns;
    costs.message_ns = 0;
    TF_RETURN_IF_ERROR(StepNs().status());
    const double without_ns = cpu_ns_;
    costs.message_ns = 1000;
    TF_RETURN_IF_ERROR(StepNs().status());
    messages_ = std::round((cpu_ns_ - without_ns) / 1000 / 2);  // each is handled at two ends
    costs.message_ns = usual_ns;
    return OkStatus();
  }
  // The part of the worker in the time of the cores, without what follows messages.
  StatusOr<double> WorkerCpuNs() {
    WayCosts costs = way();
    way().server_after_ns = way().worker_after_ns = 0;
    TF_RETURN_IF_ERROR(StepNs().status());
    way() = costs;
    return cpu_ns_ - ServerNs();
  }
  Status Build() {
    GraphOptions options;
    options.shapes = input_.shapes;
    if (input_.hardware.worker_device) options.worker_device = &*input_.hardware.worker_device;
    if (input_.hardware.server_device) options.server_device = &*input_.hardware.server_device;
    TF_ASSIGN_OR_RETURN(program_, ProgramOf(input_.graph, options));
    return OkStatus();
  }

 private:
  // The cost per message sent or received of waking threads that polled when they were measured, but sleep in the plan.
  // Over a link this is 0: there the threads slept in the measurement too, since answers take longer than a thread
  // polls.
  double WakeNs(double polling_ns) const {
    const Hardware& h = input_.hardware;
    if (!h.one_machine || h.link_per_task) return 0;
    return std::min(input_.machine.wake.busy_ns / 2, polling_ns / messages_);  // half of the messages are received
  }
  // The time of the server's cores that the model explains.
  double ServerNs() {
    const WayCosts& costs = way();
    double ns = messages_ * costs.message_ns;
    for (const Activity& a : program_.activities) ns += a.task == 0 ? 0 : a.ns * a.threads;
    if (costs.shares_memory) return ns;
    return ns + program_.BytesBetween(0, 1) * costs.receive_byte_ns + program_.BytesBetween(1, 0) * costs.send_byte_ns;
  }

  PlanInput input_;
  StepProgram program_;
  double messages_ = 0;  // of a step
  double cpu_ns_ = 0;    // of the last prediction
};

bool IsLike(const WayCosts& a, const WayCosts& b) {
  return a.shares_memory == b.shares_memory && a.message_ns == b.message_ns && a.latency_ns == b.latency_ns;
}

// Finds the cost of a message with which the step takes the measured time, as far as there is one.
StatusOr<double> FitMessages(MeasuredPair* pair) {
  const double usual_ns = pair->way().message_ns, measured_ns = pair->measured().step_ns;
  double low = 0, high = kMostOfUsualCost * usual_ns;
  TF_ASSIGN_OR_RETURN(double step_ns, pair->StepNsWith(high));
  if (step_ns <= measured_ns) return step_ns;
  TF_ASSIGN_OR_RETURN(step_ns, pair->StepNsWith(low));
  if (step_ns >= measured_ns) return step_ns;
  for (int i = 0; i < kSearchSteps; ++i) {
    const double middle = (low + high) / 2;
    TF_ASSIGN_OR_RETURN(step_ns, pair->StepNsWith(middle));
    (step_ns < measured_ns ? low : high) = middle;
  }
  return step_ns;
}

// Adds the remaining difference to the time between two steps, or takes it from the times of the nodes. `known_cpu_ns`
// is the part of the worker's CPU time that the model explains.
void FitRest(double predicted_ns, double known_cpu_ns, MeasuredStep* step) {
  MeasuredStep& measured = *step;
  if (predicted_ns <= measured.step_ns) {
    const double longer_ns = measured.step_ns - predicted_ns;
    const double cpu_ns = std::clamp(measured.cpu_ns - known_cpu_ns, 0.0, longer_ns);
    measured.between_steps_ns += cpu_ns;
    measured.idle_ns += longer_ns - cpu_ns;
    return;
  }
  // Tracing makes small kernels slower.
  double compute_ns = 0;
  for (const auto& [node, ns] : measured.node_ns) compute_ns += ns;
  const double share = std::max(0.1, 1 - (predicted_ns - measured.step_ns) / std::max(compute_ns, 1.0));
  for (auto& [node, ns] : measured.node_ns) ns *= share;
}

// Calibrates a program that was measured without a cluster.
StatusOr<double> CalibrateLocal(PlanInput* input) {
  TF_ASSIGN_OR_RETURN(const double model_ns, LocalStepNs(*input, /*batch=*/0));
  FitRest(model_ns, model_ns, &input->graph.measured);
  return model_ns;
}

}  // namespace

Stragglers MeasuredStragglers(const MeasuredStep& measured) {
  double compute_ns = measured.idle_ns + measured.between_steps_ns;
  for (const auto& [node, ns] : measured.node_ns) compute_ns += ns;
  constexpr double kMost = 0.5;  // more is noise of this machine
  if (compute_ns <= 0) return {};
  return Stragglers::Lognormal(std::min(kMost, measured.sigma * std::max(1.0, measured.step_ns / compute_ns)));
}

Hardware ThisMachine(double cores, const WayCosts& local) {
  Hardware hardware;
  hardware.host_cores = cores;
  hardware.one_machine = true;
  hardware.local = local;
  return hardware;
}

void SetWakeUps(const MeasuredMachine& machine, Hardware* hardware) {
  if (IsBusy(machine)) return;
  for (WayCosts* way : {&hardware->local, &hardware->remote}) way->wake_ns = machine.wake.idle_ns;
}

StatusOr<double> Calibrate(PlanInput* input, const Hardware& measured_on) {
  if (input->graph.measured.step_ns <= 0) return 0;
  if (input->graph.measured.local) return CalibrateLocal(input);
  MeasuredPair pair(*input, measured_on);
  const WayCosts usual = pair.way();
  TF_ASSIGN_OR_RETURN(const double model_ns, pair.StepNs());
  double predicted_ns = model_ns;
  // Fitting the rest shifts the use of the cores, so that messages are fitted again.
  constexpr int kMostRounds = 3;
  for (int i = 0; i < kMostRounds; ++i) {
    if (input->graph.measured.server_cpu_ns > 0) {
      TF_RETURN_IF_ERROR(pair.Build());
      pair.way() = usual;
      TF_RETURN_IF_ERROR(pair.CountMessages());
      TF_ASSIGN_OR_RETURN(predicted_ns, FitMessages(&pair));
    } else if (i > 0) {
      break;
    }
    if (std::abs(predicted_ns / pair.measured().step_ns - 1) < 0.01) break;
    TF_ASSIGN_OR_RETURN(const double known_cpu_ns, pair.WorkerCpuNs());
    FitRest(predicted_ns, known_cpu_ns, &pair.measured());
  }
  input->graph.measured = pair.measured();
  for (WayCosts* way : {&input->hardware.local, &input->hardware.remote}) {
    if (IsLike(*way, usual)) *way = pair.way();
  }
  return model_ns;
}

}  // namespace tensorbraid::planner
