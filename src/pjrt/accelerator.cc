#include "pjrt/accelerator.h"

#include <algorithm>
#include <cstdint>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "pjrt/find_plugins.h"
#include "pjrt/plugin.h"

namespace tensorbraid::pjrt {

void Accelerator::Expect(int devices) {
  MutexLock lock(mu_);
  expected_ = std::max(expected_, devices);
}

StatusOr<Client*> Accelerator::GetClient() {
  MutexLock lock(mu_);
  if (client_ != nullptr) return client_;
  const auto make = [&]() TB_REQUIRES(mu_) -> StatusOr<Client*> {
    TF_ASSIGN_OR_RETURN(const std::string path, find_());
    TF_ASSIGN_OR_RETURN(const Plugin* plugin, Plugin::Load(path));
    ClientOptions options;
    if (ComputesOnCpu(path)) options["cpu_device_count"] = int64_t{expected_};
    if (path.find("cuda") != std::string::npos)
      options["preallocate"] = false;  // by default it takes most of the memory
    return Client::Create(*plugin, options);
  };
  auto client = make();
  if (!client.ok()) return Annotate(client.status(), StrCat("devices of type ", device_type_));
  client_ = *client;
  for (int i = 0; i < client_->num_devices(); ++i) {
    TB_LOG(Info, "pjrt") << device_type_ << ":" << i << " is " << client_->device_kind(i) << " of "
                         << client_->plugin().path();
  }
  return client_;
}

Client* Accelerator::client_if_made() {
  MutexLock lock(mu_);
  return client_;
}

}  // namespace tensorbraid::pjrt
