// Kernels of the tensors that a session keeps on the server between steps. The client refers to them by a string
// handle:
// "<name of the node>;<number>;<device>".
#include <atomic>

#include "absl/container/flat_hash_map.h"
#include "core/text/strings.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The session tensors of one task. The tensors of a session are deleted with the kernels that stored them.
class SessionTensors final : public Resource {
 public:
  static constexpr const char* kTypeName = "store of session tensors";

  static StatusOr<RefPtr<SessionTensors>> Of(ResourceManager& resources) {
    return resources.LookupOrCreate<SessionTensors>("_session_tensors", "tensors",
                                                    [] { return MakeRef<SessionTensors>(); });
  }

  void Keep(const std::string& handle, Tensor value) {
    MutexLock lock(mu_);
    tensors_[handle] = std::move(value);
  }
  StatusOr<Tensor> Get(const std::string& handle) const {
    MutexLock lock(mu_);
    const auto it = tensors_.find(handle);
    if (it != tensors_.end()) return it->second;
    return InvalidArgument("the tensor with handle '", handle,
                           "' does not exist: it was deleted or belongs to another session");
  }
  Status Forget(const std::string& handle) {
    Tensor dropped;  // freed after the lock is released
    MutexLock lock(mu_);
    const auto it = tensors_.find(handle);
    if (it == tensors_.end())
      return InvalidArgument("cannot delete the tensor with handle '", handle, "': it does not exist");
    std::swap(dropped, it->second);
    tensors_.erase(it);
    return OkStatus();
  }
  std::string DebugString() const override { return kTypeName; }

 private:
  mutable Mutex mu_;
  absl::flat_hash_map<std::string, Tensor> tensors_ TB_GUARDED_BY(mu_);
};

class KeepKernel final : public Kernel {
 public:
  explicit KeepKernel(const KernelConstruction& c) : node_(c.node().name()), device_(c.device()) {}
  ~KeepKernel() override {
    for (const std::string& handle : handles_) store_->Forget(handle).IgnoreError();  // the client may have deleted it
  }

  Status Compute(KernelContext& ctx) override {
    static std::atomic<uint64_t> next{0};
    TF_ASSIGN_OR_RETURN(auto store, SessionTensors::Of(ctx.resources()));
    std::string handle = StrCat(node_, ";", next.fetch_add(1, std::memory_order_relaxed), ";", device_);
    store->Keep(handle, ctx.input(0));
    ctx.set_output(0, Tensor::Scalar(handle));
    MutexLock lock(mu_);
    // From time to time, drop the handles that the client has deleted, so that they do not accumulate.
    if (handles_.size() >= 2 * kept_) {
      std::erase_if(handles_, [&](const std::string& h) { return !store->Get(h).ok(); });
      kept_ = std::max<size_t>(handles_.size(), 64);
    }
    store_ = std::move(store);
    handles_.push_back(std::move(handle));
    return OkStatus();
  }

 private:
  const std::string node_;
  const std::string device_;
  Mutex mu_;
  RefPtr<SessionTensors> store_ TB_GUARDED_BY(mu_);
  std::vector<std::string> handles_ TB_GUARDED_BY(mu_);
  size_t kept_ TB_GUARDED_BY(mu_) = 64;  // size of handles_ after deleted handles were last dropped, at least 64
};

StatusOr<std::string> HandleInput(const KernelContext& ctx) {
  if (ctx.input(0).num_elements() == 1) return ctx.input(0).data<std::string>()[0];
  return InvalidArgument("handle must be a scalar, got shape ", ctx.input(0).shape());
}

Status GetSessionTensor(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string handle, HandleInput(ctx));
  TF_ASSIGN_OR_RETURN(const auto store, SessionTensors::Of(ctx.resources()));
  TF_ASSIGN_OR_RETURN(Tensor value, store->Get(handle));
  if (value.dtype() != ctx.node().output_type(0)) {
    return Internal("the tensor with handle '", handle, "' has type ", value.dtype(), ", but the op expects ",
                    ctx.node().output_type(0));
  }
  ctx.set_output(0, std::move(value));
  return OkStatus();
}

Status DeleteSessionTensor(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string handle, HandleInput(ctx));
  TF_ASSIGN_OR_RETURN(const auto store, SessionTensors::Of(ctx.resources()));
  return store->Forget(handle);
}

}  // namespace

void RegisterDataFlowSessionTensorKernels(KernelRegistry& r) {
  r.Add<KeepKernel>("GetSessionHandle", {}, kNoCost);
  r.Add("GetSessionTensor", {}, GetSessionTensor, kNoCost);
  r.Add("DeleteSessionTensor", {}, DeleteSessionTensor);
}

}  // namespace tensorbraid::cpu
