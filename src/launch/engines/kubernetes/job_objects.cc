#include "launch/engines/kubernetes/job_objects.h"

#include <chrono>
#include <utility>

#include "core/text/strings.h"

namespace tensorbraid {

std::vector<std::string> CreateCommand(const Kubectl& kubectl) {
  return kubectl.Command({"create", "-f", "-", R"(--output=jsonpath={.kind}/{.metadata.name} {.metadata.uid}{"\n"})",
                          "--validate=false", "--request-timeout=20s"});
}

std::map<std::string, std::string> CreatedUids(const std::string& output) {
  std::map<std::string, std::string> uids;
  for (const std::string& line : StrSplit(output, '\n')) {
    if (const size_t blank = line.find(' '); blank != line.npos) uids[line.substr(0, blank)] = line.substr(blank + 1);
  }
  return uids;
}

std::vector<std::string> DeleteRunCommand(const Kubectl& kubectl, const KubernetesJob& job) {
  return kubectl.Command(
      {"delete", KindsOf(job), "--selector=" + RunSelector(job), "--ignore-not-found", "--wait=false"});
}

JobObjects::JobObjects(const Kubectl& kubectl, KubernetesJob* job, std::function<void(const std::string&)> tell)
    : kubectl_(kubectl), job_(job), tell_(std::move(tell)) {}

Status JobObjects::Create() {
  if (job_->lost_launcher_s > 0) {
    lifeline_ = std::make_unique<Lifeline>(kubectl_, job_->name, std::chrono::seconds(job_->lost_launcher_s), tell_);
    return Create(LifelineManifest(*job_));
  }
  return CreateServiceAndSecret();
}

Status JobObjects::CreateServiceAndSecret() {
  std::vector<std::string> manifests = {ServiceManifest(*job_)};
  if (!job_->files.empty()) manifests.push_back(SecretManifest(*job_));
  return Create(ListManifest(manifests));
}

Status JobObjects::Create(const std::string& manifest) {
  TF_ASSIGN_OR_RETURN(call_, KubectlCall::Start(CreateCommand(kubectl_), manifest));
  return OkStatus();
}

void JobObjects::CheckLifeline() {
  if (lifeline_ != nullptr) lifeline_->RenewSoon();
}

bool JobObjects::DeleteAll(MonotonicClock::time_point deadline) {
  bool is_clean = true;
  // What is being created would otherwise appear after the deletion.
  if (call_ != nullptr) {
    is_clean = call_->AwaitEnd(deadline);
    may_be_there_ = true;
  }
  if (!may_be_there_) return is_clean;
  std::vector<std::string> command = DeleteRunCommand(kubectl_, *job_);
  command.insert(command.end(), {"--grace-period=0", "--force", "--request-timeout=10s"});
  const auto deletion = KubectlCall::Start(command);
  return deletion.ok() && (*deletion)->AwaitEnd(deadline) && (*deletion)->status().ok() && is_clean;
}

void JobObjects::StartCalls() {
  if (are_there_ && lifeline_ != nullptr) lifeline_->StartCalls();
}

void JobObjects::AddEvents(std::vector<pollfd>* events) {
  if (call_ != nullptr) call_->AddEvents(events);
  if (lifeline_ != nullptr) lifeline_->AddEvents(events);
}

Status JobObjects::Handle() {
  if (lifeline_ != nullptr) TF_RETURN_IF_ERROR(lifeline_->Handle());
  if (call_ == nullptr || !call_->Handle()) return OkStatus();
  const auto call = std::move(call_);
  const auto created = CreatedUids(call->output());
  const Status status = call->status();
  // A request that has got no answer may have been carried out.
  if (!created.empty() || (absl::IsUnavailable(status) && HasReachedServer(status))) may_be_there_ = true;
  if (!status.ok()) return kubectl_.Explained(status);
  if (const auto owner = created.find("Job/" + job_->name); owner != created.end() && job_->owner_uid.empty()) {
    job_->owner_uid = owner->second;
    return CreateServiceAndSecret();
  }
  are_there_ = true;
  return OkStatus();
}

}  // namespace tensorbraid
