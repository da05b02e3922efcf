#include <algorithm>

#include "cluster/registry/registry.h"
#include "cluster/registry/registry_conversation.h"
#include "core/system/clock.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "core/threads/stop.h"
#include "core/threads/thread.h"
#include "transport/grpc/call_client.h"

namespace tensorbraid {
namespace {

using std::chrono::milliseconds;
using Deadline = MonotonicClock::time_point;

// How long to try one address before the next one.
constexpr milliseconds kPatience{1000};
// The two sides of a registry prove to each other that they know the secret of the job.
constexpr bool kAnyUser = true;
constexpr milliseconds kBetweenTries{100};
// How long a registry may take for a call that does not wait.
constexpr milliseconds kAnswerTime{5000};
// The longest pause of a watch whose registry does not answer.
constexpr milliseconds kLongestPause{10'000};
constexpr size_t kMostNames = 8;  // in a message

// "ps/0, worker/3 and 12 more".
std::string Listed(const std::vector<std::string>& names) {
  const std::vector<std::string> some(names.begin(), names.begin() + std::min(names.size(), kMostNames));
  const std::string text = StrJoin(some, ", ");
  return names.size() > kMostNames ? StrCat(text, " and ", names.size() - kMostNames, " more") : text;
}

// Whether the same call may succeed later.
bool MayPass(const Status& status) { return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status); }
// Whether this is the verdict of the job's registry. Any other server answers with other codes.
bool IsVerdict(const Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsInvalidArgument(status) || absl::IsAborted(status);
}

class RegistryWatch final : public RunningWatch {
 public:
  RegistryWatch(RegistryClientOptions options, std::string address, RegistryConversation conversation,
                RegistryClient::Changed changed)
      : options_(std::move(options)),
        address_(std::move(address)),
        conversation_(std::move(conversation)),
        changed_(std::move(changed)) {
    auto client = NewGrpcCallClient(address_, kPatience, options_.tls, /*token_file=*/"", kAnyUser);
    if (client.ok()) {
      client_ = *std::move(client);
      thread_ = Thread("tb-registry", [this] { Run(); });
    } else {
      TB_LOG(Warning, "discovery") << "cannot watch the registry at " << address_ << ": " << client.status().message();
    }
  }
  ~RegistryWatch() override {
    if (client_ == nullptr) return;
    {
      MutexLock lock(mu_);
      stopping_ = true;
      stopped_.NotifyAll();
    }
    client_->Cancel();
    thread_.Join();
  }

 private:
  void Run() {
    milliseconds pause = kBetweenTries;
    Status reported;
    while (true) {
      const Deadline began = MonotonicClock::now();
      const auto news = conversation_.Ask(client_.get(), /*wait=*/true, began + options_.watch_time);
      if (news.ok()) {
        reported = OkStatus();
        pause = kBetweenTries;
        if (*news == RegistryConversation::News::kRecords) changed_(conversation_.records());
        // Without a pause, a registry that answers at once would be asked without end.
        if (*news == RegistryConversation::News::kNone && Pause(pause)) return;
        continue;
      }
      if (absl::IsAborted(news.status())) {
        TB_LOG(Warning, "discovery") << "addresses are no longer followed: the registry at " << address_ << ": "
                                     << news.status().message();
        return;
      }
      const bool waited = absl::IsDeadlineExceeded(news.status()) && MonotonicClock::now() - began >= kPatience;
      if (!waited && reported.code() != news.status().code() && !Stopping()) {
        reported = news.status();
        TB_LOG(Warning, "discovery") << "tasks that move are not noticed until the registry at " << address_
                                     << " answers again: " << reported.message();
      }
      if (Pause(waited ? milliseconds(0) : pause)) return;
      pause = waited ? kBetweenTries : std::min(2 * pause, kLongestPause);
    }
  }

  bool Stopping() {
    MutexLock lock(mu_);
    return stopping_;
  }
  // Returns whether the watch ends.
  bool Pause(milliseconds time) {
    MutexLock lock(mu_);
    return stopped_.WaitFor(mu_, time, [this]() TB_REQUIRES(mu_) { return stopping_; });
  }

  const RegistryClientOptions options_;
  const std::string address_;
  RegistryConversation conversation_;
  const RegistryClient::Changed changed_;
  std::unique_ptr<CallClient> client_;
  Mutex mu_;
  CondVar stopped_;
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  Thread thread_;
};

}  // namespace

struct RegistryClient::State {
  State(RegistryClientOptions o, const NamedRecord& own, std::shared_ptr<Seal> seal)
      : options(std::move(o)), conversation(options.job, own, std::move(seal)) {}

  // Waits at one address until all processes are there.
  Status WaitAt(const std::string& at, CallClient* client, Deadline deadline) {
    while (true) {
      // The first call does not wait, so that it tells soon whether this is the right registry.
      auto news = conversation.Ask(client, false, std::min(deadline, MonotonicClock::now() + kAnswerTime));
      if (news.ok() && *news == RegistryConversation::News::kOtherRegistry) continue;  // now it knows which one
      if (news.ok() && *news == RegistryConversation::News::kNone) {
        news = conversation.Ask(client, true, std::min(deadline, MonotonicClock::now() + options.log_every));
        const bool in_vain = news.ok() ? *news != RegistryConversation::News::kRecords
                                       : absl::IsDeadlineExceeded(news.status()) && MonotonicClock::now() < deadline;
        if (in_vain) {
          TB_LOG(Info, "discovery") << "waits at the registry " << at << " for " << Listed(conversation.missing());
          continue;
        }
      }
      if (!conversation.missing().empty()) waits_at = at;
      if (!news.ok()) return Annotate(news.status(), StrCat("the registry at ", at));
      address = at;
      return OkStatus();
    }
  }

  const RegistryClientOptions options;
  RegistryConversation conversation;
  std::string waits_at;  // the registry that has told which tasks are missing; "" if none has
  std::string address;   // of the job's registry, once it has answered with all tasks
};

RegistryClient::RegistryClient(RegistryClientOptions options, const NamedRecord& own, std::shared_ptr<Seal> seal)
    : state_(std::make_unique<State>(std::move(options), own, std::move(seal))) {}
RegistryClient::~RegistryClient() = default;

StatusOr<std::vector<NamedRecord>> RegistryClient::Register() {
  const RegistryClientOptions& options = state_->options;
  const Deadline deadline = MonotonicClock::now() + options.timeout;
  std::vector<std::unique_ptr<CallClient>> clients;
  for (const std::string& address : options.addresses) {
    TF_ASSIGN_OR_RETURN(auto client, NewGrpcCallClient(address, kPatience, options.tls, /*token_file=*/"", kAnyUser));
    clients.push_back(std::move(client));
  }
  const OnStopRequest stop([&clients] {
    for (const auto& client : clients) client->Cancel();
  });
  Deadline next_log = MonotonicClock::now() + options.log_every;
  Status last, refusal;  // refusal: the last one that came from a server
  for (size_t i = 0; MonotonicClock::now() < deadline; ++i) {
    const size_t at = i % clients.size();
    last = state_->WaitAt(options.addresses[at], clients[at].get(), deadline);
    if (last.ok()) return state_->conversation.records();
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
  if (!state_->waits_at.empty()) {
    return DeadlineExceeded("these tasks have not registered at ", state_->waits_at, " within ",
                            options.timeout.count() / 1000.0, " s: ", Listed(state_->conversation.missing()));
  }
  return DeadlineExceeded("no registry of ", options.job, " answers at ", StrJoin(options.addresses, " or "),
                          " within ", options.timeout.count() / 1000.0,
                          " s: ", std::string((refusal.ok() ? last : refusal).message()));
}

std::unique_ptr<RunningWatch> RegistryClient::StartWatch(Changed changed) const {
  TB_CHECK(!state_->address.empty());
  return std::make_unique<RegistryWatch>(state_->options, state_->address, state_->conversation, std::move(changed));
}

}  // namespace tensorbraid
