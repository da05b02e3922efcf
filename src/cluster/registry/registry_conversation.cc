#include "cluster/registry/registry_conversation.h"

#include <algorithm>

#include "cluster/protobuf/proto_io.h"
#include "cluster/registry/registry_messages.h"
#include "core/system/env.h"

namespace tensorbraid {

RegistryConversation::RegistryConversation(const std::string& job, const NamedRecord& own, std::shared_ptr<Seal> seal)
    : seal_(std::move(seal)) {
  request_.set_job(job);
  request_.set_name(own.name);
  *request_.mutable_record() = ToProto(own.record);
  request_.set_incarnation(RandomSeed());
}

StatusOr<RegistryConversation::News> RegistryConversation::Ask(CallClient* client, bool wait,
                                                               MonotonicClock::time_point deadline) {
  request_.set_wait(wait);
  request_.set_nonce(RandomSeed());
  TF_ASSIGN_OR_RETURN(const proto::RegisterAnswer answer, Call(client, deadline));
  if (answer.registry() == 0) return Internal("not the answer of a registry");
  if (answer.registry() != request_.registry()) {
    request_.set_registry(answer.registry());
    request_.set_known_version(0);
    return News::kOtherRegistry;
  }
  missing_.assign(answer.missing().begin(), answer.missing().end());
  if (answer.entries_size() == 0) return News::kNone;
  request_.set_known_version(answer.version());
  return Learn(answer) ? News::kRecords : News::kNone;
}

StatusOr<proto::RegisterAnswer> RegistryConversation::Call(CallClient* client, MonotonicClock::time_point deadline) {
  proto::SealedMessage sealed;
  sealed.set_message(request_.SerializeAsString());
  TF_ASSIGN_OR_RETURN(*sealed.mutable_proof(), seal_->Prove(RequestToProve(sealed.message())));
  const CallClient::Result result = client->Ask(kRegister, SerializeMessage(sealed), deadline);
  TF_RETURN_IF_ERROR(result.status);
  proto::SealedMessage answer;
  proto::RegisterAnswer parsed;
  if (!ParseMessage(result.answer, &answer)) return Internal("not the answer of a registry");
  TF_RETURN_IF_ERROR(seal_->Check(AnswerToProve(sealed.message(), answer.message()), answer.proof()));
  if (!parsed.ParseFromString(answer.message())) return Internal("not the answer of a registry");
  return parsed;
}

bool RegistryConversation::Learn(const proto::RegisterAnswer& answer) {
  bool changed = false;
  for (const auto& entry : answer.entries()) {
    NamedRecord now{entry.name(), FromProto(entry.record())};
    const auto known = std::find_if(records_.begin(), records_.end(),
                                    [&](const NamedRecord& record) { return record.name == now.name; });
    if (known == records_.end()) {
      records_.push_back(std::move(now));
    } else if (known->record == now.record) {
      continue;
    } else {
      known->record = std::move(now.record);
    }
    changed = true;
  }
  return changed;
}

}  // namespace tensorbraid
