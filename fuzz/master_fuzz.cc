// Passes a sequence of client requests to a master. The input has, for each request, a byte for the method, two bytes
// for the length, and the serialized message. If the message begins with the session handle "@", the handle of the
// latest session replaces it.
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bounds.h"
#include "cluster/client_service/master_service.h"
#include "cluster/server/member.h"
#include "core/memory/allocator.h"

namespace tensorbraid {
namespace {

constexpr const char* kMethods[] = {"CreateSession", "ExtendSession",   "RunStep",     "PartialRunSetup",
                                    "CloseSession",  "ListDevices",     "Reset",       "MakeCallable",
                                    "RunCallable",   "ReleaseCallable", "NoSuchMethod"};

class FuzzCall final : public Call {
 public:
  FuzzCall(std::string method, std::string request)
      : method_(std::move(method)), request_(OwnedPayload(std::move(request))) {}
  const std::string& method() const override { return method_; }
  const Caller& caller() const override { return caller_; }
  std::chrono::steady_clock::time_point deadline() const override {
    return std::chrono::steady_clock::time_point::max();
  }
  const Payload& request() const override { return request_; }
  void Answer(MessageParts answer) override {
    std::string text;
    for (const Payload& part : answer) {
      const size_t begin = text.size();
      text.resize(begin + part.size());
      part.CopyTo(text.data() + begin);
    }
    End(std::move(text));
  }
  void Fail(const Status& why) override {
    if (why.ok()) std::abort();
    End("");
  }
  void OnCancelled(std::function<void()> callback) override {
    {
      MutexLock lock(mu_);
      if (ended_) return;
      if (!gone_) {
        on_cancelled_ = std::move(callback);
        return;
      }
    }
    callback();
  }

  // Waits for the answer as a client does that disconnects if it has to wait too long. Returns "" if the call failed or
  // the client has disconnected.
  std::string WaitForAnswer() {
    const auto ended = [this]() TB_REQUIRES(mu_) { return ended_; };
    std::function<void()> cancel;
    {
      MutexLock lock(mu_);
      if (cv_.WaitFor(mu_, 3 * kStepTimeout, ended)) return answer_;
      gone_ = true;
      cancel.swap(on_cancelled_);
    }
    if (cancel) cancel();
    MutexLock lock(mu_);
    if (!cv_.WaitFor(mu_, kPatience, ended)) Hangs(method_);
    return "";
  }

 private:
  const Caller caller_;
  void End(std::string answer) {
    std::function<void()> dropped;  // destroyed without the lock: it may hold this call
    MutexLock lock(mu_);
    if (ended_) std::abort();
    ended_ = true;
    answer_ = std::move(answer);
    dropped.swap(on_cancelled_);
    cv_.NotifyAll();
  }

  const std::string method_;
  const Payload request_;
  Mutex mu_;
  CondVar cv_;
  bool ended_ TB_GUARDED_BY(mu_) = false;
  bool gone_ TB_GUARDED_BY(mu_) = false;
  std::string answer_ TB_GUARDED_BY(mu_);
  std::function<void()> on_cancelled_ TB_GUARDED_BY(mu_);
};

void AskAll(std::string_view bytes, MasterService* service) {
  constexpr std::string_view kPlaceholder("\x0a\x01@", 3);  // field 1, session_handle, with the value "@"
  std::string session = "none";
  for (int left = 16; left > 0 && bytes.size() >= 3; --left) {
    const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(bytes[i])); };
    const std::string method = kMethods[byte(0) % std::size(kMethods)];
    const size_t length = byte(1) | byte(2) << 8;
    bytes.remove_prefix(3);
    std::string request(bytes.substr(0, length));
    bytes.remove_prefix(request.size());
    if (request.starts_with(kPlaceholder)) {
      request.replace(0, kPlaceholder.size(), std::string("\x0a") + static_cast<char>(session.size()) + session);
    }
    const auto call = std::make_shared<FuzzCall>("/tensorflow.MasterService/" + method, std::move(request));
    service->OnCall(call);
    const std::string answer = call->WaitForAnswer();
    // The session handle is field 1: a tag, the length, and the handle.
    if (method == "CreateSession" && answer.size() > 2) session = answer.substr(2, static_cast<size_t>(answer[1]));
  }
}

}  // namespace
}  // namespace tensorbraid

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tensorbraid;  // NOLINT: this file is a whole program
  SetAllocatorLimit(kMemoryLimit);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (MayTouchFiles(bytes)) return 0;
  const auto env = WorkerEnv::Create({.num_threads = 1});
  if (!env.ok()) std::abort();
  const auto member = Member::Create(env->get(), ClusterSpec(), {}, nullptr);
  const auto no_cluster = [](const ClusterSpec&, const std::string&) -> StatusOr<std::shared_ptr<Member>> {
    return absl::UnimplementedError("sessions with their own clusters are not supported here");
  };
  MasterService service(member, no_cluster, (*env)->timer(), &(*env)->pool(), "");
  AskAll(bytes, &service);
  service.Shutdown();
  service.WaitForCalls();
  member->Stop(OkStatus());
  return 0;
}
