// What the ops that fill empty rows of sparse and of ragged tensors share.
#ifndef TENSORBRAID_OPS_SPARSE_FILL_EMPTY_ROWS_H_
#define TENSORBRAID_OPS_SPARSE_FILL_EMPTY_ROWS_H_

#include <utility>
#include <vector>

#include "graph/model/node.h"
#include "ops/builder.h"

namespace tensorbraid {

// A value of the input gets the gradient of the output value that it became. The default value gets the sum of the
// gradients of all other output values.
inline Status FillEmptyRowsGradient(const Operation& op, const std::vector<Output>& grads,
                                    std::vector<Output>* input_grads) {
  if (!grads[1].valid()) return OkStatus();
  const Operation to = NodeBuilder(*op.graph(), op.type() + "Grad").Input(op.output(3)).Input(grads[1]).Finish();
  (*input_grads)[1] = to.output(0);
  (*input_grads)[3] = to.output(1);
  return OkStatus();
}

inline Status FillEmptyRowsGradShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape map, c.WithRank(0, 1));
  c.set_output(0, std::move(map));
  c.set_output(1, {});
  return OkStatus();
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_SPARSE_FILL_EMPTY_ROWS_H_
