#include "cluster/task.h"

#include <algorithm>

#include "core/logging.h"
#include "core/strings.h"
#include "core/thread.h"

namespace tensorbraid {

Task::Task(const TaskOptions& options, ClusterSpec cluster, std::unique_ptr<DeviceSet> devices)
    : options_(options), cluster_(std::move(cluster)), devices_(std::move(devices)) {
  const int threads = options.inter_op_threads > 0 ? options.inter_op_threads : NumCores();
  pool_ = std::make_unique<ThreadPool>("tb-pool", threads);
}

Machine Task::machine() {
  return {.device_set = devices_.get(),
          .resources = &resources_,
          .pool = pool_.get(),
          .timer = timer_.get(),
          .devices = DescribeDevices(*devices_)};
}

StatusOr<std::shared_ptr<Task>> Task::CreateLocal(const TaskOptions& options) {
  TF_ASSIGN_OR_RETURN(auto devices, DeviceSet::Create(options.device_count));
  auto task = std::shared_ptr<Task>(new Task(options, {}, std::move(devices)));
  Transport* const no_transport = nullptr;
  task->home_ = Member::Create(
      task->machine(), {},
      {.job = options.job, .index = options.index, .links = options.links, .exchange = options.exchange}, no_transport);
  return task;
}

StatusOr<std::shared_ptr<Task>> Task::Create(const ClusterSpec& cluster, const TaskOptions& options,
                                             std::unique_ptr<Transport> transport) {
  TF_ASSIGN_OR_RETURN(auto devices, DeviceSet::Create(options.device_count));
  auto task = std::shared_ptr<Task>(new Task(options, cluster, std::move(devices)));
  task->timer_ = std::make_unique<Timer>();
  const Machine machine = task->machine();
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
  // Ends threads before the objects that they use are destroyed: first those of blocking calls, then the timer's, the
  // devices' and the pool's. The transport's threads have ended with the links.
  if (service_ != nullptr) service_->WaitForCalls();
  timer_.reset();
  for (const auto& device : devices_->devices()) device->Stop();
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
  return NotFound("no server in this process has the target '", target,
                  "'; existing targets: ", targets.empty() ? "none" : StrJoin(targets, ", "));
}

}  // namespace tensorbraid
