#include "cluster/worker/worker_env.h"

#include <utility>

#include "core/system/env.h"
#include "core/threads/thread.h"

namespace tensorbraid {

uint64_t NewIncarnation() { return RandomSeed() | 1; }

WorkerEnv::WorkerEnv(std::unique_ptr<DeviceSet> devices) : devices_(std::move(devices)) {
  for (const auto& device : devices_->devices()) {
    infos_.push_back({.type = device->type(),
                      .id = device->id(),
                      .memory_limit = device->memory_limit(),
                      .incarnation = NewIncarnation()});
  }
}

StatusOr<std::unique_ptr<WorkerEnv>> WorkerEnv::Create(const Options& options) {
  TF_ASSIGN_OR_RETURN(auto devices, DeviceSet::Create(options.device_count));
  TF_ASSIGN_OR_RETURN(FileAccess files, FileAccess::Create(options.allow_paths));
  auto env = std::unique_ptr<WorkerEnv>(new WorkerEnv(std::move(devices)));
  env->files_of_strangers_ = std::move(files);
  if (options.has_timer) env->timer_ = std::make_unique<Timer>();
  env->pool_ = std::make_unique<ThreadPool>("tb-pool", options.num_threads > 0 ? options.num_threads : NumCores());
  return env;
}

WorkerEnv::~WorkerEnv() { StopThreads(); }

void WorkerEnv::StopThreads() {
  if (timer_ != nullptr) timer_->Stop();
  for (const auto& device : devices_->devices()) device->Stop();
  if (pool_ != nullptr) pool_->Stop();
}

}  // namespace tensorbraid
