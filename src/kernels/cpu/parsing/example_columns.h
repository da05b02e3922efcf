// Gathers training examples into tensors: one column per key, one row per example.
#ifndef TENSORBRAID_KERNELS_CPU_PARSING_EXAMPLE_COLUMNS_H_
#define TENSORBRAID_KERNELS_CPU_PARSING_EXAMPLE_COLUMNS_H_

#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/core/tensor.h"

namespace tensorbraid {
namespace proto {
class Feature;
}  // namespace proto

namespace cpu {

// The features of one key, one per example of a batch or per step of a sequence. A feature is null if its example or
// step lacks the key; one that contains no list of values is treated as absent, too.
using FeatureRows = std::vector<const proto::Feature*>;

struct Column {
  std::string_view key;
  DType dtype = DType::kInvalid;  // float32, int64 or string
  const Tensor* names = nullptr;  // names of the examples, for messages
};

// All functions return InvalidArgument, with the key and the row, if the type of a feature differs from the column's.
//
// If `batched`, the rows are a batch. Otherwise there is one row, and results have no batch dimension.

struct SparseColumn {
  Tensor indices;
  Tensor values;
  Tensor shape;
};
StatusOr<SparseColumn> GatherSparse(const Column& column, const FeatureRows& rows, bool batched);

// If the first size of `shape` is unknown, rows are padded to the longest row with `default_value`, which has one
// element. Otherwise absent rows get `default_value`, which has the shape `shape`. Returns InvalidArgument if a row is
// absent and the default is empty, or if a row has a different number of values than `shape`.
StatusOr<Tensor> GatherDense(const Column& column, const FeatureRows& rows, const Shape& shape,
                             const Tensor& default_value, bool batched);
// Returns InvalidArgument if the dtype or shape of the default value is not what GatherDense requires.
Status CheckDefault(const Column& column, const Shape& shape, const Tensor& default_value);

struct RaggedColumn {
  Tensor values;
  Tensor splits;        // row splits of the batch; if not batched, an empty vector, or a scalar for sequences
  Tensor inner_splits;  // only for sequences: row splits of the steps
};
StatusOr<RaggedColumn> GatherRagged(const Column& column, const FeatureRows& rows, DType split_type, bool batched);

// The steps of one sequence of a batch. `present` is false if the sequence does not have the key.
struct Steps {
  FeatureRows rows;
  bool present = false;
};

StatusOr<SparseColumn> GatherSequenceSparse(const Column& column, const std::vector<Steps>& sequences, bool batched);

struct DenseSequences {
  Tensor values;  // padded with zeros to the longest sequence
  Tensor lengths;
};
// Every step must have as many values as `shape`. A sequence that lacks the key is treated as empty or, if `required`,
// is an InvalidArgument error.
StatusOr<DenseSequences> GatherSequenceDense(const Column& column, const std::vector<Steps>& sequences,
                                             const Shape& shape, bool required, bool batched);
StatusOr<RaggedColumn> GatherSequenceRagged(const Column& column, const std::vector<Steps>& sequences, DType split_type,
                                            bool batched);

}  // namespace cpu
}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_PARSING_EXAMPLE_COLUMNS_H_
