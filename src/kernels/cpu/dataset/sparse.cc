// Datasets whose elements are sparse tensors.
#include "kernels/cpu/sparse/sparse.h"

#include <algorithm>

#include "core/text/strings.h"
#include "core/values/tensor_value.h"
#include "kernels/cpu/dataset/util.h"
#include "kernels/cpu/elements.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The rows of a sparse tensor, as sparse tensors of a rank that is lower by one.
Status SparseTensorSliceDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const cpu::SparseView in, cpu::SparseView::OfInputs(ctx, 0));
  if (in.rank() < 1) return InvalidArgument("the sparse tensor must have rank 1 or more, got ", in.rank());
  for (int64_t i = 1; i < in.size(); ++i) {
    if (in.index(i)[0] < in.index(i - 1)[0]) {
      return Unimplemented(
          "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered "
          "input is not currently supported");
    }
  }
  const int64_t rows = in.shape()[0];
  const int rank = in.rank() - 1;
  const Element parts = {ctx.input(0), ctx.input(1), ctx.input(2)};
  struct State {
    int64_t row = 0;
    int64_t element = 0;  // the number of the first element of the row
    void Fields(IteratorState& state) { state(row, element); }
  };
  const auto pull = [parts, rows, rank](State& s, const IteratorContext&, Element* out) -> StatusOr<bool> {
    if (s.row >= rows) return false;
    const int64_t size = parts[1].num_elements();
    const auto indices = parts[0].data<int64_t>();
    const auto index = [&](int64_t i) { return indices.data() + i * (rank + 1); };
    s.element = std::clamp<int64_t>(s.element, 0, size);
    int64_t end = s.element;
    while (end < size && index(end)[0] == s.row) ++end;
    const int64_t n = end - s.element;
    TF_ASSIGN_OR_RETURN(Tensor row_indices, Tensor::Create(kInt64, {n, rank}));
    TF_ASSIGN_OR_RETURN(Tensor values, Tensor::Create(parts[1].dtype(), {n}));
    for (int64_t i = 0; i < n; ++i) {
      std::copy_n(index(s.element + i) + 1, rank, row_indices.inplace_data<int64_t>().begin() + i * rank);
    }
    TF_RETURN_IF_ERROR(ForElementsOf(values.dtype(), [&]<typename E>() {
      std::copy_n(Elements<E>(parts[1]) + s.element, n, MutableElements<E>(values));
      return OkStatus();
    }));
    const auto shape = parts[2].data<int64_t>();
    *out = {std::move(row_indices), std::move(values),
            Tensor::Vector(std::vector<int64_t>(shape.begin() + 1, shape.end()))};
    ++s.row;
    s.element = end;
    return true;
  };
  // EmitDataset does not fit here, because the op has no attributes for types and shapes.
  TF_ASSIGN_OR_RETURN(
      auto dataset,
      Dataset::Create(
          ctx.node().type(), {kInt64, parts[1].dtype(), kInt64}, {Shape({-1, rank}), Shape({-1}), Shape({rank})}, {},
          [pull](const IteratorContext&) -> StatusOr<Iterator> { return MakeStateful(State(), pull); }, rows));
  ctx.set_output(0, MakeVariantTensor(std::move(dataset)));
  return OkStatus();
}

// A batch of dense tensors as a sparse tensor of shape [batch, row_shape], in a vector of three variants.
StatusOr<Element> SparseBatch(const std::vector<Element>& batch, const std::vector<int64_t>& row_shape) {
  const size_t rank = row_shape.size();
  std::vector<int64_t> shape = {static_cast<int64_t>(batch.size())};
  shape.insert(shape.end(), row_shape.begin(), row_shape.end());
  int64_t total = 0;
  for (const Element& e : batch) {
    const Shape& s = e[0].shape();
    if (static_cast<size_t>(s.rank()) != rank) {
      return InvalidArgument("Input element had shape (", s, ") that is incompatible with the row shape (",
                             Shape(row_shape), ").");
    }
    for (size_t d = 0; d < rank; ++d) {
      const int64_t size = s.dim(static_cast<int>(d));
      if (row_shape[d] >= 0 && size > row_shape[d]) {
        return DataLoss("Input element had shape (", s, ") that is larger than the row shape (", Shape(row_shape),
                        ").");
      }
      if (row_shape[d] < 0) shape[d + 1] = std::max(shape[d + 1], size);
    }
    total += e[0].num_elements();
  }
  for (int64_t& d : shape) d = std::max<int64_t>(d, 0);
  TF_ASSIGN_OR_RETURN(Tensor indices, Tensor::Create(kInt64, {total, static_cast<int64_t>(rank) + 1}));
  TF_ASSIGN_OR_RETURN(Tensor values, Tensor::Create(batch[0][0].dtype(), {total}));
  TF_RETURN_IF_ERROR(ForElementsOf(values.dtype(), [&]<typename E>() {
    E* to = MutableElements<E>(values);
    int64_t* index = indices.inplace_data<int64_t>().data();
    for (size_t b = 0; b < batch.size(); ++b) {
      const Tensor& t = batch[b][0];
      const E* from = Elements<E>(t);
      for (int64_t i = 0; i < t.num_elements(); ++i) {
        index[0] = static_cast<int64_t>(b);
        int64_t rest = i;
        for (size_t d = rank; d > 0; --d) {
          const int64_t size = t.shape().dim(static_cast<int>(d) - 1);
          index[d] = rest % size;
          rest /= size;
        }
        index += rank + 1;
        *to++ = from[i];
      }
    }
    return OkStatus();
  }));
  Tensor parts(DType::kVariant, {3});
  const auto to = parts.inplace_data<Variant>();
  to[0].value = MakeRef<TensorValue>(std::move(indices));
  to[1].value = MakeRef<TensorValue>(std::move(values));
  to[2].value = MakeRef<TensorValue>(Tensor::Vector(shape));
  return Element{std::move(parts)};
}

// Inputs: input_dataset, batch_size, row_shape.
Status DenseToSparseBatchDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const int64_t size, NumberInput(ctx, 1, "batch_size"));
  if (size <= 0) return InvalidArgument("Batch size must be greater than zero, got ", size);
  if (input->types().size() != 1) {
    return InvalidArgument("DenseToSparseBatchDataset only supports inputs with a single component, got ",
                           input->types().size());
  }
  TF_ASSIGN_OR_RETURN(const IntVector sizes, IntegersOf(ctx.input(2), "row_shape"));
  const std::vector<int64_t> row_shape(sizes.begin(), sizes.end());
  for (int64_t d : row_shape) {
    if (d < -1) return InvalidArgument("Dimension must be >= -1 in row_shape, got ", d);
  }
  struct State {
    Iterator pull;
    bool ended = false;
    void Fields(IteratorState& state) { state(pull, ended); }
  };
  return EmitDataset(ctx, {input}, [=](const IteratorContext& c) -> StatusOr<Iterator> {
    State state;
    TF_ASSIGN_OR_RETURN(state.pull, input->MakeIterator(c));
    return MakeStateful(std::move(state), [=](State& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
      std::vector<Element> batch;
      while (!s.ended && static_cast<int64_t>(batch.size()) < size) {
        Element e;
        TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, &e));
        s.ended = !more;
        if (more) batch.push_back(std::move(e));
      }
      if (batch.empty()) return false;
      TF_ASSIGN_OR_RETURN(*out, SparseBatch(batch, row_shape));
      return true;
    });
  });
}

}  // namespace

void RegisterDatasetSparseKernels(KernelRegistry& r) {
  r.Add("SparseTensorSliceDataset", {}, SparseTensorSliceDataset);
  r.Add("DenseToSparseBatchDataset", {}, DenseToSparseBatchDataset);
}

}  // namespace tensorbraid::cpu
