// Distributes rows to partitions by index (DynamicPartition), and merges rows by index (DynamicStitch).
#include "core/text/strings.h"
#include "kernels/cpu/array/position.h"
#include "kernels/cpu/elements.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

bool StartsWith(const Shape& shape, const Shape& prefix) {
  return prefix.rank() <= shape.rank() && Shape(shape.dims().subspan(0, prefix.rank())) == prefix;
}

Shape RowShape(const Shape& shape, int prefix) { return Shape(shape.dims().subspan(prefix)); }

Shape WithRows(int64_t rows, const Shape& row) {
  Shape shape({rows});
  for (int64_t d : row.dims()) shape.AddDim(d);
  return shape;
}

Status DynamicPartition(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const Tensor& partitions = ctx.input(1);
  if (!StartsWith(data.shape(), partitions.shape())) {
    return InvalidArgument("the shape of data must start with that of partitions, got ", data.shape(), " and ",
                           partitions.shape());
  }
  const auto part = partitions.data<int32_t>();
  std::vector<int64_t> rows(ctx.num_outputs(), 0);
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i] < 0 || part[i] >= ctx.num_outputs()) {
      return InvalidArgument("partitions", Position(partitions.shape(), static_cast<int64_t>(i)), " = ", part[i],
                             " is not in [0, ", ctx.num_outputs(), ")");
    }
    ++rows[part[i]];
  }
  const Shape row = RowShape(data.shape(), partitions.shape().rank());
  const int64_t size = row.num_elements();
  std::vector<Tensor*> outputs;
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(i, WithRows(rows[i], row)));
    outputs.push_back(out);
  }
  return ForElementsOf(data.dtype(), [&]<typename E>() {
    std::vector<E*> to;
    for (Tensor* out : outputs) to.push_back(MutableElements<E>(*out));
    const E* from = Elements<E>(data);
    for (const int32_t p : part) {
      CopyElements(from, size, to[p]);
      from += size;
      to[p] += size;
    }
    return OkStatus();
  });
}

// Inputs: n tensors of indices, then n tensors of rows. If an index occurs more than once, its last row is kept.
Status DynamicStitch(KernelContext& ctx) {
  const int n = ctx.num_inputs() / 2;
  const Shape row = RowShape(ctx.input(n).shape(), std::min(ctx.input(0).shape().rank(), ctx.input(n).shape().rank()));
  int64_t rows = 0;
  for (int i = 0; i < n; ++i) {
    const Tensor& indices = ctx.input(i);
    const Tensor& data = ctx.input(n + i);
    if (!StartsWith(data.shape(), indices.shape())) {
      return InvalidArgument("the shape of data[", i, "] must start with that of indices[", i, "], got ", data.shape(),
                             " and ", indices.shape());
    }
    if (RowShape(data.shape(), indices.shape().rank()) != row) {
      return InvalidArgument("the row shape must be the same in all data: data[0] has shape ", ctx.input(n).shape(),
                             " for indices of shape ", ctx.input(0).shape(), ", data[", i, "] has shape ", data.shape(),
                             " for indices of shape ", indices.shape());
    }
    for (const int32_t index : indices.data<int32_t>()) {
      if (index < 0) return InvalidArgument("indices[", i, "] has ", index, ", which is negative");
      rows = std::max<int64_t>(rows, int64_t{index} + 1);
    }
  }
  const Shape shape = WithRows(rows, row);
  if (shape.num_elements() < 0) return InvalidArgument("the result shape ", shape, " has too many elements");
  const int64_t size = row.num_elements();
  TF_ASSIGN_OR_RETURN(Tensor * merged, ctx.AllocateOutput(0, shape));
  if (merged->num_elements() == 0) return OkStatus();         // no element to copy; `rows` may be huge
  std::vector<bool> named(static_cast<size_t>(rows), false);  // whether row r has an index; other rows are set to zero
  const DType dtype = merged->dtype();
  return ForElementsOf(dtype, [&]<typename E>() {
    E* const to = MutableElements<E>(*merged);
    for (int i = 0; i < n; ++i) {
      const E* from = Elements<E>(ctx.input(n + i));
      for (const int32_t index : ctx.input(i).data<int32_t>()) {
        named[static_cast<size_t>(index)] = true;
        CopyElements(from, size, to + index * size);
        from += size;
      }
    }
    for (int64_t r = 0; r < rows; ++r) {
      if (!named[static_cast<size_t>(r)]) std::fill_n(to + r * size, size, ZeroElement<E>());
    }
    return OkStatus();
  });
}

}  // namespace

void RegisterDataFlowDynamicPartitionKernels(KernelRegistry& r) {
  r.Add("DynamicPartition", {}, DynamicPartition);
  r.Add("DynamicStitch", {}, DynamicStitch);
  r.Add("ParallelDynamicStitch", {}, DynamicStitch);
}

}  // namespace tensorbraid::cpu
