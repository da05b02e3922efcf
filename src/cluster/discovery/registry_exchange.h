// An exchange through a registry (cluster/registry/registry.h).
#ifndef TENSORBRAID_CLUSTER_DISCOVERY_REGISTRY_EXCHANGE_H_
#define TENSORBRAID_CLUSTER_DISCOVERY_REGISTRY_EXCHANGE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster/discovery/record_exchange.h"
#include "cluster/registry/registry.h"

namespace tensorbraid {

class RegistryExchange final : public RecordExchange {
 public:
  // If `serve` is not empty, this process serves the registry for these names, at the first of the addresses that is
  // free.
  RegistryExchange(RegistryClientOptions options, std::shared_ptr<Seal> seal, std::vector<std::string> serve = {})
      : options_(std::move(options)), seal_(std::move(seal)), serve_(std::move(serve)) {}

  StatusOr<std::vector<NamedRecord>> Gather(const NamedRecord& own) override;
  std::unique_ptr<RunningWatch> StartWatch(Changed changed) override;

 private:
  Status Serve();

  RegistryClientOptions options_;
  const std::shared_ptr<Seal> seal_;
  const std::vector<std::string> serve_;
  std::unique_ptr<RegistryServer> server_;
  std::unique_ptr<RegistryClient> client_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_DISCOVERY_REGISTRY_EXCHANGE_H_
