// Matrix products: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// The size of the matrices in the last two dimensions of a tensor, after an optional transpose.
struct Matrix {
  int64_t rows, columns;
};
Matrix MatrixOf(const Shape& s, bool transpose) {
  const int64_t rows = s.dim(s.rank() - 2), columns = s.dim(s.rank() - 1);
  return transpose ? Matrix{columns, rows} : Matrix{rows, columns};
}

Status InnerSizesFit(const Shape& a, const Shape& b, const Matrix& ma, const Matrix& mb) {
  if (ma.columns < 0 || mb.rows < 0 || ma.columns == mb.rows) return OkStatus();
  return InvalidArgument("cannot multiply matrices of shapes ", a, " and ", b, ": the inner sizes are ", ma.columns,
                         " and ", mb.rows);
}

Status MatMulShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape a, c.WithRank(0, 2));
  TF_ASSIGN_OR_RETURN(const Shape b, c.WithRank(1, 2));
  const Matrix ma = MatrixOf(a, c.attr<bool>("transpose_a"));
  const Matrix mb = MatrixOf(b, c.attr<bool>("transpose_b"));
  TF_RETURN_IF_ERROR(InnerSizesFit(a, b, ma, mb));
  c.set_output(0, {ma.rows, mb.columns});
  return OkStatus();
}

Status SumOfMatMulsShape(ShapeContext& c) {
  const int n = c.num_inputs() / 2;
  Shape sum = Shape::UnknownOfRank(2);
  for (int i = 0; i < n; ++i) {
    TF_ASSIGN_OR_RETURN(const Shape a, c.WithRank(i, 2));
    TF_ASSIGN_OR_RETURN(const Shape b, c.WithRank(n + i, 2));
    const Matrix ma = MatrixOf(a, c.attr<bool>("transpose_a"));
    const Matrix mb = MatrixOf(b, c.attr<bool>("transpose_b"));
    TF_RETURN_IF_ERROR(InnerSizesFit(a, b, ma, mb));
    TF_ASSIGN_OR_RETURN(sum, sum.MergeWith({ma.rows, mb.columns}));
  }
  c.set_output(0, std::move(sum));
  return OkStatus();
}

Status MatMulGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output a = Conjugated(NodeOf(op)->inputs()[0]);
  const Output b = Conjugated(NodeOf(op)->inputs()[1]);
  const Output g = grads[0];
  const bool ta = NodeOf(op)->attr<bool>("transpose_a");
  const bool tb = NodeOf(op)->attr<bool>("transpose_b");
  (*input_grads)[0] = ta ? MatMul(b, g, {.transpose_a = tb, .transpose_b = true}) : MatMul(g, b, {.transpose_b = !tb});
  (*input_grads)[1] = tb ? MatMul(g, a, {.transpose_a = true, .transpose_b = ta}) : MatMul(a, g, {.transpose_a = !ta});
  return OkStatus();
}

Shape BatchOf(const Shape& s) { return Shape(s.dims().first(s.rank() - 2)); }

Status BatchMatMulShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape x, c.WithRankAtLeast(0, 2));
  TF_ASSIGN_OR_RETURN(const Shape y, c.WithRankAtLeast(1, 2));
  if (!x.has_rank() || !y.has_rank()) return OkStatus();
  const Matrix mx = MatrixOf(x, c.attr<bool>("adj_x"));
  const Matrix my = MatrixOf(y, c.attr<bool>("adj_y"));
  TF_RETURN_IF_ERROR(InnerSizesFit(x, y, mx, my));
  Shape out;
  if (c.node().type() == "BatchMatMul") {
    TF_ASSIGN_OR_RETURN(out, BatchOf(x).MergeWith(BatchOf(y)));
  } else {
    TF_ASSIGN_OR_RETURN(out, BroadcastShapes(BatchOf(x), BatchOf(y)));
  }
  out.AddDim(mx.rows);
  out.AddDim(my.columns);
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status BatchMatMulGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output x = NodeOf(op)->inputs()[0];
  const Output y = NodeOf(op)->inputs()[1];
  const Output g = grads[0];
  const bool ax = NodeOf(op)->attr<bool>("adj_x");
  const bool ay = NodeOf(op)->attr<bool>("adj_y");
  const Output gx = ax ? BatchMatMul(y, g, {.adj_x = ay, .adj_y = true}) : BatchMatMul(g, y, {.adj_y = !ay});
  const Output gy = ay ? BatchMatMul(g, x, {.adj_x = true, .adj_y = ax}) : BatchMatMul(x, g, {.adj_x = !ax});
  (*input_grads)[0] = SumToBatch(gx, x, y);
  (*input_grads)[1] = SumToBatch(gy, y, x);
  return OkStatus();
}

// Computes the gradients in float32, and then casts them to the dtypes of the operands.
Status SparseMatMulOperandsGradient(const Operation& op, const std::vector<Output>& grads,
                                    std::vector<Output>* input_grads) {
  const Output a = NodeOf(op)->inputs()[0], b = NodeOf(op)->inputs()[1];
  const Output fa = Cast(a, kFloat32), fb = Cast(b, kFloat32), g = grads[0];
  const bool ta = NodeOf(op)->attr<bool>("transpose_a");
  const bool tb = NodeOf(op)->attr<bool>("transpose_b");
  const Output ga = ta ? MatMul(fb, g, {.transpose_a = tb, .transpose_b = true}) : MatMul(g, fb, {.transpose_b = !tb});
  const Output gb = tb ? MatMul(g, fa, {.transpose_a = true, .transpose_b = ta}) : MatMul(fa, g, {.transpose_a = !ta});
  *input_grads = {Cast(ga, a.dtype()), Cast(gb, b.dtype())};
  return OkStatus();
}

}  // namespace

void RegisterMathMatmulOps(OpRegistry& r) {
  r.Add(Op("MatMul")
            .Input("a: T")
            .Input("b: T")
            .Output("product: T")
            .Attr("transpose_a: bool = false")
            .Attr("transpose_b: bool = false")
            .Attr("T: {bfloat16, half, float, double, int32, int64, uint8, uint16, uint32, uint64, complex64, "
                  "complex128}")
            .Attr("grad_a: bool = false")
            .Attr("grad_b: bool = false")
            .Shape(MatMulShape)
            .Gradient(MatMulGradient));
  // executor/passes/fuse_biases.cc replaces MatMul, BiasAdd and perhaps Relu by this op. `fused_ops` names the ops
  // that are applied to the product, and `args` are their other inputs, such as the bias.
  r.Add(Op("_FusedMatMul")
            .Input("a: T")
            .Input("b: T")
            .Input("args: num_args * T")
            .Output("product: T")
            .Attr("transpose_a: bool = false")
            .Attr("transpose_b: bool = false")
            .Attr("T: {bfloat16, half, float}")
            .Attr("num_args: int >= 0")
            .Attr("fused_ops: list(string) = []")
            .Attr("epsilon: float = 0.0001")
            .Attr("leakyrelu_alpha: float = 0.2")
            .Shape(MatMulShape));
  // executor/passes/sum_products.cc replaces an AddN of matrix products by this op: sum = a[0] b[0] + a[1] b[1] + ...
  r.Add(Op("_SumOfMatMuls")
            .Input("a: N * T")
            .Input("b: N * T")
            .Output("sum: T")
            .Attr("N: int >= 1")
            .Attr("T: {float}")
            .Attr("transpose_a: bool = false")
            .Attr("transpose_b: bool = false")
            .Shape(SumOfMatMulsShape));
  r.Add(Op("BatchMatMul")
            .Input("x: T")
            .Input("y: T")
            .Output("output: T")
            .Attr("T: {bfloat16, half, float, double, int32, int64, complex64, complex128}")
            .Attr("adj_x: bool = false")
            .Attr("adj_y: bool = false")
            .Attr("grad_x: bool = false")
            .Attr("grad_y: bool = false")
            .Shape(BatchMatMulShape)
            .Gradient(BatchMatMulGradient));
  r.Add(Op("BatchMatMulV2")
            .Input("x: T")
            .Input("y: T")
            .Output("output: T")
            .Attr("T: {bfloat16, half, float, double, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, "
                  "complex128}")
            .Attr("adj_x: bool = false")
            .Attr("adj_y: bool = false")
            .Attr("grad_x: bool = false")
            .Attr("grad_y: bool = false")
            .Shape(BatchMatMulShape)
            .Gradient(BatchMatMulGradient));
  r.Add(Op("BatchMatMulV3")
            .Input("x: Ta")
            .Input("y: Tb")
            .Output("output: Tout")
            .Attr("Ta: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128}")
            .Attr("Tb: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128}")
            .Attr("Tout: {bfloat16, half, float, double, int16, int32, int64, complex64, complex128}")
            .Attr("adj_x: bool = false")
            .Attr("adj_y: bool = false")
            .Attr("grad_x: bool = false")
            .Attr("grad_y: bool = false")
            .Shape(BatchMatMulShape)
            .Gradient(BatchMatMulGradient));
  r.Add(Op("SparseMatMul")
            .Input("a: Ta")
            .Input("b: Tb")
            .Output("product: float")
            .Attr("transpose_a: bool = false")
            .Attr("transpose_b: bool = false")
            .Attr("a_is_sparse: bool = false")
            .Attr("b_is_sparse: bool = false")
            .Attr("Ta: {float, bfloat16} = DT_FLOAT")
            .Attr("Tb: {float, bfloat16} = DT_FLOAT")
            .Shape(MatMulShape)
            .Gradient(SparseMatMulOperandsGradient));
}

}  // namespace tensorbraid
