#include "planner/simulation/simulation.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "planner/simulation/event_queue.h"
#include "planner/simulation/sync_updates.h"

namespace tensorbraid::planner {
namespace {

class TrainingSimulation {
 public:
  TrainingSimulation(const StepProgram& program, const ClusterModel& cluster, const TrainingModel& training)
      : program_(program),
        cluster_(cluster),
        training_(training),
        random_(training.seed),
        machines_(cluster, &events_),
        workers_(cluster.workers.size()),
        needed_(static_cast<int>(workers_.size()) - training.spares),
        sync_updates_(program, &machines_, &events_, static_cast<int>(workers_.size()), needed_,
                      [this](int w) { OnToken(w); }) {
    int variables = 0;
    activities_of_.assign(static_cast<size_t>(program.servers) + 1, 0);
    roots_.resize(activities_of_.size());
    for (size_t i = 0; i < program.activities.size(); ++i) {
      const Activity& a = program.activities[i];
      if (a.waits_for == 0) roots_[a.task].push_back(static_cast<int>(i));
      variables = std::max(variables, a.variable + 1);
      ++activities_of_[a.task];
      accumulators_ += a.accumulates;
    }
    for (int v = 0; v < variables; ++v) locks_.emplace_back();
  }

  Prediction Run() {
    const auto workers = static_cast<int64_t>(workers_.size());
    const int64_t measure_from = workers * training_.warm_up_steps;
    const int64_t end = measure_from + workers * training_.steps;
    const double step_ns = sync() ? 0 : FastestStepNs();
    for (int w = 0; w < workers; ++w) {
      const double offset = static_cast<double>(w) / static_cast<double>(workers) * step_ns;
      events_.After(offset, [this, w] { StartStep(w); });
    }
    while (completed_ < end) {
      if (!measuring_ && completed_ >= measure_from) StartMeasuring();
      if (!events_.RunNext()) break;
    }
    return measurement_.Result(events_.now_ns() - measured_from_ns_, updates() - updates_before_,
                               sync() && accumulators_ > 0 ? needed_ : 0, program_.batch, &machines_);
  }

 private:
  // About the time of a step if the fullest link of a server is in use in both directions all the time. Asynchronous
  // workers begin one after the other within this time, so that some read while others write. Those that begin together
  // go on reading and writing at the same times, and use one direction of the links after the other.
  double FastestStepNs() const {
    double alone_ns = 0, shared_ns = 0;
    for (int s = 0; s < program_.servers; ++s) {
      const LinkSpeed& speed = cluster_.links[cluster_.servers[s].link];
      double read_ns = 0, write_ns = 0;
      if (speed.out_bytes_per_s > 0) read_ns = program_.BytesBetween(s + 1, 0) / speed.out_bytes_per_s * 1e9;
      if (speed.in_bytes_per_s > 0) write_ns = program_.BytesBetween(0, s + 1) / speed.in_bytes_per_s * 1e9;
      alone_ns = std::max(alone_ns, read_ns + write_ns);
      shared_ns = std::max({shared_ns, read_ns, write_ns});
    }
    return std::max(program_.ComputeNs(0) + program_.idle_ns + alone_ns,
                    shared_ns * static_cast<double>(workers_.size()));
  }

  struct Worker {
    std::vector<int> waits;        // for each activity: how much it still waits for
    std::vector<int> server_left;  // for each server: activities of this step that have not ended
    std::set<int> ready;           // the worker's activities that can run
    bool computing = false;
    int left = 0;          // the worker's activities that have not ended
    int answers_left = 0;  // servers that have not told that their part has ended
    int parts_left = 0;    // servers whose part has not ended
    int accumulations_left = 0;
    bool token = true;
    double factor = 1;
    double start_ns = 0, compute_ns = 0;
    int64_t steps = 0;
    int64_t read_version = 0;  // async_updates_ when the step read the values
    bool dropped = false;
  };
  // The updates of a variable run one after the other.
  struct Lock {
    bool held = false;
    std::deque<std::function<void()>> waiting;
  };

  bool sync() const { return training_.mode == Mode::kSync; }
  int ServerTask(int server) const { return machines_.ServerTask(server); }
  int WorkerTask(int w) const { return machines_.WorkerTask(w); }
  // The task of the machines for a task of the program.
  int TaskOf(int w, int task) const { return task == 0 ? WorkerTask(w) : ServerTask(task - 1); }
  int64_t updates() const { return sync() ? sync_updates_.updates() : async_updates_; }

  void StartStep(int w) {
    Worker& worker = workers_[w];
    worker.start_ns = events_.now_ns();
    worker.factor = 0;
    for (int i = 0; i < program_.workers; ++i) {
      worker.factor = std::max(worker.factor, training_.stragglers.Draw(random_));
    }
    worker.compute_ns = 0;
    worker.dropped = false;
    worker.waits.clear();
    for (const Activity& a : program_.activities) worker.waits.push_back(a.waits_for);
    worker.server_left.assign(activities_of_.begin() + 1, activities_of_.end());
    worker.left = activities_of_[0];
    worker.answers_left = worker.parts_left = 0;
    for (const int left : worker.server_left) worker.answers_left += left > 0;
    worker.parts_left = worker.answers_left;
    worker.accumulations_left = accumulators_;
    worker.token = !sync() || accumulators_ == 0;
    auto begin = [this, w] {
      machines_.CoresOf(WorkerTask(w)).Run(program_.between_steps_ns, program_.workers, [this, w] { BeginParts(w); });
    };
    if (program_.idle_ns > 0) return events_.After(program_.idle_ns * worker.factor, std::move(begin));
    begin();
  }

  void BeginParts(int w) {
    Worker& worker = workers_[w];
    worker.read_version = async_updates_;
    for (int s = 0; s < program_.servers; ++s) {
      if (worker.server_left[s] == 0) continue;
      machines_.SendMessage(WorkerTask(w), ServerTask(s), kControlBytes, [this, w, s] { StartRoots(w, s + 1); });
      // The stamp of the gradients, a variable of the worker.
      if (sync()) machines_.SendMessage(WorkerTask(w), ServerTask(s), kControlBytes, [] {});
    }
    StartRoots(w, 0);
    MaybeEndStep(w);
  }

  void StartRoots(int w, int task) {
    for (const int activity : roots_[task]) Ready(w, activity);
  }

  void Ready(int w, int activity) {
    const Activity& a = program_.activities[activity];
    if (a.task == 0) {
      workers_[w].ready.insert(activity);
      return ComputeNext(w);
    }
    const bool late = sync() && a.accumulates && sync_updates_.IsLate(w);
    if (late) workers_[w].dropped = true;
    SharedCores& cores = machines_.CoresOf(ServerTask(a.task - 1));
    const bool locks = a.variable >= 0 && !(sync() && !a.accumulates);
    const auto ns = [this, activity, late, ns = a.ns, accumulates = sync() && a.after_gradients] {
      return !accumulates ? ns : late ? 0 : sync_updates_.AccumulateNs(activity);
    };
    auto ended = [this, w, activity] { OnServerActivity(w, activity); };
    if (!locks) return cores.Run(ns(), a.threads, std::move(ended));
    const int variable = a.variable;
    auto locked = [this, &cores, ns, threads = a.threads, variable, ended = std::move(ended)]() mutable {
      cores.Run(ns(), threads, [this, variable, ended = std::move(ended)] {
        Unlock(variable);
        ended();
      });
    };
    Lock& lock = locks_[variable];
    if (lock.held) {
      lock.waiting.push_back(std::move(locked));
    } else {
      lock.held = true;
      locked();
    }
  }

  void Unlock(int variable) {
    Lock& lock = locks_[variable];
    if (lock.waiting.empty()) {
      lock.held = false;
      return;
    }
    auto next = std::move(lock.waiting.front());
    lock.waiting.pop_front();
    events_.After(0, std::move(next));
  }

  void ComputeNext(int w) {
    Worker& worker = workers_[w];
    if (worker.computing || worker.ready.empty()) return;
    const int activity = *worker.ready.begin();
    worker.ready.erase(worker.ready.begin());
    worker.computing = true;
    const Activity& a = program_.activities[activity];
    const double start = events_.now_ns();
    auto ended = [this, w, activity, start] {
      Worker& done = workers_[w];
      done.computing = false;
      done.compute_ns += events_.now_ns() - start;
      --done.left;
      Finish(w, activity, /*with_answer=*/false);
      ComputeNext(w);
      MaybeEndStep(w);
    };
    const double ns = (a.ns + (sync() ? a.sort_ns : 0)) * worker.factor;
    if (program_.has_device) {
      events_.After(ns, std::move(ended));
    } else {
      machines_.CoresOf(WorkerTask(w)).Run(ns, a.threads, std::move(ended));
    }
  }

  void OnServerActivity(int w, int activity) {
    Worker& worker = workers_[w];
    const Activity& a = program_.activities[activity];
    if (a.accumulates) OnGradient(w, activity);
    const bool last = --worker.server_left[a.task - 1] == 0;
    Finish(w, activity, last);
    if (!last || --worker.parts_left > 0 || worker.token) return;
    sync_updates_.AwaitToken(w);
  }

  void OnToken(int w) {
    workers_[w].token = true;
    MaybeEndStep(w);
  }

  void OnGradient(int w, int activity) {
    Worker& worker = workers_[w];
    if (sync()) {
      if (!sync_updates_.IsLate(w)) return sync_updates_.AddGradient(activity);
      worker.dropped = true;
      return;
    }
    if (--worker.accumulations_left > 0) return;
    const int64_t staleness = async_updates_ - worker.read_version;
    ++async_updates_;
    if (measuring_) measurement_.AddStaleness(staleness);
  }

  // Starts what waited for the activity. Small tensors to the same task leave in one message; with_answer, the message
  // to the worker also says that the server's part of the step has ended.
  void Finish(int w, int activity, bool with_answer) {
    const Activity& a = program_.activities[activity];
    std::map<int, std::vector<int>> small;
    for (const int send : a.sends) {
      const TensorTransfer& t = program_.transfers[send];
      if (t.bytes <= training_.eager_bytes) {
        small[t.to].push_back(send);
      } else {
        SendLarge(w, send);
      }
    }
    if (with_answer) small[0];
    for (auto& [to, sends] : small) {
      double bytes = kControlBytes;
      for (const int send : sends) bytes += program_.transfers[send].bytes;
      const bool answers = with_answer && to == 0;
      machines_.SendMessage(TaskOf(w, a.task), TaskOf(w, to), bytes, [this, w, sends = std::move(sends), answers] {
        for (const int send : sends) Arrived(w, send);
        if (!answers) return;
        --workers_[w].answers_left;
        MaybeEndStep(w);
      });
    }
    for (const int next : a.next) Happened(w, next);
  }

  void SendLarge(int w, int send) {
    const TensorTransfer& t = program_.transfers[send];
    const int from = TaskOf(w, t.from), to = TaskOf(w, t.to);
    auto data = [this, w, send, from, to] {
      machines_.SendTensor(from, to, program_.transfers[send].bytes, [this, w, send] { Arrived(w, send); });
    };
    if (!t.announced || machines_.WayOf(from, to).shares_memory) return data();
    machines_.SendMessage(from, to, kControlBytes, [this, from, to, data = std::move(data)] {
      machines_.SendMessage(to, from, kControlBytes, data);
    });
  }

  void Arrived(int w, int transfer) {
    for (const int next : program_.transfers[transfer].next) Happened(w, next);
  }
  void Happened(int w, int activity) {
    if (--workers_[w].waits[activity] == 0) Ready(w, activity);
  }

  void MaybeEndStep(int w) {
    Worker& worker = workers_[w];
    if (worker.left > 0 || worker.answers_left > 0 || !worker.token) return;
    worker.token = false;  // so that the step ends once
    ++worker.steps;
    ++completed_;
    const double straggler_ns = sync_updates_.TakeStragglerNs(w);
    if (measuring_) {
      measurement_.AddStep({.ns = events_.now_ns() - worker.start_ns,
                            .compute_ns = worker.compute_ns,
                            .straggler_ns = straggler_ns,
                            .dropped = worker.dropped});
    }
    if (training_.mode != Mode::kBounded) return events_.After(0, [this, w] { StartStep(w); });
    waiting_to_start_.push_back(w);
    StartThoseNotAhead();
  }

  void StartThoseNotAhead() {
    int64_t slowest = workers_[0].steps;
    for (const Worker& worker : workers_) slowest = std::min(slowest, worker.steps);
    std::vector<int> still;
    for (const int w : waiting_to_start_) {
      if (workers_[w].steps - slowest > training_.max_ahead) {
        still.push_back(w);
      } else {
        events_.After(0, [this, w] { StartStep(w); });
      }
    }
    waiting_to_start_ = std::move(still);
  }

  void StartMeasuring() {
    measuring_ = true;
    measured_from_ns_ = events_.now_ns();
    updates_before_ = updates();
    machines_.StartMeasuring();
  }

  const StepProgram& program_;
  const ClusterModel& cluster_;
  const TrainingModel& training_;
  std::mt19937_64 random_;
  EventQueue events_;
  SimulatedMachines machines_;
  std::vector<Worker> workers_;
  const int needed_;  // gradients of an update in synchronous training
  SyncUpdates sync_updates_;
  std::deque<Lock> locks_;
  std::vector<int> activities_of_;       // by task
  std::vector<std::vector<int>> roots_;  // by task: activities that wait for nothing
  int accumulators_ = 0;                 // activities that accumulate
  std::vector<int> waiting_to_start_;
  int64_t async_updates_ = 0;
  int64_t completed_ = 0;  // steps of all workers
  bool measuring_ = false;
  double measured_from_ns_ = 0;
  int64_t updates_before_ = 0;
  Measurement measurement_;
};

}  // namespace

StatusOr<Prediction> Simulate(const StepProgram& program, const ClusterModel& cluster, const TrainingModel& training) {
  if (cluster.workers.empty()) return InvalidArgument("the cluster has no worker");
  if (static_cast<int>(cluster.servers.size()) < program.servers) {
    return InvalidArgument("the cluster has ", cluster.servers.size(), " parameter servers, and the step uses ",
                           program.servers);
  }
  if (training.mode == Mode::kSync && training.spares >= static_cast<int>(cluster.workers.size())) {
    return InvalidArgument("of ", cluster.workers.size(), " workers, ", training.spares,
                           " cannot be spare: at least one must be left");
  }
  return TrainingSimulation(program, cluster, training).Run();
}

}  // namespace tensorbraid::planner
