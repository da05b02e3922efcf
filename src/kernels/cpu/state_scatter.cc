// Updates of some rows of a variable.
#include "kernels/cpu/state_scatter.h"

#include "core/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/numbers.h"

namespace tensorbraid {
namespace {

struct AddRow {
  template <typename T>
  static void Apply(const T* update, T* row, int64_t n) {
    Combine(row, update, row, n, [](const auto& a, const auto& b) { return a + b; });
  }
  template <typename T>
  static T One(T row, T update) {
    return T(ComputeType<T>(row) + ComputeType<T>(update));
  }
};
struct SubtractRow {
  template <typename T>
  static void Apply(const T* update, T* row, int64_t n) {
    Combine(row, update, row, n, [](const auto& a, const auto& b) { return a - b; });
  }
  template <typename T>
  static T One(T row, T update) {
    return T(ComputeType<T>(row) - ComputeType<T>(update));
  }
};
struct ReplaceRow {
  template <typename E>
  static void Apply(const E* update, E* row, int64_t n) {
    CopyElements(update, n, row);
  }
  template <typename E>
  static E One(const E&, const E& update) {
    return update;
  }
};

// Row indices[i] of the variable is changed by row i of the updates, or by the one number that they are. E: what an
// element is accessed as.
template <typename E, typename I, typename How>
Status ScatterTo(KernelContext& ctx, VariableResource& variable) {
  const Tensor& indices = ctx.input(1);
  const Tensor& updates = ctx.input(2);
  if (variable.dtype() != updates.dtype()) {
    return InvalidArgument("variable '", variable.name(), "' holds ", variable.dtype(), ", the updates are ",
                           updates.dtype());
  }
  return variable.Update([&](const Tensor& old, Tensor* out) -> Status {
    const Shape& shape = old.shape();
    if (shape.rank() < 1) return InvalidArgument("variable '", variable.name(), "' is a scalar and has no rows");
    Shape wanted = indices.shape();
    for (int d = 1; d < shape.rank(); ++d) wanted.AddDim(shape.dim(d));
    const bool one = updates.shape().is_scalar();
    if (!one && updates.shape() != wanted) {
      return InvalidArgument("updates of variable '", variable.name(), "' must have shape ", wanted, ", got ",
                             updates.shape());
    }
    const auto rows = indices.data<I>();
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] < 0 || static_cast<int64_t>(rows[i]) >= shape.dim(0)) {
        return InvalidArgument("index ", static_cast<int64_t>(rows[i]), " (number ", i, ") is out of range for the ",
                               shape.dim(0), " rows of variable '", variable.name(), "'");
      }
    }
    const int64_t row = SizeOf(shape, 1, shape.rank());
    E* to = MutableElements<E>(*out);
    if (out->raw_data() != old.raw_data()) CopyElements(Elements<E>(old), old.num_elements(), to);
    const E* from = Elements<E>(updates);
    for (size_t i = 0; i < rows.size(); ++i) {
      E* target = to + static_cast<int64_t>(rows[i]) * row;
      if (one) {
        for (int64_t j = 0; j < row; ++j) target[j] = How::One(target[j], *from);
      } else {
        How::Apply(from + static_cast<int64_t>(i) * row, target, row);
      }
    }
    return OkStatus();
  });
}

template <typename E, typename How>
Status ScatterTo(KernelContext& ctx, VariableResource& variable) {
  if (ctx.input(1).dtype() == kInt32) return ScatterTo<E, int32_t, How>(ctx, variable);
  return ScatterTo<E, int64_t, How>(ctx, variable);
}

template <typename E, typename How>
Status Scatter(KernelContext& ctx) {
  ctx.set_output_ref(0, RefPtr<VariableResource>::Share(&ctx.ref_input(0)));
  return ScatterTo<E, How>(ctx, ctx.ref_input(0));
}

template <typename E, typename How>
Status ResourceScatter(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto variable, ctx.LookupResource<VariableResource>(0));
  return ScatterTo<E, How>(ctx, *variable);
}

Status ScatterUpdate(KernelContext& ctx) {
  return ForElementsOf(ctx.input(2).dtype(), [&]<typename E>() { return Scatter<E, ReplaceRow>(ctx); });
}

Status ResourceScatterUpdate(KernelContext& ctx) {
  return ForElementsOf(ctx.input(2).dtype(), [&]<typename E>() { return ResourceScatter<E, ReplaceRow>(ctx); });
}

}  // namespace

void RegisterScatterKernels(KernelRegistry& r) {
  ForEachNumberType([&]<typename T>() {
    const std::vector<DType> type = {DTypeOf<T>::value};
    r.Add("ScatterAdd", {{"T", type}}, Scatter<T, AddRow>, KernelCost::kExpensive);
    r.Add("ScatterSub", {{"T", type}}, Scatter<T, SubtractRow>, KernelCost::kExpensive);
    r.Add("ResourceScatterAdd", {{"dtype", type}}, ResourceScatter<T, AddRow>, KernelCost::kExpensive);
    r.Add("ResourceScatterSub", {{"dtype", type}}, ResourceScatter<T, SubtractRow>, KernelCost::kExpensive);
  });
  r.Add("ScatterUpdate", {}, ScatterUpdate, KernelCost::kExpensive);
  r.Add("ResourceScatterUpdate", {}, ResourceScatterUpdate, KernelCost::kExpensive);
}

}  // namespace tensorbraid
