#include "cluster/task.h"

#include <algorithm>
#include <thread>

#include "core/logging.h"
#include "core/strings.h"

namespace tensorbraid {

Task::Task(const TaskOptions& options, ClusterSpec cluster) : options_(options), cluster_(std::move(cluster)) {
  const int threads =
      options.inter_op_threads > 0 ? options.inter_op_threads : static_cast<int>(std::thread::hardware_concurrency());
  pool_ = std::make_unique<ThreadPool>("tb-pool", std::max(1, threads));
}

Machine Task::machine(std::vector<DeviceInfo> devices) {
  return {.resources = &resources_, .pool = pool_.get(), .timer = timer_.get(), .devices = std::move(devices)};
}

StatusOr<std::shared_ptr<Task>> Task::CreateLocal(const TaskOptions& options) {
  TF_ASSIGN_OR_RETURN(auto devices, DevicesOfMachine(options.device_count));
  auto task = std::shared_ptr<Task>(new Task(options, {}));
  Transport* const no_transport = nullptr;
  task->home_ = Member::Create(
      task->machine(std::move(devices)), {},
      {.job = options.job, .index = options.index, .links = options.links, .exchange = options.exchange}, no_transport);
  return task;
}

StatusOr<std::shared_ptr<Task>> Task::Create(const ClusterSpec& cluster, const TaskOptions& options,
                                             std::unique_ptr<Transport> transport) {
  TF_ASSIGN_OR_RETURN(auto devices, DevicesOfMachine(options.device_count));
  auto task = std::shared_ptr<Task>(new Task(options, cluster));
  task->timer_ = std::make_unique<Timer>();
  const Machine machine = task->machine(std::move(devices));
  const MemberOptions member{
      .job = options.job, .index = options.index, .links = options.links, .exchange = options.exchange};
  task->session_clusters_ = std::make_unique<SessionClusters>(machine, member);
  SessionClusters* const session_clusters = task->session_clusters_.get();
  task->switchboard_ = std::make_unique<Switchboard>(
      std::move(transport), [session_clusters](const Hello& from) { return session_clusters->Admit(from); });
  session_clusters->set_switchboard(task->switchboard_.get());
  task->home_ = Member::Create(machine, cluster, member, task->switchboard_->home());
  task->service_ = std::make_unique<MasterService>(
      task->home_,
      [session_clusters](const ClusterSpec& c, const std::string& t) { return session_clusters->Open(c, t); },
      task->timer_.get(), task->pool_.get(), options.default_session_config);
  task->switchboard_->home()->ServeCalls(task->service_.get());
  return task;
}

StatusOr<int> Task::Start(const std::string& address) {
  TF_ASSIGN_OR_RETURN(const int port, links()->Listen(address));
  session_clusters_->set_own_address(StrCat(address.substr(0, address.rfind(':')), ":", port));
  if (options_.job != "ps") {
    for (int index : cluster_.task_indices("ps")) links()->KeepConnected(FullTaskName("ps", index));
  }
  return port;
}

void Task::Stop(const Status& why) {
  if (service_ != nullptr) service_->Shutdown();
  if (session_clusters_ != nullptr) session_clusters_->Shutdown();
  home_->Stop(why);
}

Task::~Task() {
  Stop(OkStatus());
  // Threads end before what they work on: those of waiting calls, the timer's, then the pool's (transport threads ended
  // with the links).
  if (service_ != nullptr) service_->WaitForCalls();
  timer_.reset();
  pool_.reset();
}

namespace {
struct TaskDirectory {
  Mutex mu;
  std::map<std::string, std::weak_ptr<Task>> tasks TB_GUARDED_BY(mu);
};
TaskDirectory& Directory() {
  static auto* directory = new TaskDirectory;
  return *directory;
}
}  // namespace

void PublishTask(const std::string& target, const std::shared_ptr<Task>& task) {
  MutexLock lock(Directory().mu);
  Directory().tasks[target] = task;
}

void WithdrawTask(const std::string& target) {
  MutexLock lock(Directory().mu);
  Directory().tasks.erase(target);
}

StatusOr<std::shared_ptr<Task>> FindTask(const std::string& target) {
  std::vector<std::string> targets;
  MutexLock lock(Directory().mu);
  for (const auto& [name, weak] : Directory().tasks) {
    auto task = weak.lock();
    if (task == nullptr) continue;
    if (name == target) return task;
    targets.push_back(name);
  }
  return NotFound("no server of this process has the target '", target, "'",
                  targets.empty() ? "; there is none at all" : StrCat("; there are ", StrJoin(targets, ", ")));
}

}  // namespace tensorbraid
