#include "cluster/task.h"

#include <random>
#include <thread>

#include "core/logging.h"
#include "core/strings.h"

namespace tensorbraid {
namespace {

uint64_t NewIncarnation() {
  std::random_device random;
  return ((uint64_t{random()} << 32) | random()) | 1;  // never 0
}

std::vector<DeviceName> DevicesOf(const std::string& job, int task, const std::map<std::string, int>& device_count) {
  std::vector<DeviceName> devices;
  const auto cpus = device_count.find("CPU");
  const int count = cpus == device_count.end() ? 1 : std::max(1, cpus->second);
  for (int i = 0; i < count; ++i) {
    devices.push_back({.job = job, .replica = 0, .task = task, .type = "CPU", .id = i});
  }
  return devices;
}

Status CheckDeviceCount(const std::map<std::string, int>& device_count) {
  for (const auto& [type, count] : device_count) {
    if (type != "CPU" && count > 0)
      return InvalidArgument("device_count: there are no ", type, " devices here, only CPU");
    if (count < 0 || count > 1024) return InvalidArgument("device_count: ", count, " devices of type ", type);
  }
  return OkStatus();
}

}  // namespace

Task::Task(const TaskOptions& options, ClusterSpec cluster)
    : name_(FullTaskName(options.job, options.index)),
      incarnation_(NewIncarnation()),
      options_(options),
      cluster_(std::move(cluster)) {
  const int threads =
      options.inter_op_threads > 0 ? options.inter_op_threads : static_cast<int>(std::thread::hardware_concurrency());
  pool_ = std::make_unique<ThreadPool>("tb-pool", std::max(1, threads));
}

StatusOr<std::shared_ptr<Task>> Task::CreateLocal(const TaskOptions& options) {
  TF_RETURN_IF_ERROR(CheckDeviceCount(options.device_count));
  auto task = std::shared_ptr<Task>(new Task(options, {}));
  task->exchange_ = std::make_unique<Exchange>(options.exchange, [](const std::string& peer, auto done) {
    done(Internal("a local session has no task ", peer));
  });
  task->worker_ = std::make_unique<Worker>(DevicesOf(options.job, options.index, options.device_count),
                                           &task->resources_, task->pool_.get(), task->exchange_.get());
  task->master_ = std::make_unique<Master>(task->name_, task->incarnation_, task->worker_.get(), task->exchange_.get(),
                                           nullptr, std::vector<DeviceName>(), options.links.slow_wait);
  return task;
}

StatusOr<std::shared_ptr<Task>> Task::Create(const ClusterSpec& cluster, const TaskOptions& options,
                                             std::unique_ptr<Transport> transport) {
  TF_RETURN_IF_ERROR(CheckDeviceCount(options.device_count));
  auto task = std::shared_ptr<Task>(new Task(options, cluster));
  task->timer_ = std::make_unique<Timer>();
  task->transport_ = std::move(transport);
  Hello self;
  self.task = task->name_;
  self.incarnation = task->incarnation_;
  task->links_ =
      std::make_unique<Links>(task->transport_.get(), task->timer_.get(), cluster, self, options.links, task.get());
  Links* links = task->links_.get();
  // A peer that should be there is given this long to (re)connect before the step that needs it fails.
  const auto patience = std::min(options.links.heartbeat_timeout, std::chrono::milliseconds(5000));
  task->exchange_ = std::make_unique<Exchange>(options.exchange, [links, patience](const std::string& peer, auto done) {
    if (auto link = links->Find(peer)) return done(std::move(link));
    links->Get(peer, patience, std::move(done));
  });
  task->worker_ = std::make_unique<Worker>(DevicesOf(options.job, options.index, options.device_count),
                                           &task->resources_, task->pool_.get(), task->exchange_.get());
  // What devices another task has is known to it alone; a CPU it has in any case.
  std::vector<DeviceName> remote;
  for (const std::string& job : cluster.jobs()) {
    for (int index : cluster.task_indices(job)) {
      if (job == options.job && index == options.index) continue;
      for (DeviceName& d : DevicesOf(job, index, options.device_count)) remote.push_back(std::move(d));
    }
  }
  task->master_ = std::make_unique<Master>(task->name_, task->incarnation_, task->worker_.get(), task->exchange_.get(),
                                           links, std::move(remote), options.links.slow_wait);
  task->service_ = std::make_unique<MasterService>(task->master_.get(), task->timer_.get(), task->pool_.get(),
                                                   options.default_session_config);
  task->transport_->ServeCalls(task->service_.get());
  return task;
}

StatusOr<int> Task::Start(const std::string& address) {
  TF_ASSIGN_OR_RETURN(const int port, links_->Listen(address));
  if (options_.job != "ps") {
    for (int index : cluster_.task_indices("ps")) links_->KeepConnected(FullTaskName("ps", index));
  }
  return port;
}

void Task::Stop(const Status& why) {
  if (service_ != nullptr) service_->Shutdown();
  master_->Shutdown(Cancelled(ShortTaskName(name_), " is stopping"));
  if (links_ != nullptr) links_->Shutdown(why);
}

Task::~Task() {
  Stop(OkStatus());
  // Threads end before what they work on: those of waiting calls, the timer's, then the pool's (transport threads ended
  // with the links).
  if (service_ != nullptr) service_->WaitForCalls();
  timer_.reset();
  pool_.reset();
}

void Task::OnMessage(const std::shared_ptr<Link>& link, Message message) {
  if (exchange_->OnMessage(link, message)) return;
  if (worker_->OnMessage(link, message)) return;
  master_->OnMessage(link, message);
}

void Task::OnLinkDown(const std::shared_ptr<Link>& link, const Status& why) {
  exchange_->OnLinkDown(*link, why);
  worker_->ForgetMaster(link->peer().incarnation, why);
  master_->OnLinkDown(link, why);
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
