// Variables. Updates of one variable are serialised by its lock, whatever use_locking says.
#include "core/strings.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/register.h"
#include "kernels/cpu/state_scatter.h"
#include "runtime/handle_kernel.h"

namespace tensorbraid {
namespace {

// VarHandleOp, VariableV2.
class VariableKernel final : public HandleKernel<VariableResource> {
 public:
  explicit VariableKernel(const KernelConstruction& c)
      : HandleKernel(c), dtype_(c.attr<DType>("dtype")), shape_(c.attr<Shape>("shape")) {}

 protected:
  RefPtr<VariableResource> Create() const override { return MakeRef<VariableResource>(name(), dtype_, shape_); }
  Status Check(const VariableResource& v) const override {
    if (v.dtype() == dtype_ && v.declared_shape().IsCompatibleWith(shape_)) return OkStatus();
    return InvalidArgument("variable '", name(), "' exists as ", v.dtype(), v.declared_shape(),
                           " and cannot be used as ", dtype_, shape_);
  }
  void EmitReference(KernelContext& ctx, const RefPtr<VariableResource>& v, const RefPtr<VariableResource>&) override {
    ctx.set_output_ref(0, v);
  }

 private:
  const DType dtype_;
  const Shape shape_;
};

Status ReadVariable(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto variable, ctx.LookupResource<VariableResource>(0));
  TF_ASSIGN_OR_RETURN(Tensor value, variable->Read());
  if (value.dtype() != ctx.node().output_type(0)) {
    return InvalidArgument("variable '", variable->name(), "' holds ", value.dtype(), ", not ",
                           ctx.node().output_type(0));
  }
  ctx.set_output(0, std::move(value));
  return OkStatus();
}

Status VarIsInitialized(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto variable, ctx.LookupResource<VariableResource>(0));
  ctx.set_output(0, Tensor::Scalar(variable->is_initialized()));
  return OkStatus();
}

Status VariableShape(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto variable, ctx.LookupResource<VariableResource>(0));
  TF_ASSIGN_OR_RETURN(const Tensor value, variable->Read());
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {value.shape().rank()}));
  for (int i = 0; i < value.shape().rank(); ++i) {
    if (out->dtype() == kInt64) {
      out->mutable_data<int64_t>()[i] = value.shape().dim(i);
    } else {
      out->mutable_data<int32_t>()[i] = static_cast<int32_t>(value.shape().dim(i));
    }
  }
  return OkStatus();
}

Status AssignVariable(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto variable, ctx.LookupResource<VariableResource>(0));
  return variable->Assign(ctx.TakeInput(1));
}

Status Destroy(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const ResourceHandle* handle, HandleOf(ctx.input(0)));
  const Status deleted = ctx.resources().Delete(handle->container, handle->name, handle->resource.get());
  return ctx.node().attr<bool>("ignore_lookup_error") && absl::IsNotFound(deleted) ? OkStatus() : deleted;
}

Status IsVariableInitialized(KernelContext& ctx) {
  ctx.set_output(0, Tensor::Scalar(ctx.ref_input(0).is_initialized()));
  return OkStatus();
}

void PassReference(KernelContext& ctx) { ctx.set_output_ref(0, RefPtr<VariableResource>::Share(&ctx.ref_input(0))); }

Status Assign(KernelContext& ctx) {
  PassReference(ctx);
  VariableResource& variable = ctx.ref_input(0);
  if (ctx.node().attr<bool>("validate_shape")) return variable.Assign(ctx.TakeInput(1));
  return variable.AssignAnyShape(ctx.TakeInput(1));
}

struct Plus {
  template <typename A, typename B>
  auto operator()(const A& a, const B& b) const {
    return a + b;
  }
};
struct Minus {
  template <typename A, typename B>
  auto operator()(const A& a, const B& b) const {
    return a - b;
  }
};

// variable = F(variable, input 1), in place when nobody holds a snapshot.
template <typename T, typename F>
Status UpdateBy(KernelContext& ctx, VariableResource& variable) {
  const Tensor& delta = ctx.input(1);
  if (variable.dtype() != delta.dtype()) {
    return InvalidArgument("variable '", variable.name(), "' holds ", variable.dtype(), ", the update is ",
                           delta.dtype());
  }
  return variable.Update(
      [&](const Tensor& old, Tensor* out) {
        if (old.shape() != delta.shape()) {
          return InvalidArgument("variable '", variable.name(), "' has shape ", old.shape(), ", the update ",
                                 delta.shape());
        }
        const T* a = old.data<T>().data();
        const T* b = delta.data<T>().data();
        T* to = out->mutable_data<T>().data();
        ctx.pool().ParallelFor(old.num_elements(), 0.2 * sizeof(T), [&](int64_t begin, int64_t end) {
          Combine(a + begin, b + begin, to + begin, end - begin, F());
        });
        return OkStatus();
      },
      &delta);
}

template <typename T, typename F>
Status AssignUpdateVariable(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto variable, ctx.LookupResource<VariableResource>(0));
  return UpdateBy<T, F>(ctx, *variable);
}

template <typename T, typename F>
Status AssignUpdate(KernelContext& ctx) {
  PassReference(ctx);
  return UpdateBy<T, F>(ctx, ctx.ref_input(0));
}

}  // namespace

void RegisterStateKernels(KernelRegistry& r) {
  r.Add<VariableKernel>("VarHandleOp");
  r.Add<VariableKernel>("VariableV2");
  r.Add<VariableKernel>("Variable");
  r.Add("ReadVariableOp", {}, ReadVariable);
  r.Add("VarIsInitializedOp", {}, VarIsInitialized);
  r.Add("VariableShape", {}, VariableShape);
  r.Add("AssignVariableOp", {}, AssignVariable);
  r.Add("DestroyResourceOp", {}, Destroy);
  r.Add("IsVariableInitialized", {}, IsVariableInitialized);
  r.Add("Assign", {}, Assign);
  ForEachNumberType([&]<typename T>() {
    const std::vector<DType> type = {DTypeOf<T>::value};
    r.Add("AssignAddVariableOp", {{"dtype", type}}, AssignUpdateVariable<T, Plus>, KernelCost::kExpensive);
    r.Add("AssignSubVariableOp", {{"dtype", type}}, AssignUpdateVariable<T, Minus>, KernelCost::kExpensive);
    r.Add("AssignAdd", {{"T", type}}, AssignUpdate<T, Plus>, KernelCost::kExpensive);
    r.Add("AssignSub", {{"T", type}}, AssignUpdate<T, Minus>, KernelCost::kExpensive);
  });
  RegisterScatterKernels(r);
}

}  // namespace tensorbraid
