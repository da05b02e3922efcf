#include <algorithm>

#include "cluster/protobuf/proto_io.h"
#include "cluster/protobuf/registry.pb.h"
#include "cluster/registry/registry.h"
#include "cluster/registry/registry_messages.h"
#include "core/system/clock.h"
#include "core/system/env.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/stop.h"
#include "transport/grpc/call_client.h"

namespace tensorbraid {
namespace {

using std::chrono::milliseconds;
using Deadline = MonotonicClock::time_point;

// How long to try one address before the next one.
constexpr milliseconds kPatience{1000};
constexpr milliseconds kBetweenTries{100};
// How long a registry may take for a call that does not wait.
constexpr milliseconds kAnswerTime{5000};
constexpr size_t kMostNames = 8;  // in a message

// "ps/0, worker/3 and 12 more".
std::string Listed(const std::vector<std::string>& names) {
  const std::vector<std::string> some(names.begin(), names.begin() + std::min(names.size(), kMostNames));
  const std::string text = StrJoin(some, ", ");
  return names.size() > kMostNames ? StrCat(text, " and ", names.size() - kMostNames, " more") : text;
}

// Registers one process, and waits for the others.
class Registration {
 public:
  Registration(const RegistryClientOptions& options, const NamedRecord& own, Seal* seal)
      : options_(options), seal_(seal) {
    request_.set_job(options.job);
    request_.set_name(own.name);
    *request_.mutable_record() = ToProto(own.record);
    request_.set_incarnation(RandomSeed());
  }

  // Waits at one address until all processes are there.
  StatusOr<std::vector<NamedRecord>> WaitAt(const std::string& address, CallClient* client, Deadline deadline) {
    while (true) {
      // The first call does not wait, so that it tells soon whether this is the right registry.
      auto answer = Ask(client, false, std::min(deadline, MonotonicClock::now() + kAnswerTime));
      if (answer.ok() && answer->entries_size() == 0) {
        missing_.assign(answer->missing().begin(), answer->missing().end());
        const auto until = std::min(deadline, MonotonicClock::now() + options_.log_every);
        answer = Ask(client, true, until);
        if (absl::IsDeadlineExceeded(answer.status()) && MonotonicClock::now() < deadline) {
          TB_LOG(Info, "discovery") << "waits at the registry " << address << " for " << Listed(missing_);
          continue;
        }
      }
      if (answer.ok()) return Entries(*answer);
      if (MonotonicClock::now() >= deadline && !missing_.empty()) {
        return DeadlineExceeded("these tasks have not registered at ", address, " within ",
                                options_.timeout.count() / 1000.0, " s: ", Listed(missing_));
      }
      return Annotate(answer.status(), StrCat("the registry at ", address));
    }
  }

 private:
  StatusOr<proto::RegisterAnswer> Ask(CallClient* client, bool wait, Deadline deadline) {
    request_.set_wait(wait);
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

  static std::vector<NamedRecord> Entries(const proto::RegisterAnswer& answer) {
    std::vector<NamedRecord> entries;
    for (const auto& entry : answer.entries()) entries.push_back({entry.name(), FromProto(entry.record())});
    return entries;
  }

  const RegistryClientOptions& options_;
  Seal* const seal_;
  proto::RegisterRequest request_;
  std::vector<std::string> missing_;
};

// Whether the same call may succeed later.
bool MayPass(const Status& status) { return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status); }
// Whether this is the verdict of the job's registry. Any other server answers with other codes.
bool IsVerdict(const Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsInvalidArgument(status) || absl::IsAborted(status);
}

}  // namespace

StatusOr<std::vector<NamedRecord>> RegisterAndWait(const RegistryClientOptions& options, const NamedRecord& own,
                                                   Seal* seal) {
  const Deadline deadline = MonotonicClock::now() + options.timeout;
  std::vector<std::unique_ptr<CallClient>> clients;
  for (const std::string& address : options.addresses) {
    TF_ASSIGN_OR_RETURN(auto client, NewGrpcCallClient(address, kPatience, options.tls));
    clients.push_back(std::move(client));
  }
  const OnStopRequest stop([&clients] {
    for (const auto& client : clients) client->Cancel();
  });
  Registration registration(options, own, seal);
  Deadline next_log = MonotonicClock::now() + options.log_every;
  Status last, refusal;  // refusal: the last one that came from a server
  for (size_t i = 0; MonotonicClock::now() < deadline; ++i) {
    const size_t at = i % clients.size();
    auto all = registration.WaitAt(options.addresses[at], clients[at].get(), deadline);
    if (all.ok()) return all;
    last = all.status();
    if (StopRequested()) return Cancelled("asked to stop while waiting for the other tasks");
    // Another server may have the port of a candidate. Then the next candidate is the registry.
    const bool other_candidates = clients.size() > 1;
    if (IsVerdict(last) || (!MayPass(last) && !other_candidates)) return last;
    if (!MayPass(last)) refusal = last;
    if (MonotonicClock::now() >= next_log) {
      TB_LOG(Info, "discovery") << "waits for the registry of " << options.job << ": "
                                << (refusal.ok() ? last : refusal).message();
      next_log = MonotonicClock::now() + options.log_every;
    }
    SleepFor(std::min<MonotonicClock::duration>(kBetweenTries, deadline - MonotonicClock::now()));
  }
  if (absl::IsDeadlineExceeded(last)) return last;
  return DeadlineExceeded("no registry of ", options.job, " answers at ", StrJoin(options.addresses, " or "),
                          " within ", options.timeout.count() / 1000.0,
                          " s: ", std::string((refusal.ok() ? last : refusal).message()));
}

}  // namespace tensorbraid
