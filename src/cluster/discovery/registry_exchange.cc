#include "cluster/discovery/registry_exchange.h"

#include "core/text/logging.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

constexpr std::chrono::seconds kAnswerGrace{5};

}  // namespace

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
  client_ = std::make_unique<RegistryClient>(options_, own, seal_);
  auto all = client_->Register();
  // This process may end at once, because of a mistake in its flags or another program on its host. The others must
  // have their answers before, or they would look for the registry in vain.
  const bool are_answered = all.ok() || absl::IsFailedPrecondition(all.status());  // if one is refused, all are
  if (are_answered && server_ != nullptr) static_cast<void>(server_->AwaitAnswered(kAnswerGrace));
  return all;
}

std::unique_ptr<RunningWatch> RegistryExchange::StartWatch(Changed changed) {
  return client_->StartWatch(std::move(changed));
}

}  // namespace tensorbraid
