// UpdateKernel: how all update rules find, check and lock their variables (training_kernel.h).
#include "kernels/cpu/elements.h"
#include "kernels/cpu/prefetch.h"
#include "kernels/cpu/training/training_kernel.h"
#include "runtime/variables/row_stripes.h"

namespace tensorbraid {
namespace {

template <typename I>
void Widen(const Tensor& indices, std::vector<int64_t>* rows) {
  const auto index = indices.data<I>();
  rows->assign(index.begin(), index.end());
}

int64_t RowsOf(const Shape& shape) { return shape.rank() == 0 ? 1 : shape.dim(0); }

}  // namespace

Status ConvertScalars(KernelContext& ctx, std::span<const int> inputs, std::span<const char* const> names, DType dtype,
                      void (*convert)(const Tensor& value, void* to), void* scalars, size_t size) {
  for (size_t i = 0; i < names.size(); ++i) {
    Tensor value;
    const DType declared = ctx.node().declared_input_type(inputs[i]);
    if (declared == DType::kResource || IsRef(declared)) {
      TF_ASSIGN_OR_RETURN(const auto variable, VariableWithValue(ctx, inputs[i], dtype));
      TF_ASSIGN_OR_RETURN(value, variable->Read());
    } else {
      value = ctx.input(inputs[i]);
    }
    if (!value.shape().is_scalar()) {
      return InvalidArgument(names[i], " is not a scalar: its shape is ", value.shape());
    }
    convert(value, static_cast<char*>(scalars) + i * size);
  }
  return OkStatus();
}

UpdateKernel::UpdateKernel(const Node& node, std::span<const char* const> variables,
                           std::span<const char* const> scalars)
    : gradient_(std::max(InputNamed(node, "grad"), InputNamed(node, "delta"))), indices_(InputNamed(node, "indices")) {
  for (const char* name : variables) variables_.push_back(InputNamed(node, name));
  for (const char* name : scalars) scalars_.push_back(InputNamed(node, name));
}

struct UpdateKernel::Locking {
  const Tensor& grad;
  std::vector<RefPtr<VariableResource>> variables;
  std::vector<size_t> order;  // the order in which the variables are locked
  std::vector<int64_t>* rows;
  int64_t num_rows = -1;  // of the variables that are locked
  std::vector<Place> places;
  std::vector<RowLocks*> locks;  // in the order in which the variables are locked
  Update update;
};

Status UpdateKernel::StepAll(KernelContext& ctx, Steps steps) const {
  const Tensor& grad = ctx.input(gradient());
  std::vector<int64_t> rows;
  return UpdateLocked(ctx, &rows, [&](const Place* places, std::span<RowLocks* const> locks) {
    if (!is_sparse()) {
      const double bytes = static_cast<double>(variables_.size() * DTypeSize(grad.dtype()));
      if (one_per_row_) {
        const int64_t elements = grad.num_elements(), count = RowsOf(grad.shape());
        if (elements == 0) return;
        const int64_t size = elements / count;
        return ctx.pool().ParallelFor(count, 0.3 * bytes * static_cast<double>(size), [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) steps(places, row * size, row * size, size);
        });
      }
      ctx.pool().ParallelFor(grad.num_elements(), 0.3 * bytes,
                             [&](int64_t begin, int64_t end) { steps(places, begin, begin, end - begin); });
      return;
    }
    if (rows.empty() || grad.num_elements() == 0) return;
    const int64_t size = grad.num_elements() / static_cast<int64_t>(rows.size());
    const int64_t row_bytes = size * static_cast<int64_t>(DTypeSize(grad.dtype()));
    const double cost_ns = static_cast<double>(variables_.size()) * cpu::RowUpdateNs(row_bytes);
    cpu::UpdateByStripe(ctx.pool(), rows, locks, cost_ns, [&](std::span<const int64_t> numbers) {
      for (size_t k = 0; k < numbers.size(); ++k) {
        if (const size_t later = k + cpu::kPrefetchedRows; later < numbers.size()) {
          for (size_t v = 0; v < (one_per_row_ ? 1 : variables_.size()); ++v) {
            cpu::PrefetchRow</*kWrite=*/true>(
                static_cast<const char*>(places[v].to) + rows[static_cast<size_t>(numbers[later])] * row_bytes,
                row_bytes);
          }
        }
        steps(places, numbers[k] * size, rows[static_cast<size_t>(numbers[k])] * size, size);
      }
    });
  });
}

Status UpdateKernel::UpdateLocked(KernelContext& ctx, std::vector<int64_t>* rows, Update update) const {
  Locking l{.grad = ctx.input(gradient_),
            .variables = {},
            .order = {},
            .rows = rows,
            .num_rows = -1,
            .places = std::vector<Place>(variables_.size()),
            .locks = {},
            .update = update};
  for (int i : variables_) {
    TF_ASSIGN_OR_RETURN(auto variable, VariableOf(ctx, i));
    if (!IsRef(ctx.node().declared_input_type(i)) && !variable->is_initialized()) {
      return WithTensorFlowCode(variable->NotInitialized(), absl::StatusCode::kInternal);
    }
    if (variable->dtype() != l.grad.dtype()) {
      return InvalidArgument("variable '", variable->name(), "' holds ", variable->dtype(), ", but the gradient is ",
                             l.grad.dtype());
    }
    l.order.push_back(l.order.size());
    l.variables.push_back(std::move(variable));
  }
  if (is_sparse()) {
    const Tensor& indices = ctx.input(indices_);
    if (indices.shape().rank() != 1) {
      return InvalidArgument("indices must be a vector, got shape ", indices.shape());
    }
    if (l.grad.shape().rank() < 1 || l.grad.shape().dim(0) != indices.num_elements()) {
      return InvalidArgument("the gradient must have one row for each of ", indices.num_elements(),
                             " indices, got shape ", l.grad.shape());
    }
    if (indices.dtype() == kInt32) {
      Widen<int32_t>(indices, rows);
    } else {
      Widen<int64_t>(indices, rows);
    }
  }
  std::sort(l.order.begin(), l.order.end(),
            [&](size_t a, size_t b) { return l.variables[a].get() < l.variables[b].get(); });
  return Lock(l, 0);
}

// `v` is the number of the variable.
Status UpdateKernel::CheckShape(const Locking& l, size_t v, const Shape& shape) const {
  const VariableResource& variable = *l.variables[v];
  const Shape& grad = l.grad.shape();
  if (one_per_row_ && v > 0) {
    if (shape.rank() == 2 && shape.dim(1) == 1 && (is_sparse() || shape.dim(0) == RowsOf(grad))) return OkStatus();
    return InvalidArgument("variable '", variable.name(), "' must have one element for each row, [rows,1], but has ",
                           "shape ", shape, ", and the gradient has shape ", grad);
  }
  if (!is_sparse()) {
    if (shape == grad) return OkStatus();
    return InvalidArgument("variable '", variable.name(), "' has shape ", shape, ", but the gradient has shape ", grad);
  }
  if (shape.rank() < 1) return InvalidArgument("variable '", variable.name(), "' is a scalar and has no rows");
  if (!std::ranges::equal(shape.dims().subspan(1), grad.dims().subspan(1))) {
    return InvalidArgument("the rows of variable '", variable.name(), "' of shape ", shape,
                           " and the rows of a gradient of shape ", grad, " have different shapes");
  }
  for (size_t i = 0; i < l.rows->size(); ++i) {
    const int64_t row = (*l.rows)[i];
    if (row < 0 || row >= shape.dim(0)) {
      return InvalidArgument("Index ", row, " at offset ", i, " in indices is out of range for variable '",
                             variable.name(), "' of shape ", shape);
    }
  }
  return OkStatus();
}

// Locks variable order[depth] and the following ones, then updates while it holds all locks.
Status UpdateKernel::Lock(Locking& l, size_t depth) const {
  if (depth == l.order.size()) {
    l.update(l.places.data(), l.locks);
    return OkStatus();
  }
  const size_t v = l.order[depth];
  VariableResource& variable = *l.variables[v];
  if (depth > 0 && &variable == l.variables[l.order[depth - 1]].get()) {
    return InvalidArgument("variable '", variable.name(), "' is given twice");
  }
  if (is_sparse()) {
    return variable.UpdateRows([&](Tensor* value, RowLocks& locks) -> Status {
      TF_RETURN_IF_ERROR(CheckShape(l, v, value->shape()));
      if (l.num_rows >= 0 && l.num_rows != value->shape().dim(0)) {
        return InvalidArgument("variable '", variable.name(), "' has ", value->shape().dim(0), " rows, but variable '",
                               l.variables[l.order[0]]->name(), "' of the same update has ", l.num_rows);
      }
      l.num_rows = value->shape().dim(0);
      l.places[v] = {value->raw_data(), value->inplace_raw_data()};
      l.locks.push_back(&locks);
      return Lock(l, depth + 1);
    });
  }
  return variable.Update(
      [&](const Tensor& old, Tensor* out) -> Status {
        TF_RETURN_IF_ERROR(CheckShape(l, v, old.shape()));
        l.places[v] = {old.raw_data(), out->inplace_raw_data()};
        return Lock(l, depth + 1);
      },
      l.variables.size() == 1 ? &l.grad : nullptr);
}

}  // namespace tensorbraid
