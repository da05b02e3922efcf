#include <algorithm>
#include <map>
#include <set>

#include "cluster/protobuf/proto_io.h"
#include "cluster/protobuf/registry.pb.h"
#include "cluster/registry/registry.h"
#include "cluster/registry/registry_messages.h"
#include "core/system/clock.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "transport/grpc/grpc_transport.h"

namespace tensorbraid {
struct RegistryServer::Impl final : public CallHandler {
  // The registry has no links, only calls.
  class NoLinks final : public LinkAcceptor {
    Status OnHello(const Hello&, Hello*) override {
      return FailedPrecondition("this is the registry of a job, and not a task");
    }
    std::shared_ptr<LinkHandler> OnLinkUp(const std::shared_ptr<Link>&) override { return nullptr; }
  };
  // A Register call, and what its answer's proof needs.
  struct RegisterCall {
    std::shared_ptr<Call> call;
    std::string request;
  };

  Impl(RegistryServerOptions o, std::shared_ptr<Seal> s) : options(std::move(o)), seal(std::move(s)) {
    for (const std::string& name : options.names) entries[name];
  }
  ~Impl() override {
    std::vector<RegisterCall> waiting;
    {
      MutexLock lock(mu);
      waiting = TakeWaiting();
    }
    for (const RegisterCall& waiter : waiting) waiter.call->Fail(Unavailable("the registry has stopped"));
    waiting.clear();  // Shutdown waits until nobody holds a call
    if (transport != nullptr) transport->Shutdown();
  }

  void OnCall(std::shared_ptr<Call> call) override;

  struct Entry {
    bool present = false;
    ProcessRecord record;
    uint64_t incarnation = 0;
    std::set<uint64_t> replaced;        // incarnations that had the name before
    std::vector<RegisterCall> waiting;  // of this incarnation
    bool answered = false;              // with the records of all
    std::weak_ptr<Call> last_answer;    // expires when the call has ended
    std::string problem;                // why a process of this name was refused
  };

  void Register(const std::shared_ptr<Call>& call, std::string text, const proto::RegisterRequest& request);
  // Adds or replaces an entry. Moves the calls of the process that had the name before to `displaced`.
  // FailedPrecondition if the job cannot start: this process is refused, or one of those that are missing was.
  Status Admit(const proto::RegisterRequest& request, std::vector<RegisterCall>* displaced, std::string* displaced_by)
      TB_REQUIRES(mu);
  std::vector<RegisterCall> TakeWaiting() TB_REQUIRES(mu);
  static void NoteAnswer(Entry* entry, const RegisterCall& call) {
    entry->answered = true;
    entry->last_answer = call.call;
  }
  bool AllAnswered() const TB_REQUIRES(mu);
  std::vector<std::string> Missing() const TB_REQUIRES(mu);
  proto::RegisterAnswer Answer() const TB_REQUIRES(mu);
  void Send(const RegisterCall& to, const proto::RegisterAnswer& answer);
  // The client has gone.
  void Forget(const Call* call);

  const RegistryServerOptions options;
  const std::shared_ptr<Seal> seal;
  NoLinks no_links;
  std::unique_ptr<Transport> transport;
  mutable Mutex mu;
  std::map<std::string, Entry> entries TB_GUARDED_BY(mu);
};

void RegistryServer::Impl::OnCall(std::shared_ptr<Call> call) {
  if (call->method() != kRegister) {
    return call->Fail(Unimplemented("this is the registry of a job, and not a task: it has no ", call->method()));
  }
  proto::SealedMessage sealed;
  proto::RegisterRequest request;
  if (!ReadRequest(call, &sealed)) return;
  if (const Status proved = seal->Check(RequestToProve(sealed.message()), sealed.proof()); !proved.ok()) {
    TB_LOG(Warning, "registry") << "refuses a call from " << call->caller().address << ": " << proved.message();
    return call->Fail(proved);
  }
  if (!request.ParseFromString(sealed.message())) return call->Fail(InvalidArgument("not a request of a registry"));
  Register(call, std::move(*sealed.mutable_message()), request);
}

void RegistryServer::Impl::Register(const std::shared_ptr<Call>& call, std::string text,
                                    const proto::RegisterRequest& request) {
  const RegisterCall own{call, std::move(text)};
  std::vector<RegisterCall> displaced, answered;
  std::string displaced_by;
  proto::RegisterAnswer answer;
  Status admitted;
  bool waits = false;
  {
    MutexLock lock(mu);
    admitted = Admit(request, &displaced, &displaced_by);
    if (absl::IsFailedPrecondition(admitted)) {
      answered = TakeWaiting();  // they would wait in vain
    } else if (admitted.ok()) {
      answer = Answer();
      waits = answer.entries_size() == 0 && request.wait();
      if (waits) {
        entries[request.name()].waiting.push_back(own);
      } else {
        answered.push_back(own);
      }
      if (answer.entries_size() > 0) {
        NoteAnswer(&entries[request.name()], own);
        for (auto& [name, entry] : entries) {
          for (const RegisterCall& waiter : entry.waiting) NoteAnswer(&entry, waiter);
        }
        for (RegisterCall& waiter : TakeWaiting()) answered.push_back(std::move(waiter));
      }
    }
  }
  for (const RegisterCall& waiter : displaced) waiter.call->Fail(Aborted(displaced_by));
  if (!admitted.ok()) {
    TB_LOG(Warning, "registry") << "refuses " << request.name() << ": " << admitted.message();
    for (const RegisterCall& waiter : answered) waiter.call->Fail(admitted);
    return call->Fail(admitted);
  }
  for (const RegisterCall& waiter : answered) Send(waiter, answer);
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
  const NamedRecord own{request.name(), FromProto(request.record())};
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
    TB_LOG(Info, "registry") << own.name << " comes back: on " << own.record.host << " instead of "
                             << entry.record.host;
    entry.replaced.insert(entry.incarnation);
    *displaced = std::exchange(entry.waiting, {});
    *displaced_by = StrCat("another process has registered as ", own.name, ", on ", own.record.host, " instead of ",
                           entry.record.host, "; start each task once");
  }
  entry.present = true;
  entry.record = own.record;
  if (entry.incarnation != request.incarnation()) entry.answered = false;
  entry.incarnation = request.incarnation();
  entry.problem.clear();
  for (const auto& [name, other] : entries) {
    if (!other.present && !other.problem.empty()) return FailedPrecondition(other.problem);
  }
  return OkStatus();
}

std::vector<RegistryServer::Impl::RegisterCall> RegistryServer::Impl::TakeWaiting() {
  std::vector<RegisterCall> all;
  for (auto& [name, entry] : entries) {
    for (RegisterCall& waiter : entry.waiting) all.push_back(std::move(waiter));
    entry.waiting.clear();
  }
  return all;
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

proto::RegisterAnswer RegistryServer::Impl::Answer() const {
  proto::RegisterAnswer answer;
  for (const std::string& name : Missing()) answer.add_missing(name);
  if (answer.missing_size() > 0) return answer;
  for (const std::string& name : options.names) {
    auto* const entry = answer.add_entries();
    entry->set_name(name);
    *entry->mutable_record() = ToProto(entries.at(name).record);
  }
  return answer;
}

void RegistryServer::Impl::Send(const RegisterCall& to, const proto::RegisterAnswer& answer) {
  proto::SealedMessage sealed;
  sealed.set_message(answer.SerializeAsString());
  auto proof = seal->Prove(AnswerToProve(to.request, sealed.message()));
  if (!proof.ok()) return to.call->Fail(proof.status());
  sealed.set_proof(*std::move(proof));
  AnswerCall(to.call, sealed);
}

void RegistryServer::Impl::Forget(const Call* call) {
  std::shared_ptr<Call> gone;
  {
    MutexLock lock(mu);
    for (auto& [name, entry] : entries) {
      for (RegisterCall& waiter : entry.waiting) {
        if (waiter.call.get() != call) continue;
        gone = std::move(waiter.call);
        std::swap(waiter, entry.waiting.back());
        entry.waiting.pop_back();
        break;
      }
      if (gone != nullptr) break;
    }
  }
  if (gone != nullptr) gone->Fail(Cancelled("the process waits no more"));
}

RegistryServer::RegistryServer(std::unique_ptr<Impl> impl, int port) : impl_(std::move(impl)), port_(port) {}
RegistryServer::~RegistryServer() = default;

StatusOr<std::unique_ptr<RegistryServer>> RegistryServer::Start(RegistryServerOptions options,
                                                                std::shared_ptr<Seal> seal) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(seal));
  // Without TLS, others on the network can read addresses, but not change them or add any: see Seal.
  impl->transport = NewGrpcTransport({.tls = impl->options.tls, .insecure = true});
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
