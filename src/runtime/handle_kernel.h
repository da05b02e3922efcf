// The kernels of ops that make resources: VarHandleOp, FIFOQueueV2, ResourceConditionalAccumulator and their kin.
#ifndef TENSORBRAID_RUNTIME_HANDLE_KERNEL_H_
#define TENSORBRAID_RUNTIME_HANDLE_KERNEL_H_

#include <string>

#include "core/mutex.h"
#include "runtime/kernel.h"

namespace tensorbraid {

// What a node without `shared_name` makes.
enum class Sharing {
  kByNodeName,  // the resource of the node's name: every session finds the same one (variables, staging areas)
  kPrivate,     // one of its own, which lives as long as the session's kernel (queues, accumulators, tables, readers)
};

// A name for a private resource of `node`, that no other one in this process has.
std::string PrivateResourceName(const std::string& node);
// InvalidArgument when a container or shared_name is not one that TensorFlow takes.
Status CheckResourceNames(const std::string& container, const std::string& shared_name);

// Finds or makes a resource of type R, named by the attributes `container` and `shared_name` (or see Sharing), and
// keeps it with the tensor that hands it on, until something is deleted from the ResourceManager. Output 0 becomes a
// resource handle, or, where the op declares Ref(string), a handle of the old form (reference_handle.h).
template <typename R>
class HandleKernel : public Kernel {
 public:
  explicit HandleKernel(const KernelConstruction& c, Sharing sharing = Sharing::kByNodeName)
      : device_(c.device()),
        container_(c.attr<std::string>("container")),
        shared_name_(c.attr<std::string>("shared_name")),
        sharing_(sharing),
        private_(shared_name_.empty() && sharing == Sharing::kPrivate),
        name_(!shared_name_.empty() ? shared_name_
              : private_            ? PrivateResourceName(c.node().name())
                                    : c.node().name()) {}

  Status Compute(KernelContext& ctx) final {
    MutexLock lock(mu_);
    ResourceManager& manager = ctx.resources();
    const uint64_t generation = manager.generation();
    if (private_ ? !resource_ : manager_ != &manager || generation_ != generation) {
      TF_RETURN_IF_ERROR(CheckAttrs());
      if (sharing_ == Sharing::kPrivate) TF_RETURN_IF_ERROR(CheckResourceNames(container_, shared_name_));
      auto found = private_ ? StatusOr<RefPtr<R>>(NotFound(name_)) : manager.Lookup<R>(container_, name_);
      if (found.ok()) {
        resource_ = *std::move(found);
      } else {
        TF_ASSIGN_OR_RETURN(resource_, CreateFrom(ctx));
        if (!private_) {
          TF_ASSIGN_OR_RETURN(resource_, manager.LookupOrCreate<R>(container_, name_, [&] { return resource_; }));
        }
      }
      manager_ = nullptr;  // looked for again next time, should the check fail
      TF_RETURN_IF_ERROR(Check(*resource_));
      if (IsRef(ctx.node().output_type(0))) {
        reference_ = MakeReferenceHandle(resource_, container_, name_);
      } else {
        tensor_ = MakeTensor(resource_);
      }
      manager_ = &manager;
      generation_ = generation;
    }
    if (IsRef(ctx.node().output_type(0))) {
      EmitReference(ctx, resource_, reference_);
    } else {
      ctx.set_output(0, tensor_);
    }
    return OkStatus();
  }

 protected:
  // Whether the node's attributes describe something that can be made.
  virtual Status CheckAttrs() const { return OkStatus(); }
  // A new resource, of a node with inputs.
  virtual StatusOr<RefPtr<R>> CreateFrom(KernelContext&) const { return Create(); }
  // A new resource. REQUIRES: CheckAttrs().
  virtual RefPtr<R> Create() const = 0;
  // Whether a resource that was there already is what the node describes.
  virtual Status Check(const R& resource) const = 0;
  virtual Tensor MakeTensor(const RefPtr<R>& resource) const {
    return MakeHandleTensor(resource, device_, container_, name_);
  }
  // Where the output is a reference: to the handle; of variables, to the resource itself.
  virtual void EmitReference(KernelContext& ctx, const RefPtr<R>& resource, const RefPtr<VariableResource>& handle) {
    ctx.set_output_ref(0, handle);
  }
  const std::string& container() const { return container_; }
  const std::string& name() const { return name_; }

 private:
  const std::string device_;
  const std::string container_;
  const std::string shared_name_;
  const Sharing sharing_;
  const bool private_;
  const std::string name_;
  Mutex mu_;
  ResourceManager* manager_ TB_GUARDED_BY(mu_) = nullptr;  // the one that the following come from
  uint64_t generation_ TB_GUARDED_BY(mu_) = 0;
  RefPtr<R> resource_ TB_GUARDED_BY(mu_);
  Tensor tensor_ TB_GUARDED_BY(mu_);                       // the handle, of a resource output
  RefPtr<VariableResource> reference_ TB_GUARDED_BY(mu_);  // the handle, of a Ref(string) output
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_HANDLE_KERNEL_H_
