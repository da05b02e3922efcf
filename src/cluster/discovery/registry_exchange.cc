#include "cluster/discovery/registry_exchange.h"

#include "core/text/logging.h"
#include "core/text/strings.h"

namespace tensorbraid {

Status RegistryExchange::Serve() {
  Status last;
  for (const std::string& address : options_.addresses) {
    auto server =
        RegistryServer::Start({.job = options_.job, .names = serve_, .address = address, .tls = options_.tls}, seal_);
    if (server.ok()) {
      server_ = *std::move(server);
      options_.addresses = {address};
      TB_LOG(Info, "discovery") << "serves the registry of " << options_.job << " at " << address << ", with "
                                << seal_->source();
      return OkStatus();
    }
    last = server.status();
    if (!absl::IsAlreadyExists(last)) break;
  }
  return Annotate(last, StrCat("cannot serve the registry of ", options_.job));
}

StatusOr<std::vector<NamedRecord>> RegistryExchange::Gather(const NamedRecord& own) {
  if (!serve_.empty()) TF_RETURN_IF_ERROR(Serve());
  return RegisterAndWait(options_, own, seal_.get());
}

}  // namespace tensorbraid
