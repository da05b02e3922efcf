#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cluster/protobuf/proto_io.h"
#include "cluster/protobuf/registry.pb.h"
#include "cluster/registry/registry.h"
#include "cluster/registry/registry_messages.h"
#include "core/system/clock.h"
#include "core/system/env.h"
#include "core/text/host_port.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "transport/grpc/grpc_transport.h"

namespace tensorbraid {
namespace {

// Calls of one process that may wait at the same time. One is usual, two if its client has given up the first one and
// this is not known here yet.
constexpr size_t kMostWaiting = 4;
constexpr int64_t kMostMessageBytes = 64 << 10;
constexpr int64_t kMostRequestBytes = 64 << 20;  // of all calls that are not answered
constexpr std::chrono::seconds kRequestTime{60};
// Refusals are logged at most once in this time: callers that do not know the secret must not fill the log.
constexpr std::chrono::seconds kBetweenWarnings{1};

}  // namespace

struct RegistryServer::Impl final : public CallHandler {
  // The registry has no links, only calls.
  class NoLinks final : public LinkAcceptor {
    Status OnHello(const Hello&, Hello*) override {
      return FailedPrecondition("this is the registry of a job, and not a task");
    }
    std::shared_ptr<LinkHandler> OnLinkUp(const std::shared_ptr<Link>&) override { return nullptr; }
  };
  // A Register call, and what its answer needs.
  struct RegisterCall {
    std::shared_ptr<Call> call;
    std::string request;  // the answer's proof covers it
    bool waits = false;
    uint64_t known_version = 0;
  };
  struct Reply {
    RegisterCall to;
    std::shared_ptr<const std::string> answer;
  };

  Impl(RegistryServerOptions o, std::shared_ptr<Seal> s) : options(std::move(o)), seal(std::move(s)) {
    for (const std::string& name : options.names) entries[name];
  }
  ~Impl() override {
    std::vector<RegisterCall> waiting;
    {
      MutexLock lock(mu);
      stopping = true;
      waiting = TakeWaiting(/*first_time_only=*/false);
    }
    for (const RegisterCall& waiter : waiting) waiter.call->Fail(Unavailable("the registry has stopped"));
    waiting.clear();  // Shutdown waits until nobody holds a call
    if (transport != nullptr) transport->Shutdown();
  }

  void OnCall(std::shared_ptr<Call> call) override;

  struct Entry {
    bool present = false;
    ProcessRecord record;
    uint64_t changed = 0;  // the version since which it is as it is
    uint64_t incarnation = 0;
    std::set<uint64_t> replaced;        // incarnations that had the name before
    std::vector<RegisterCall> waiting;  // of this incarnation
    bool answered = false;              // with the records of all, or with the reason why there will be none
    std::weak_ptr<Call> last_answer;    // expires when the call has ended
    std::string problem;                // why a process of this name was refused
  };

  void Register(RegisterCall own, const proto::RegisterRequest& request);
  // Adds or replaces an entry. Moves the calls of the process that had the name before to `displaced`.
  // FailedPrecondition if the job cannot start: this process is refused, or one of those that are missing was.
  Status Admit(const proto::RegisterRequest& request, std::vector<RegisterCall>* displaced, std::string* displaced_by)
      TB_REQUIRES(mu);
  // The calls that wait, which then get an error; with `first_time_only`, those of processes that do not know the
  // others yet.
  std::vector<RegisterCall> TakeWaiting(bool first_time_only) TB_REQUIRES(mu);
  // The answers to calls that do not wait, and to those that wait for what is known now.
  std::vector<Reply> TakeReplies() TB_REQUIRES(mu);
  bool AllAnswered() const TB_REQUIRES(mu);
  std::vector<std::string> Missing() const TB_REQUIRES(mu);
  proto::RegisterAnswer Answer(uint64_t known_version) const TB_REQUIRES(mu);
  void Send(const Reply& reply);
  // The client has gone.
  void Forget(const Call* call);
  void WarnOfRefusal(const Call& call, const Status& why);

  const RegistryServerOptions options;
  const std::shared_ptr<Seal> seal;
  const uint64_t number = RandomSeed() | 1;  // not 0
  NoLinks no_links;
  std::unique_ptr<Transport> transport;
  mutable Mutex mu;
  std::map<std::string, Entry> entries TB_GUARDED_BY(mu);
  uint64_t version TB_GUARDED_BY(mu) = 0;
  bool stopping TB_GUARDED_BY(mu) = false;
  MonotonicClock::time_point next_warning TB_GUARDED_BY(mu);
  int64_t refusals TB_GUARDED_BY(mu) = 0;  // since the last warning
};

void RegistryServer::Impl::OnCall(std::shared_ptr<Call> call) {
  if (call->method() != kRegister) {
    return call->Fail(Unimplemented("this is the registry of a job, and not a task: it has no ", call->method()));
  }
  proto::SealedMessage sealed;
  proto::RegisterRequest request;
  if (!ReadRequest(call, &sealed)) return;
  if (const Status proved = seal->Check(RequestToProve(sealed.message()), sealed.proof()); !proved.ok()) {
    WarnOfRefusal(*call, proved);
    return call->Fail(proved);
  }
  if (!request.ParseFromString(sealed.message())) return call->Fail(InvalidArgument("not a request of a registry"));
  Register({std::move(call), std::move(*sealed.mutable_message()), request.wait(), request.known_version()}, request);
}

void RegistryServer::Impl::WarnOfRefusal(const Call& call, const Status& why) {
  int64_t others = 0;
  {
    MutexLock lock(mu);
    ++refusals;
    if (MonotonicClock::now() < next_warning) return;
    next_warning = MonotonicClock::now() + kBetweenWarnings;
    others = std::exchange(refusals, 0) - 1;
  }
  TB_LOG(Warning, "registry") << "refuses a call from " << call.caller().address << ": " << why.message()
                              << (others > 0 ? StrCat(" (and ", others, " more)") : "");
}

void RegistryServer::Impl::Register(RegisterCall own, const proto::RegisterRequest& request) {
  const std::shared_ptr<Call> call = own.call;
  const bool waits = own.waits;
  std::vector<RegisterCall> displaced, failed;
  std::string displaced_by;
  std::vector<Reply> replies;
  Status admitted;
  {
    MutexLock lock(mu);
    admitted = stopping ? Unavailable("the registry has stopped") : Admit(request, &displaced, &displaced_by);
    if (absl::IsFailedPrecondition(admitted)) {
      failed = TakeWaiting(/*first_time_only=*/true);  // they would wait in vain
      Entry& refused = entries[request.name()];
      refused.answered = true;
      refused.last_answer = call;
    } else if (admitted.ok() && request.registry() != number) {
      proto::RegisterAnswer hello;
      hello.set_registry(number);
      replies.push_back({std::move(own), std::make_shared<const std::string>(hello.SerializeAsString())});
    } else if (admitted.ok()) {
      auto& waiting = entries[request.name()].waiting;
      if (waiting.size() >= kMostWaiting) {
        failed.push_back(std::move(waiting.front()));
        waiting.erase(waiting.begin());
      }
      waiting.push_back(std::move(own));
      replies = TakeReplies();
    }
  }
  for (const RegisterCall& waiter : displaced) waiter.call->Fail(Aborted(displaced_by));
  const Status failure = admitted.ok() ? Unavailable("the same process has asked again") : admitted;
  for (const RegisterCall& waiter : failed) waiter.call->Fail(failure);
  if (!admitted.ok()) {
    TB_LOG(Warning, "registry") << "refuses " << request.name() << ": " << admitted.message();
    return call->Fail(admitted);
  }
  for (const Reply& reply : replies) Send(reply);
  // Outside the lock, since this may call at once.
  if (waits) call->OnCancelled([this, key = call.get()] { Forget(key); });
}

Status RegistryServer::Impl::Admit(const proto::RegisterRequest& request, std::vector<RegisterCall>* displaced,
                                   std::string* displaced_by) {
  if (request.job() != options.job) {
    return NotFound("this is the registry of ", options.job, ", not of ", request.job());
  }
  const auto found = entries.find(request.name());
  if (found == entries.end()) {
    return InvalidArgument("the job has no process '", request.name(), "'; it has ", StrJoin(options.names, ", "));
  }
  if (request.registry() != number) return OkStatus();  // it may come from an earlier registry: nothing changes
  const NamedRecord own{request.name(), FromProto(request.record())};
  TF_RETURN_IF_ERROR(CheckRecord(own.record));
  for (const auto& [name, entry] : entries) {
    if (!entry.present || name == own.name) continue;
    if (const Status same = CheckSameProgram({name, entry.record}, own); !same.ok()) {
      found->second.problem = std::string(same.message());
      return same;
    }
  }
  Entry& entry = found->second;
  if (entry.replaced.contains(request.incarnation())) {
    return Aborted(own.name, " on ", own.record.host, " was replaced by one on ", entry.record.host,
                   "; start each task once");
  }
  if (entry.present && entry.incarnation != request.incarnation()) {
    TB_LOG(Info, "registry") << own.name << " comes back: at " << HostPort{own.record.host, own.record.port}.ToString()
                             << " instead of " << HostPort{entry.record.host, entry.record.port}.ToString();
    entry.replaced.insert(entry.incarnation);
    *displaced = std::exchange(entry.waiting, {});
    *displaced_by = StrCat("another process has registered as ", own.name, ", on ", own.record.host, " instead of ",
                           entry.record.host, "; start each task once");
    entry.answered = false;
  }
  if (!entry.present || entry.record != own.record) entry.changed = ++version;
  entry.present = true;
  entry.record = own.record;
  entry.incarnation = request.incarnation();
  entry.problem.clear();
  for (const auto& [name, other] : entries) {
    if (!other.present && !other.problem.empty()) return FailedPrecondition(other.problem);
  }
  return OkStatus();
}

std::vector<RegistryServer::Impl::RegisterCall> RegistryServer::Impl::TakeWaiting(bool first_time_only) {
  std::vector<RegisterCall> taken;
  for (auto& [name, entry] : entries) {
    std::erase_if(entry.waiting, [&, &entry = entry](RegisterCall& waiter) TB_REQUIRES(mu) {
      if (first_time_only && waiter.known_version > 0) return false;
      entry.answered = true;
      entry.last_answer = waiter.call;
      taken.push_back(std::move(waiter));
      return true;
    });
  }
  return taken;
}

std::vector<RegistryServer::Impl::Reply> RegistryServer::Impl::TakeReplies() {
  const bool complete =
      std::all_of(entries.begin(), entries.end(), [](const auto& named) { return named.second.present; });
  std::map<uint64_t, std::shared_ptr<const std::string>> answers;  // by the version that is known
  std::vector<Reply> replies;
  for (auto& [name, entry] : entries) {
    std::erase_if(entry.waiting, [&, &entry = entry](RegisterCall& waiter) TB_REQUIRES(mu) {
      const bool news = complete && waiter.known_version < version;
      if (waiter.waits && !news) return false;
      auto& answer = answers[waiter.known_version];
      if (answer == nullptr) {
        answer = std::make_shared<const std::string>(Answer(waiter.known_version).SerializeAsString());
      }
      if (complete) {
        entry.answered = true;
        entry.last_answer = waiter.call;
      }
      replies.push_back({std::move(waiter), answer});
      return true;
    });
  }
  return replies;
}

std::vector<std::string> RegistryServer::Impl::Missing() const {
  std::vector<std::string> missing;
  for (const std::string& name : options.names) {
    const Entry& entry = entries.at(name);
    if (entry.present) continue;
    missing.push_back(entry.problem.empty() ? name : StrCat(name, " (refused: ", entry.problem, ")"));
  }
  return missing;
}

bool RegistryServer::Impl::AllAnswered() const {
  return std::all_of(entries.begin(), entries.end(),
                     [](const auto& named) { return named.second.answered && named.second.last_answer.expired(); });
}

proto::RegisterAnswer RegistryServer::Impl::Answer(uint64_t known_version) const {
  proto::RegisterAnswer answer;
  answer.set_registry(number);
  answer.set_version(version);
  for (const std::string& name : Missing()) answer.add_missing(name);
  if (answer.missing_size() > 0) return answer;
  for (const std::string& name : options.names) {
    const Entry& entry = entries.at(name);
    if (entry.changed <= known_version) continue;
    auto* const sent = answer.add_entries();
    sent->set_name(name);
    *sent->mutable_record() = ToProto(entry.record);
  }
  return answer;
}

void RegistryServer::Impl::Send(const Reply& reply) {
  proto::SealedMessage sealed;
  sealed.set_message(*reply.answer);
  auto proof = seal->Prove(AnswerToProve(reply.to.request, sealed.message()));
  if (!proof.ok()) return reply.to.call->Fail(proof.status());
  sealed.set_proof(*std::move(proof));
  AnswerCall(reply.to.call, sealed);
}

void RegistryServer::Impl::Forget(const Call* call) {
  std::shared_ptr<Call> gone;
  {
    MutexLock lock(mu);
    for (auto& [name, entry] : entries) {
      std::erase_if(entry.waiting, [&](RegisterCall& waiter) {
        if (waiter.call.get() != call) return false;
        gone = std::move(waiter.call);
        return true;
      });
    }
  }
  if (gone != nullptr) gone->Fail(Cancelled("the process waits no more"));
}

RegistryServer::RegistryServer(std::unique_ptr<Impl> impl, int port) : impl_(std::move(impl)), port_(port) {}
RegistryServer::~RegistryServer() = default;

StatusOr<std::unique_ptr<RegistryServer>> RegistryServer::Start(RegistryServerOptions options,
                                                                std::shared_ptr<Seal> seal) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(seal));
  ServerLimits limits;
  limits.max_message_bytes = limits.max_graph_bytes = kMostMessageBytes;
  limits.max_total_request_bytes = kMostRequestBytes;
  limits.request_timeout = kRequestTime;
  // Without TLS, others on the network can read addresses, but not change them or add any: see Seal.
  impl->transport = NewGrpcTransport({.tls = impl->options.tls, .limits = limits, .insecure = true});
  impl->transport->ServeCalls(impl.get());
  TF_ASSIGN_OR_RETURN(const int port, impl->transport->Listen(impl->options.address, &impl->no_links));
  return std::unique_ptr<RegistryServer>(new RegistryServer(std::move(impl), port));
}

std::vector<std::string> RegistryServer::Missing() const {
  MutexLock lock(impl_->mu);
  return impl_->Missing();
}

bool RegistryServer::AwaitAnswered(std::chrono::milliseconds timeout) const {
  constexpr std::chrono::milliseconds kBetweenLooks{5};
  const auto deadline = MonotonicClock::now() + timeout;
  while (true) {
    {
      MutexLock lock(impl_->mu);
      if (impl_->AllAnswered()) return true;
    }
    if (MonotonicClock::now() >= deadline) return false;
    SleepFor(kBetweenLooks);
  }
}

}  // namespace tensorbraid
