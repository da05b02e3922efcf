#include "runtime/dataset/element_target.h"

#include <memory>
#include <utility>

#include "core/threads/mutex.h"
#include "core/values/new_tensor.h"
#include "runtime/kernel/cancellable_wait.h"

namespace tensorbraid {
namespace {

// Copies that have been begun, until all of them have ended or the wait for them is cancelled.
class PendingCopies {
 public:
  void Begin() {
    MutexLock lock(mu_);
    ++left_;
  }
  void End(const Status& status) {
    MutexLock lock(mu_);
    if (status_.ok()) status_ = status;
    --left_;
    ended_.NotifyAll();
  }
  Status Wait() {
    MutexLock lock(mu_);
    ended_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return left_ == 0 || !cancelled_.ok(); });
    return left_ == 0 ? status_ : cancelled_;
  }
  void Cancel(const Status& why) {
    MutexLock lock(mu_);
    cancelled_ = why;
    ended_.NotifyAll();
  }

 private:
  Mutex mu_;
  CondVar ended_;
  int left_ TB_GUARDED_BY(mu_) = 0;
  Status status_ TB_GUARDED_BY(mu_);
  Status cancelled_ TB_GUARDED_BY(mu_);
};

}  // namespace

bool ElementTarget::Copies(const Element& element, size_t i) const {
  return i < wanted.size() && wanted[i] && IsPlain(element[i].dtype()) &&
         element[i].buffer()->space() == MemorySpace::kHost;
}

bool ElementTarget::Copies(const Element& element) const {
  for (size_t i = 0; i < element.size(); ++i) {
    if (Copies(element, i)) return true;
  }
  return false;
}

int64_t ElementTarget::BytesOf(const Element& element) const {
  int64_t bytes = 0;
  for (size_t i = 0; i < element.size(); ++i) {
    if (Copies(element, i)) bytes += static_cast<int64_t>(element[i].num_bytes());
  }
  return bytes;
}

StatusOr<Element> CopyToDevice(const Element& element, const ElementTarget& target, CancellationManager* cancellation) {
  Element copied = element;
  const auto pending = std::make_shared<PendingCopies>();
  for (size_t i = 0; i < element.size(); ++i) {
    if (!target.Copies(element, i)) continue;
    TF_ASSIGN_OR_RETURN(copied[i], NewTensor(element[i].dtype(), element[i].shape(), target.device->allocator()));
  }
  CancellableWait wait;
  if (!wait.Begin(cancellation, [pending](const Status& why) { pending->Cancel(why); })) return cancellation->status();
  for (size_t i = 0; i < element.size(); ++i) {
    if (!target.Copies(element, i)) continue;
    pending->Begin();
    target.device->Copy(element[i], copied[i], [pending](const Status& status) { pending->End(status); });
  }
  const Status status = pending->Wait();
  wait.End();
  TF_RETURN_IF_ERROR(status);
  return copied;
}

}  // namespace tensorbraid
