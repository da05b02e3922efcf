// Base of the kernels that create resources: VarHandleOp, FIFOQueueV2, ResourceConditionalAccumulator and others.
#ifndef TENSORBRAID_RUNTIME_KERNEL_HANDLE_KERNEL_H_
#define TENSORBRAID_RUNTIME_KERNEL_HANDLE_KERNEL_H_

#include <string>

#include "core/threads/mutex.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {

// The resource that a node without `shared_name` uses.
enum class Sharing {
  kByNodeName,  // the one named like the node, common to all sessions (variables, staging areas)
  kPrivate,     // its own, which lives as long as the session's kernel (queues, accumulators, tables, readers)
};

// A name for a private resource of `node`, unique in this process.
std::string PrivateResourceName(const std::string& node);
// InvalidArgument if TensorFlow would not accept the container or shared_name.
Status CheckResourceNames(const std::string& container, const std::string& shared_name);

// Finds or creates a resource of type R, named by the attributes `container` and `shared_name` (for an empty
// shared_name see Sharing). Caches the resource and its handle until something is deleted from the ResourceManager.
// Sets output 0 to a resource handle or, if the op declares Ref(string), to a reference handle (reference_handle.h).
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
      RefPtr<R> resource;
      if (found.ok()) {
        resource = *std::move(found);
      } else {
        TF_ASSIGN_OR_RETURN(resource, CreateFrom(ctx));
        if (!private_) {
          TF_ASSIGN_OR_RETURN(resource, manager.LookupOrCreate<R>(container_, name_, [&] { return resource; }));
        }
      }
      TF_RETURN_IF_ERROR(Check(*resource));  // if it fails, the next run looks the resource up again
      resource_ = std::move(resource);
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
  // Checks that a resource can be created from the node's attributes.
  virtual Status CheckAttrs() const { return OkStatus(); }
  // Creates a resource; override it if the resource depends on the node's inputs. REQUIRES: CheckAttrs().
  virtual StatusOr<RefPtr<R>> CreateFrom(KernelContext&) const { return Create(); }
  // Creates a resource. REQUIRES: CheckAttrs().
  virtual RefPtr<R> Create() const = 0;
  // Checks that an existing resource matches the node's attributes.
  virtual Status Check(const R& resource) const = 0;
  virtual Tensor MakeTensor(const RefPtr<R>& resource) const {
    return MakeHandleTensor(resource, device_, container_, name_);
  }
  // Sets a reference output. The default refers to the handle; kernels of variables refer to the variable itself.
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
  ResourceManager* manager_ TB_GUARDED_BY(mu_) = nullptr;  // source of the cached values below
  uint64_t generation_ TB_GUARDED_BY(mu_) = 0;
  RefPtr<R> resource_ TB_GUARDED_BY(mu_);
  Tensor tensor_ TB_GUARDED_BY(mu_);                       // the handle, if output 0 is a resource
  RefPtr<VariableResource> reference_ TB_GUARDED_BY(mu_);  // the handle, if output 0 is Ref(string)
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_KERNEL_HANDLE_KERNEL_H_
