// Helpers that the shape rules of the parsing ops share.
#ifndef TENSORBRAID_OPS_PARSING_SHAPES_H_
#define TENSORBRAID_OPS_PARSING_SHAPES_H_

#include <source_location>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "graph/model/op_registry.h"
#include "tensorbraid/core/shape.h"

namespace tensorbraid {

// Sets the shapes of the outputs one after the other, in the order of the op's output arguments.
class OutputShapes {
 public:
  explicit OutputShapes(ShapeContext& c) : c_(c) {}
  void Add(size_t count, const Shape& shape) {
    for (size_t i = 0; i < count && next_ < c_.num_outputs(); ++i) c_.set_output(next_++, shape);
  }
  // Adds an output of shape [batch..., more..., dense...] for each dense shape. The shape is unknown if the rank of the
  // batch or of the dense shape is unknown.
  void AddDense(const Shape& batch, const std::vector<Shape>& shapes, std::initializer_list<int64_t> more = {}) {
    for (const Shape& dense : shapes) {
      if (!batch.has_rank() || !dense.has_rank()) {
        Add(1, Shape::Unknown());
        continue;
      }
      Shape shape = batch;
      for (int64_t d : more) shape.AddDim(d);
      for (int64_t d : dense.dims()) shape.AddDim(d);
      Add(1, shape);
    }
  }
  // Adds the indices, values and shapes of `count` sparse columns of this rank. A negative rank is unknown.
  void AddSparse(size_t count, int rank) {
    Add(count, Shape({-1, rank < 0 ? Shape::kUnknownDim : rank}));
    Add(count, Shape({-1}));
    Add(count, Shape({rank < 0 ? Shape::kUnknownDim : rank}));
  }

 private:
  ShapeContext& c_;
  int next_ = 0;
};

inline size_t LengthOfList(ShapeContext& c, std::string_view list_of_types) {
  return c.attr<std::vector<DType>>(list_of_types).size();
}

inline Status CheckAtMostVector(ShapeContext& c, int input) {
  if (c.input(input).has_rank() && c.input(input).rank() > 1) {
    return InvalidArgument("input ", input, " must be a scalar or a vector, got shape ", c.input(input));
  }
  return OkStatus();
}

// The rank of sparse columns: the rank of the batch plus `own`, the rank of the column in one message. -1 if the rank
// of the batch is unknown.
inline int RankOfSparseColumn(const Shape& batch, int own) { return batch.has_rank() ? batch.rank() + own : -1; }

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_PARSING_SHAPES_H_
