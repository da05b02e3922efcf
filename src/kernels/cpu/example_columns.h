// Training examples gathered into tensors: one column per key, one row per example.
#ifndef TENSORBRAID_KERNELS_CPU_EXAMPLE_COLUMNS_H_
#define TENSORBRAID_KERNELS_CPU_EXAMPLE_COLUMNS_H_

#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/tensor.h"

namespace tensorbraid {
namespace proto {
class Feature;
}  // namespace proto

namespace cpu {

// What the examples of a batch, or the steps of a sequence, say of one key. Null: nothing. Features without a kind are
// as good as absent.
using FeatureRows = std::vector<const proto::Feature*>;

struct Column {
  std::string_view key;
  DType dtype = DType::kInvalid;  // float32, int64 or string
  const Tensor* names = nullptr;  // of the examples, for messages
};

// All functions: InvalidArgument, naming key and row, when a feature has another type than the column.
//
// `batched`: the rows are a batch. Otherwise there is one row, and results lack the dimension of the batch.

struct SparseColumn {
  Tensor indices;
  Tensor values;
  Tensor shape;
};
StatusOr<SparseColumn> GatherSparse(const Column& column, const FeatureRows& rows, bool batched);

// The first size of `shape` may be unknown: rows are then padded with `default_value`, one element, to the longest.
// Otherwise absent rows take `default_value`, of that shape; InvalidArgument when it is empty, or when a row has
// another number of values.
StatusOr<Tensor> GatherDense(const Column& column, const FeatureRows& rows, const Shape& shape,
                             const Tensor& default_value, bool batched);
// InvalidArgument when the default value is not what GatherDense needs.
Status CheckDefault(const Column& column, const Shape& shape, const Tensor& default_value);

struct RaggedColumn {
  Tensor values;
  Tensor splits;        // of the batch; when not batched, empty, or of sequences a scalar
  Tensor inner_splits;  // of sequences
};
StatusOr<RaggedColumn> GatherRagged(const Column& column, const FeatureRows& rows, DType split_type, bool batched);

// The steps of each sequence of a batch; `present` tells whether a sequence has the key at all.
struct Steps {
  FeatureRows rows;
  bool present = false;
};

StatusOr<SparseColumn> GatherSequenceSparse(const Column& column, const std::vector<Steps>& sequences, bool batched);

struct DenseSequences {
  Tensor values;  // padded with zeros to the longest sequence
  Tensor lengths;
};
// Every step must have the values of `shape`; absent sequences are empty, or InvalidArgument when `required`.
StatusOr<DenseSequences> GatherSequenceDense(const Column& column, const std::vector<Steps>& sequences,
                                             const Shape& shape, bool required, bool batched);
StatusOr<RaggedColumn> GatherSequenceRagged(const Column& column, const std::vector<Steps>& sequences, DType split_type,
                                            bool batched);

}  // namespace cpu
}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_EXAMPLE_COLUMNS_H_
