#include "planner/simulation.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "core/text/strings.h"

namespace tensorbraid::planner {
namespace {

constexpr double kControlBytes = 100;  // of a message without a tensor

// The counts that the prediction is made of.
struct Measured {
  int64_t steps = 0, used_steps = 0, updates = 0;
  double step_ns = 0, compute_ns = 0, straggler_ns = 0;
  std::vector<double> times_ns;
  double staleness = 0;
  int64_t max_staleness = 0;
};

// What had been counted when the measurement began.
struct Before {
  double ns = 0;
  std::vector<double> bytes_out, bytes_in;  // by link
  std::vector<double> busy_ns;              // by host
};

class TrainingSimulation {
 public:
  TrainingSimulation(const StepProgram& program, const ClusterModel& cluster, const TrainingModel& training)
      : program_(program), cluster_(cluster), training_(training), random_(training.seed), network_(&events_) {
    for (const double cores : cluster.host_cores) hosts_.push_back(std::make_unique<SharedCores>(&events_, cores));
    for (const LinkSpeed& link : cluster.links) network_.AddLink(link);
    for (const auto* places : {&cluster.servers, &cluster.workers}) {
      for (const auto& place : *places) network_.AddTask(hosts_[place.host].get(), place.link);
    }
    workers_.resize(cluster.workers.size());
    needed_ = static_cast<int>(workers_.size()) - training.spares;
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
    gathered_.assign(program.activities.size(), 0);
    armed_.assign(program.servers, true);
  }

  Prediction Run() {
    const auto workers = static_cast<int64_t>(workers_.size());
    const int64_t measure_from = workers * training_.warm_up_steps;
    const int64_t end = measure_from + workers * training_.steps;
    const double longest_ns = sync() || workers == 1 ? 0 : LongestStepNs();
    for (int w = 0; w < workers; ++w) {
      const double offset = UniformNumber(random_) * longest_ns;
      events_.After(offset, [this, w] { StartStep(w); });
    }
    while (completed_ < end) {
      if (!measuring_ && completed_ >= measure_from) StartMeasuring();
      if (!events_.RunNext()) break;
    }
    return Result();
  }

 private:
  // About the time of a step in which all workers use the fullest link of a server at the same time. Asynchronous
  // workers begin within this time. If all began together, they would go on reading and writing at the same times for
  // long, and use one direction of the links after the other.
  double LongestStepNs() const {
    double transfers_ns = 0;
    for (int s = 0; s < program_.servers; ++s) {
      const LinkSpeed& speed = cluster_.links[cluster_.servers[s].link];
      double ns = 0;
      if (speed.out_bytes_per_s > 0) ns += program_.BytesBetween(s + 1, 0) / speed.out_bytes_per_s * 1e9;
      if (speed.in_bytes_per_s > 0) ns += program_.BytesBetween(0, s + 1) / speed.in_bytes_per_s * 1e9;
      transfers_ns = std::max(transfers_ns, ns * static_cast<double>(workers_.size()));
    }
    return program_.ComputeNs(0) + program_.idle_ns + transfers_ns;
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
    double start_ns = 0, compute_ns = 0, waits_since_ns = 0, straggler_ns = 0;
    int64_t steps = 0;
    int64_t stamp = 0;         // the update whose values the step reads
    int64_t read_version = 0;  // updates_ at that time
    bool dropped = false;
  };
  // The updates of a variable run one after the other.
  struct Lock {
    bool held = false;
    std::deque<std::function<void()>> waiting;
  };

  bool sync() const { return training_.mode == Mode::kSync; }
  int ServerTask(int server) const { return server; }
  int WorkerTask(int w) const { return static_cast<int>(cluster_.servers.size()) + w; }
  int NetworkTask(int w, int task) const { return task == 0 ? WorkerTask(w) : ServerTask(task - 1); }
  const ClusterModel::TaskPlace& PlaceOf(int network_task) const {
    const int servers = static_cast<int>(cluster_.servers.size());
    return network_task < servers ? cluster_.servers[network_task] : cluster_.workers[network_task - servers];
  }
  SharedCores& CoresOf(int network_task) { return *hosts_[PlaceOf(network_task).host]; }
  const WayCosts& WayOf(int from, int to) const {
    return PlaceOf(from).link == PlaceOf(to).link ? cluster_.local : cluster_.remote;
  }
  void SendMessage(int from, int to, double bytes, std::function<void()> arrived) {
    network_.Send(from, to, bytes, /*bulk=*/false, WayOf(from, to), std::move(arrived));
  }

  void StartStep(int w) {
    Worker& worker = workers_[w];
    worker.start_ns = events_.now_ns();
    worker.factor = training_.stragglers.Draw(random_);
    worker.compute_ns = worker.straggler_ns = 0;
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
    auto begin = [this, w] { CoresOf(WorkerTask(w)).Run(program_.between_steps_ns, 1, [this, w] { BeginParts(w); }); };
    if (program_.idle_ns > 0) return events_.After(program_.idle_ns * worker.factor, std::move(begin));
    begin();
  }

  void BeginParts(int w) {
    Worker& worker = workers_[w];
    worker.read_version = updates_;
    for (int s = 0; s < program_.servers; ++s) {
      if (worker.server_left[s] == 0) continue;
      SendMessage(WorkerTask(w), ServerTask(s), kControlBytes, [this, w, s] { StartRoots(w, s + 1); });
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
    const bool late = sync() && a.accumulates && workers_[w].stamp < updates_;
    if (late) workers_[w].dropped = true;
    const double ns = sync() && a.after_gradients ? (late ? 0 : a.accumulate_ns) : a.ns;
    SharedCores& cores = CoresOf(ServerTask(a.task - 1));
    const bool locks = a.variable >= 0 && !(sync() && !a.accumulates);
    auto ended = [this, w, activity] { OnServerActivity(w, activity); };
    if (!locks) return cores.Run(ns, a.threads, std::move(ended));
    const int variable = a.variable;
    auto locked = [this, &cores, ns, threads = a.threads, variable, ended = std::move(ended)]() mutable {
      cores.Run(ns, threads, [this, variable, ended = std::move(ended)] {
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
    if (program_.has_device) {
      events_.After(a.ns * worker.factor, std::move(ended));
    } else {
      CoresOf(WorkerTask(w)).Run(a.ns * worker.factor, a.threads, std::move(ended));
    }
  }

  void OnServerActivity(int w, int activity) {
    Worker& worker = workers_[w];
    const Activity& a = program_.activities[activity];
    if (a.accumulates) OnGradient(w, activity);
    const bool last = --worker.server_left[a.task - 1] == 0;
    Finish(w, activity, last);
    if (!last || --worker.parts_left > 0 || worker.token) return;
    // The worker's operation takes a token when its gradients have been added.
    worker.waits_since_ns = events_.now_ns();
    waiting_for_token_.push_back(w);
    GiveTokens();
  }

  void OnGradient(int w, int activity) {
    Worker& worker = workers_[w];
    if (!sync()) {
      if (--worker.accumulations_left > 0) return;
      const int64_t staleness = updates_ - worker.read_version;
      ++updates_;
      if (!measuring_) return;
      ++measured_.updates;
      measured_.staleness += static_cast<double>(staleness);
      measured_.max_staleness = std::max(measured_.max_staleness, staleness);
      return;
    }
    if (worker.stamp < updates_) {
      worker.dropped = true;
      return;
    }
    if (++gathered_[activity] == needed_ && ++complete_ == accumulators_) MaybeApply();
  }

  // The chief's part of a synchronous step. It waits on the servers until all accumulators have enough gradients.
  void MaybeApply() {
    if (complete_ < accumulators_ || applying_ || std::count(armed_.begin(), armed_.end(), false) > 0) return;
    applying_ = true;
    gathered_.assign(gathered_.size(), 0);
    complete_ = 0;
    for (const int w : waiting_for_token_) {
      workers_[w].straggler_ns += events_.now_ns() - workers_[w].waits_since_ns;
      workers_[w].waits_since_ns = -1;
    }
    ++updates_;  // from now on gradients for the old values are late
    if (measuring_) ++measured_.updates;
    servers_applying_ = 0;
    for (int s = 0; s < program_.servers; ++s) {
      armed_[s] = false;
      double ns = 0, variables = 0;
      for (const Activity& a : program_.activities) {
        if (a.task != s + 1 || !a.after_gradients) continue;
        ns += a.ns;
        variables += a.ns > 0;
      }
      ++servers_applying_;
      SharedCores& cores = CoresOf(ServerTask(s));
      const double threads = std::max(1.0, std::min(variables, cores.cores()));
      cores.Run(ns / threads, threads, [this, s] {
        // Server 0 has the global step and the tokens. It hears from the others.
        if (s == 0) return OnApplied();
        SendMessage(ServerTask(s), ServerTask(0), kControlBytes, [this] { OnApplied(); });
      });
    }
  }

  void OnApplied() {
    if (--servers_applying_ > 0) return;
    applying_ = false;
    for (size_t i = 0; i < workers_.size(); ++i) tokens_.push_back(updates_);
    GiveTokens();
    // The chief, worker 0, learns that its operation has ended, and starts it again.
    SendMessage(ServerTask(0), WorkerTask(0), kControlBytes, [this] {
      for (int s = 0; s < program_.servers; ++s) {
        SendMessage(WorkerTask(0), ServerTask(s), kControlBytes, [this, s] {
          armed_[s] = true;
          MaybeApply();
        });
      }
    });
  }

  void GiveTokens() {
    while (!tokens_.empty() && !waiting_for_token_.empty()) {
      const int w = waiting_for_token_.front();
      waiting_for_token_.pop_front();
      const int64_t stamp = tokens_.front();
      tokens_.pop_front();
      SendMessage(ServerTask(0), WorkerTask(w), kControlBytes, [this, w, stamp] {
        workers_[w].token = true;
        workers_[w].stamp = stamp;
        MaybeEndStep(w);
      });
    }
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
      SendMessage(NetworkTask(w, a.task), NetworkTask(w, to), bytes, [this, w, sends = std::move(sends), answers] {
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
    const int from = NetworkTask(w, t.from), to = NetworkTask(w, t.to);
    const WayCosts& way = WayOf(from, to);
    auto data = [this, w, send, from, to, &way] {
      network_.Send(from, to, program_.transfers[send].bytes, /*bulk=*/true, way,
                    [this, w, send] { Arrived(w, send); });
    };
    if (!t.announced || way.shares_memory) return data();
    SendMessage(from, to, kControlBytes,
                [this, from, to, data = std::move(data)] { SendMessage(to, from, kControlBytes, data); });
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
    if (measuring_) {
      const double ns = events_.now_ns() - worker.start_ns;
      ++measured_.steps;
      measured_.used_steps += !worker.dropped;
      measured_.times_ns.push_back(ns);
      measured_.step_ns += ns;
      measured_.compute_ns += worker.compute_ns;
      measured_.straggler_ns += worker.straggler_ns;
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
    before_.ns = events_.now_ns();
    for (size_t i = 0; i < cluster_.links.size(); ++i) {
      before_.bytes_out.push_back(network_.bytes_out(static_cast<int>(i)));
      before_.bytes_in.push_back(network_.bytes_in(static_cast<int>(i)));
    }
    for (const auto& host : hosts_) before_.busy_ns.push_back(host->busy_ns());
  }

  double LinkUse(const std::vector<ClusterModel::TaskPlace>& places) const {
    double most = 0;
    const double s = (events_.now_ns() - before_.ns) / 1e9;
    for (const auto& place : places) {
      const LinkSpeed& speed = network_.speed(place.link);
      const double sent = network_.bytes_out(place.link) - before_.bytes_out[place.link];
      const double received = network_.bytes_in(place.link) - before_.bytes_in[place.link];
      if (speed.out_bytes_per_s > 0) most = std::max(most, sent / s / speed.out_bytes_per_s);
      if (speed.in_bytes_per_s > 0) most = std::max(most, received / s / speed.in_bytes_per_s);
    }
    return std::min(most, 1.0);
  }

  Prediction Result() {
    Prediction p;
    const double ns = events_.now_ns() - before_.ns;
    if (measured_.steps == 0 || ns <= 0) return p;
    std::vector<double>& times = measured_.times_ns;
    std::nth_element(times.begin(), times.begin() + static_cast<int64_t>(times.size() / 2), times.end());
    p.step_ms = times[times.size() / 2] / 1e6;
    p.updates_per_s = static_cast<double>(measured_.updates) / ns * 1e9;
    p.steps_per_s =
        sync() && accumulators_ > 0 ? p.updates_per_s * needed_ : static_cast<double>(measured_.steps) / ns * 1e9;
    p.examples_per_s = p.steps_per_s * program_.batch;
    p.compute_share = measured_.compute_ns / measured_.step_ns;
    p.straggler_share = measured_.straggler_ns / measured_.step_ns;
    p.worker_link_use = LinkUse(cluster_.workers);
    p.server_link_use = LinkUse(cluster_.servers);
    for (const auto& place : cluster_.servers) {
      const double busy = hosts_[place.host]->busy_ns() - before_.busy_ns[place.host];
      p.server_cpu_use = std::max(p.server_cpu_use, busy / ns / hosts_[place.host]->cores());
    }
    if (!sync() && measured_.updates > 0)
      p.mean_staleness = measured_.staleness / static_cast<double>(measured_.updates);
    p.max_staleness = measured_.max_staleness;
    p.dropped_share = 1 - static_cast<double>(measured_.used_steps) / static_cast<double>(measured_.steps);
    p.bound = BoundOf(p);
    return p;
  }

  // A resource that is nearly always in use bounds the whole cluster; otherwise the largest part of a step does.
  static Bound BoundOf(const Prediction& p) {
    constexpr double kFull = 0.9;
    if (p.server_link_use > kFull && p.server_link_use >= p.worker_link_use) return Bound::kServerLink;
    if (p.worker_link_use > kFull) return Bound::kWorkerLink;
    const double rest = 1 - p.compute_share - p.straggler_share;
    if (p.server_cpu_use > kFull && rest > p.compute_share) return Bound::kServerCpu;
    if (p.compute_share >= rest && p.compute_share >= p.straggler_share) return Bound::kCompute;
    if (p.straggler_share >= rest) return Bound::kStragglers;
    const double links = std::max(p.server_link_use, p.worker_link_use);
    if (links < 0.3 && p.server_cpu_use < 0.5) return Bound::kMessages;
    if (p.server_cpu_use > links) return Bound::kServerCpu;
    return p.server_link_use >= p.worker_link_use ? Bound::kServerLink : Bound::kWorkerLink;
  }

  const StepProgram& program_;
  const ClusterModel& cluster_;
  const TrainingModel& training_;
  std::mt19937_64 random_;
  EventQueue events_;
  std::vector<std::unique_ptr<SharedCores>> hosts_;
  Network network_;
  std::vector<Worker> workers_;
  std::deque<Lock> locks_;
  std::vector<int> activities_of_;       // by task
  std::vector<std::vector<int>> roots_;  // by task: activities that wait for nothing
  int accumulators_ = 0;                 // activities that accumulate
  int needed_ = 0;                       // gradients of an update in synchronous training
  std::vector<int> gathered_;            // gradients in each accumulator, by activity
  int complete_ = 0;                     // accumulators with enough gradients
  bool applying_ = false;
  std::vector<bool> armed_;  // servers on which the chief's operation waits
  int servers_applying_ = 0;
  std::deque<int64_t> tokens_;
  std::deque<int> waiting_for_token_;
  std::vector<int> waiting_to_start_;
  int64_t updates_ = 0;
  int64_t completed_ = 0;  // steps of all workers
  bool measuring_ = false;
  Before before_;
  Measured measured_;
};

}  // namespace

ClusterModel SeparateMachines(int servers, int workers, double cores, const LinkSpeed& link, const WayCosts& remote) {
  ClusterModel cluster;
  cluster.remote = remote;
  for (int i = 0; i < servers + workers; ++i) {
    cluster.host_cores.push_back(cores);
    cluster.links.push_back(link);
    (i < servers ? cluster.servers : cluster.workers).push_back({.host = i, .link = i});
  }
  return cluster;
}

ClusterModel OneMachine(int servers, int workers, double cores, const WayCosts& local) {
  ClusterModel cluster;
  cluster.local = local;
  cluster.host_cores = {cores};
  cluster.links = {{}};
  cluster.servers.resize(servers);
  cluster.workers.resize(workers);
  return cluster;
}

std::string_view BoundName(Bound bound) {
  switch (bound) {
    case Bound::kCompute:
      return "compute";
    case Bound::kWorkerLink:
      return "worker link";
    case Bound::kServerLink:
      return "PS link";
    case Bound::kServerCpu:
      return "PS CPU";
    case Bound::kStragglers:
      return "stragglers";
    case Bound::kMessages:
      return "messages";
  }
  return "";
}

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
