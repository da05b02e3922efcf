// Kernels for variables. Updates of a whole variable hold its lock, whatever the value of use_locking.
#include <cstring>
#include <limits>

#include "core/text/strings.h"
#include "kernels/cpu/array_math.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/numbers.h"
#include "runtime/kernel/handle_kernel.h"
#include "runtime/kernel/kernel.h"
#include "runtime/tables/embedding_table.h"
#include "runtime/variables/variable_access.h"

namespace tensorbraid::cpu {
namespace {

// VarHandleOp (R is VariableResource), Variable and VariableV2 (R is ReferenceVariable).
template <typename R>
class VariableKernel final : public HandleKernel<R> {
 public:
  explicit VariableKernel(const KernelConstruction& c)
      : HandleKernel<R>(c),
        dtype_(c.attr<DType>("dtype")),
        shape_(c.attr<Shape>("shape")),
        local_device_(c.local_device()) {}

 protected:
  RefPtr<R> Create() const override { return MakeRef<R>(this->name(), dtype_, shape_, local_device_); }
  // The op that created the variable determined its type. Ops that use a handle check the type themselves; the type of
  // a reference must match here.
  Status Check(const R& v) const override {
    if (v.dtype() == dtype_ || std::is_same_v<R, VariableResource>) return OkStatus();
    return Internal("variable '", this->name(), "' exists with values of type ", v.dtype(), " and cannot be used as ",
                    dtype_);
  }
  void EmitReference(KernelContext& ctx, const RefPtr<R>& v, const RefPtr<VariableResource>&) override {
    ctx.set_output_ref(0, v);
  }

 private:
  const DType dtype_;
  const Shape shape_;
  Device& local_device_;
};

// TensorFlow uses this shared_name for an anonymous variable, which can only be reached by its handle.
constexpr const char* kAnonymousName = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

class AnonymousVariableKernel final : public Kernel {
 public:
  explicit AnonymousVariableKernel(const KernelConstruction& c)
      : device_(c.device()), dtype_(c.attr<DType>("dtype")), shape_(c.attr<Shape>("shape")) {}
  Status Compute(KernelContext& ctx) override {
    ctx.set_output(0, MakeHandleTensor(MakeRef<VariableResource>(ctx.node().name(), dtype_, shape_, ctx.device()),
                                       device_, "", kAnonymousName));
    return OkStatus();
  }

 private:
  const std::string device_;
  const DType dtype_;
  const Shape shape_;
};

// _VarHandlesOp: the handles of several variables.
class VarHandlesKernel final : public Kernel {
 public:
  explicit VarHandlesKernel(const KernelConstruction& c)
      : device_(c.device()),
        containers_(c.attr<std::vector<std::string>>("containers")),
        names_(c.attr<std::vector<std::string>>("shared_names")),
        dtypes_(c.attr<std::vector<DType>>("dtypes")),
        shapes_(c.attr<std::vector<Shape>>("shapes")) {}
  Status Compute(KernelContext& ctx) override {
    const auto n = static_cast<size_t>(ctx.num_outputs());
    if (containers_.size() != n || names_.size() != n || dtypes_.size() != n || shapes_.size() != n) {
      return InvalidArgument("containers, shared_names, dtypes and shapes must have ", n, " entries each, got ",
                             containers_.size(), ", ", names_.size(), ", ", dtypes_.size(), " and ", shapes_.size());
    }
    for (size_t i = 0; i < n; ++i) {
      TF_ASSIGN_OR_RETURN(auto variable,
                          ctx.resources().LookupOrCreate<VariableResource>(containers_[i], names_[i], [&] {
                            return MakeRef<VariableResource>(names_[i], dtypes_[i], shapes_[i], ctx.device());
                          }));
      ctx.set_output(static_cast<int>(i), MakeHandleTensor(std::move(variable), device_, containers_[i], names_[i]));
    }
    return OkStatus();
  }

 private:
  const std::string device_;
  const std::vector<std::string> containers_;
  const std::vector<std::string> names_;
  const std::vector<DType> dtypes_;
  const std::vector<Shape> shapes_;
};

// ReadVariableOp, and _ReadVariablesOp, which has as many handles as outputs.
Status ReadVariables(KernelContext& ctx) {
  if (ctx.num_inputs() != ctx.num_outputs()) {
    return InvalidArgument("the op has ", ctx.num_inputs(), " variables, but ", ctx.num_outputs(), " outputs");
  }
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    TF_ASSIGN_OR_RETURN(const auto variable, ctx.LookupResource<VariableResource>(i));
    Allocator& memory = ctx.output_memory(i);
    // Whether the output is sent to another process on this machine, through shared memory (see
    // VariableResource::ReadFrom).
    const bool leaves = &memory != &ctx.device().allocator();
    TF_ASSIGN_OR_RETURN(Tensor value, leaves ? variable->ReadFrom(memory) : variable->Read());
    if (value.dtype() != ctx.node().output_type(i)) {
      return InvalidArgument("variable '", variable->name(), "' holds ", value.dtype(), ", not ",
                             ctx.node().output_type(i));
    }
    ctx.set_output(i, std::move(value));
  }
  return OkStatus();
}

Status VarIsInitialized(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto variable, ctx.LookupResource<VariableResource>(0));
  ctx.set_output(0, Tensor::Scalar(variable->is_initialized()));
  return OkStatus();
}

Status VariableShape(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto named, ctx.LookupResource<VariableResource>(0));
  TF_ASSIGN_OR_RETURN(const auto variable, VariableWithValue(ctx, 0, named->dtype()));
  TF_ASSIGN_OR_RETURN(const Shape shape, variable->ReadShape());
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {shape.rank()}));
  for (int i = 0; i < shape.rank(); ++i) {
    if (out->dtype() == kInt64) {
      out->inplace_data<int64_t>()[i] = shape.dim(i);
    } else if (shape.dim(i) > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument("size ", shape.dim(i), " of dimension ", i, " does not fit int32; use out_type int64");
    } else {
      out->inplace_data<int32_t>()[i] = static_cast<int32_t>(shape.dim(i));
    }
  }
  return OkStatus();
}

Status AssignVariable(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto variable, ctx.LookupResource<VariableResource>(0));
  if (ctx.node().attr<bool>("validate_shape")) return variable->AssignSameShape(ctx.TakeInput(1));
  return variable->AssignAnyShape(ctx.TakeInput(1));
}

// Removes the column that the handle names, if it is one of `table`. The handles of a column are different objects.
Status DeleteColumn(ResourceManager& resources, const ResourceHandle& handle, const EmbeddingTable& table) {
  TF_ASSIGN_OR_RETURN(const auto column, resources.Lookup<TableColumn>(handle.container, handle.name));
  if (&column->table() != &table) return NotFound("another growing table is named '", handle.name, "' now");
  return resources.Delete<TableColumn>(handle.container, handle.name);
}

Status Destroy(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const ResourceHandle* handle, HandleOf(ctx.input(0)));
  auto* column = dynamic_cast<TableColumn*>(handle->resource.get());
  Status deleted = column != nullptr ? DeleteColumn(ctx.resources(), *handle, column->table())
                                     : ctx.resources().Delete(handle->container, handle->name, handle->resource.get());
  // In TensorFlow, a variable only exists once it has a value. Take the value, so that the variable does not exist for
  // remaining handles, either.
  if (auto* variable = dynamic_cast<VariableResource*>(handle->resource.get()); variable != nullptr) {
    if (!variable->Take().ok()) deleted = NotFound("variable '", handle->name, "' does not exist");
  }
  // The rows of a table, and the slots in them, end with its handle.
  if (column != nullptr) {
    if (const Status ended = column->table().Uninitialize(column->column()); !ended.ok()) deleted = ended;
  }
  return ctx.node().attr<bool>("ignore_lookup_error") && absl::IsNotFound(deleted) ? OkStatus() : deleted;
}

Status DisableCopyOnRead(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto variable, ctx.LookupResource<VariableResource>(0));
  TF_RETURN_IF_ERROR(variable->ReadShape().status());
  variable->DisableCopyOnRead();
  return OkStatus();
}

Status IsVariableInitialized(KernelContext& ctx) {
  ctx.set_output(0, Tensor::Scalar(ctx.ref_input(0).is_initialized()));
  return OkStatus();
}

Status Assign(KernelContext& ctx) {
  PassReference(ctx);
  VariableResource& variable = ctx.ref_input(0);
  if (ctx.node().attr<bool>("validate_shape")) return variable.Assign(ctx.TakeInput(1));
  return variable.AssignAnyShape(ctx.TakeInput(1));
}

// The resource name of a temporary variable. Each loop iteration has its own.
std::string NameInStep(const std::string& name, LoopPosition at) {
  return StrCat(name, "/", at.frame, ":", at.iteration);
}

// A variable that exists during one step, initialized with zeros.
class TemporaryVariableKernel final : public Kernel {
 public:
  explicit TemporaryVariableKernel(const KernelConstruction& c)
      : name_(c.attr<std::string>("var_name").empty() ? c.node().name() : c.attr<std::string>("var_name")),
        dtype_(c.attr<DType>("dtype")),
        shape_(c.attr<Shape>("shape").is_fully_defined() ? c.attr<Shape>("shape") : Shape()) {}
  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(Tensor value, Tensor::Create(dtype_, shape_));
    if (IsPlain(dtype_) && value.num_bytes() > 0) std::memset(value.inplace_raw_data(), 0, value.num_bytes());
    auto variable = MakeRef<ReferenceVariable>(name_, dtype_, shape_, ctx.device());
    TF_RETURN_IF_ERROR(variable->AssignAnyShape(std::move(value)));
    bool is_new = false;
    const auto create = [&] {
      is_new = true;
      return variable;
    };
    const auto known = ctx.resources().LookupOrCreate<ReferenceVariable>(ctx.env().step_resources->container(),
                                                                         NameInStep(name_, ctx.position()), create);
    TF_RETURN_IF_ERROR(known.status());
    if (!is_new) return AlreadyExists("the step already has a temporary variable '", name_, "'");
    ctx.set_output_ref(0, std::move(variable));
    return OkStatus();
  }

 private:
  const std::string name_;
  const DType dtype_;
  const Shape shape_;
};

Status DestroyTemporaryVariable(KernelContext& ctx) {
  const auto& name = ctx.node().attr<std::string>("var_name");
  VariableResource& variable = ctx.ref_input(0);
  if (variable.name() != name || !variable.is_initialized()) {
    return NotFound("the step has no temporary variable '", name, "'; the reference is to '", variable.name(), "'");
  }
  TF_RETURN_IF_ERROR(ctx.resources().Delete<ReferenceVariable>(ctx.env().step_resources->container(),
                                                               NameInStep(name, ctx.position())));
  TF_ASSIGN_OR_RETURN(Tensor value, variable.Take());
  ctx.set_output(0, std::move(value));
  return OkStatus();
}

// Outputs the value of the variable, then increments it. Returns OutOfRange if the value has reached the limit.
template <typename T>
Status CountUpTo(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto variable, VariableWithValue(ctx, 0, DTypeOf<T>::value));
  const int64_t limit = ctx.node().attr<int64_t>("limit");
  Tensor before = Tensor::Scalar(T{});
  TF_RETURN_IF_ERROR(variable->Update([&](const Tensor& old, Tensor* out) -> Status {
    if (!old.shape().is_scalar()) return InvalidArgument("a counter must be a scalar, got shape ", old.shape());
    const T count = old.data<T>()[0];
    if (count >= limit) return OutOfRange("Reached limit of ", limit);
    before.inplace_data<T>()[0] = count;
    out->inplace_data<T>()[0] = count + 1;
    return OkStatus();
  }));
  ctx.set_output(0, std::move(before));
  return OkStatus();
}

struct AddTo {
  template <typename A, typename B>
  auto operator()(const A& a, const B& b) const {
    return a + b;
  }
};
struct SubtractFrom {
  template <typename A, typename B>
  auto operator()(const A& a, const B& b) const {
    return a - b;
  }
};

// variable = F(variable, input 1), in place unless a snapshot of the variable is held.
template <typename T, typename F>
Status AssignUpdate(KernelContext& ctx) {
  PassReference(ctx);
  const Tensor& delta = ctx.input(1);
  TF_ASSIGN_OR_RETURN(const auto variable, VariableWithValue(ctx, 0, delta.dtype()));
  return variable->Update(
      [&](const Tensor& old, Tensor* out) {
        if (old.shape() != delta.shape()) {
          return InvalidArgument("variable '", variable->name(), "' has shape ", old.shape(),
                                 ", but the update has shape ", delta.shape());
        }
        const T* a = old.data<T>().data();
        const T* b = delta.data<T>().data();
        T* to = out->inplace_data<T>().data();
        ctx.pool().ParallelFor(old.num_elements(), 0.2 * sizeof(T), [&](int64_t begin, int64_t end) {
          Combine(a + begin, b + begin, to + begin, end - begin, F());
        });
        return OkStatus();
      },
      &delta);
}

}  // namespace

void RegisterStateKernels(KernelRegistry& r) {
  r.AddDef({.op = "VarHandleOp",
            .types = {},
            .create = [](const KernelConstruction& c) -> StatusOr<std::unique_ptr<Kernel>> {
              if (c.attr<std::string>("shared_name") == kAnonymousName) {
                return std::make_unique<AnonymousVariableKernel>(c);
              }
              return std::make_unique<VariableKernel<VariableResource>>(c);
            }});
  r.Add<VarHandlesKernel>("_VarHandlesOp", {}, kNoCost);
  r.Add<VariableKernel<ReferenceVariable>>("VariableV2", {}, kNoCost);
  r.Add<VariableKernel<ReferenceVariable>>("Variable", {}, kNoCost);
  r.Add("ReadVariableOp", {}, ReadVariables, kNoCost);
  r.Add("_ReadVariablesOp", {}, ReadVariables, kNoCost);
  r.Add("VarIsInitializedOp", {}, VarIsInitialized, kNoCost);
  r.Add("VariableShape", {}, VariableShape, kNoCost);
  r.Add("AssignVariableOp", {}, AssignVariable, kNoCost);
  r.Add("DestroyResourceOp", {}, Destroy);
  r.Add("DisableCopyOnRead", {}, DisableCopyOnRead);
  r.Add("IsVariableInitialized", {}, IsVariableInitialized, kNoCost);
  r.Add("Assign", {}, Assign, kNoCost);
  r.Add<TemporaryVariableKernel>("TemporaryVariable", {}, kNoCost);
  r.Add("DestroyTemporaryVariable", {}, DestroyTemporaryVariable);
  for (const char* op : {"CountUpTo", "ResourceCountUpTo"}) {
    r.Add(op, {{"T", {kInt32}}}, CountUpTo<int32_t>);
    r.Add(op, {{"T", {kInt64}}}, CountUpTo<int64_t>);
  }
  ForEachNumberType([&]<typename T>() {
    constexpr DTypeSet type = {DTypeOf<T>::value};
    r.Add("AssignAddVariableOp", {{"dtype", type}}, AssignUpdate<T, AddTo>, cpu::UpdateCost);
    r.Add("AssignSubVariableOp", {{"dtype", type}}, AssignUpdate<T, SubtractFrom>, cpu::UpdateCost);
    r.Add("AssignAdd", {{"T", type}}, AssignUpdate<T, AddTo>, cpu::UpdateCost);
    r.Add("AssignSub", {{"T", type}}, AssignUpdate<T, SubtractFrom>, cpu::UpdateCost);
  });
}

}  // namespace tensorbraid::cpu
