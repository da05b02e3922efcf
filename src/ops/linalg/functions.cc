// MatrixSquareRoot and MatrixLogarithm: schemas, shape rules, gradients.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/linalg/matrices.h"
#include "ops/linalg/products.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// The Kronecker products of the square matrices a and b, which have `order` rows. `batch` has the sizes of their batch
// dimensions.
Output Kronecker(Output a, Output b, Output batch, Output order) {
  const auto shape = [&](std::vector<Operand> last) { return Concat({batch, Stack(last)}, 0); };
  const Output product = Reshape(a, shape({order, 1, order, 1})) * Reshape(b, shape({1, order, 1, order}));
  return Reshape(product, shape({order * order, order * order}));
}

// With r the square root, the gradient d of the input solves the Sylvester equation r^T d + d r^T = g. It is solved as
// a linear system whose unknowns are the elements of d^T, row by row.
Status SquareRootGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output root = op.output(0);
  const Output shape = ShapeOf(root);
  const Output batch = StridedSlice(shape, {0}, {-2}, {1}, {.begin_mask = 1});
  const Output order = StridedSlice(shape, {-1}, {0}, {1}, {.end_mask = 1, .shrink_axis_mask = 1});
  const Output eye = DiagonalMatrix(OnesLike(DiagonalOf(root)));
  const Output sum = Kronecker(eye, MatrixTranspose(root), batch, order) + Kronecker(root, eye, batch, order);
  const Output right = Reshape(MatrixTranspose(grads[0]), Concat({batch, Stack({order * order, 1})}, 0));
  const Output solution = Node2("MatrixSolve", sum, right);
  (*input_grads)[0] = MatrixTranspose(Reshape(solution, shape));
  return OkStatus();
}

}  // namespace

void RegisterLinalgFunctionsOps(OpRegistry& r) {
  r.Add(Op("MatrixSquareRoot")
            .Input("input: T")
            .Output("output: T")
            .Attr(kLinalgTypes)
            .Shape(SquareMatricesShape)
            .Gradient(SquareRootGradient));
  r.Add(Op("MatrixLogarithm")
            .Input("input: T")
            .Output("output: T")
            .Attr("T: {complex64, complex128}")
            .Shape(SquareMatricesShape));
}

}  // namespace tensorbraid
