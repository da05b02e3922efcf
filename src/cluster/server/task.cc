#include "cluster/server/task.h"

#include <algorithm>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "pjrt/find_plugins.h"

namespace tensorbraid {
namespace {

MemberOptions MemberOptionsOf(const TaskOptions& options) {
  return {.job = options.job,
          .index = options.index,
          .membership = options.membership,
          .exchange = options.exchange,
          .wire = options.wire};
}

// A parameter server has no accelerators unless it is asked to have some: it would take memory from the workers.
std::map<std::string, int> DevicesToCreate(const TaskOptions& options) {
  std::map<std::string, int> counts = options.device_count;
  if (options.job != "ps") return counts;
  for (const char* type : pjrt::kAcceleratorTypes) counts.try_emplace(type, 0);
  return counts;
}

}  // namespace

Task::Task(const TaskOptions& options, ClusterSpec cluster, std::unique_ptr<WorkerEnv> env)
    : options_(options), cluster_(std::move(cluster)), env_(std::move(env)) {}

StatusOr<std::shared_ptr<Task>> Task::CreateLocal(const TaskOptions& options) {
  TF_ASSIGN_OR_RETURN(auto env, WorkerEnv::Create({.device_count = options.device_count,
                                                   .num_threads = options.inter_op_threads,
                                                   .has_timer = false}));
  auto task = std::shared_ptr<Task>(new Task(options, {}, std::move(env)));
  task->home_ = Member::Create(task->env_.get(), {}, MemberOptionsOf(options), nullptr);
  return task;
}

StatusOr<std::shared_ptr<Task>> Task::Create(const ClusterSpec& cluster, const TaskOptions& options,
                                             std::unique_ptr<Transport> transport) {
  TF_ASSIGN_OR_RETURN(auto env, WorkerEnv::Create({.device_count = DevicesToCreate(options),
                                                   .num_threads = options.inter_op_threads,
                                                   .allow_paths = options.allow_paths}));
  auto task = std::shared_ptr<Task>(new Task(options, cluster, std::move(env)));
  MemberOptions member = MemberOptionsOf(options);
  task->session_clusters_ = std::make_unique<SessionClusters>(task->env_.get(), member, std::move(transport));
  SessionClusters* const session_clusters = task->session_clusters_.get();
  member.session_members = [session_clusters] { return session_clusters->Members(); };
  task->home_ = Member::Create(task->env_.get(), cluster, member, session_clusters->transport());
  task->service_ = std::make_unique<MasterService>(
      task->home_,
      [session_clusters](const ClusterSpec& c, const std::string& t) { return session_clusters->Open(c, t); },
      task->env_->timer(), &task->env_->pool(), options.default_session_config, options.limits);
  task->status_ =
      std::make_unique<StatusService>(task->home_, member.session_members, task->env_.get(), task->service_.get());
  session_clusters->transport()->ServeCalls(task->status_.get());
  return task;
}

StatusOr<int> Task::Start(const std::string& address) {
  TF_ASSIGN_OR_RETURN(const int port, home_->Listen(address));
  session_clusters_->set_own_address(StrCat(address.substr(0, address.rfind(':')), ":", port));
  if (options_.job != "ps") {
    for (int index : cluster_.task_indices("ps")) membership().connections().KeepConnected(FullTaskName("ps", index));
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
  // Ends threads before the objects that they use are destroyed. The transport's threads have ended with the links.
  if (service_ != nullptr) service_->WaitForCalls();
  env_->StopThreads();
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
