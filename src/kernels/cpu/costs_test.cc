// Tests the cost functions of CPU kernels (costs.h).
#include "kernels/cpu/costs.h"

#include <gtest/gtest.h>

#include "core/text/logging.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "runtime/kernel/kernel.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/nn.h"

namespace tensorbraid {
namespace {

// The cost of the node according to its CPU kernel.
Cost CostOf(const Output& output) {
  const auto def = KernelRegistry::Global().Find(*NodeOf(output), "CPU");
  TB_CHECK_OK(def.status());
  TB_CHECK((*def)->cost != kNoCost);
  return (*def)->cost(CostContext(*NodeOf(output)));
}

Output Tensors(Graph& g, const Shape& shape, DType dtype = kFloat32) { return Placeholder(g, dtype, shape); }

TEST(Costs, ElementwiseKernelsReadAndWriteEveryElement) {
  Graph g;
  const Cost cost = CostOf(Tensors(g, {10, 20}) + Tensors(g, {20}));
  EXPECT_EQ(cost.bytes, 4 * (200 + 20 + 200));
  EXPECT_GE(cost.flops, 200);
  // Lgamma takes long per element. Its cost includes that time.
  EXPECT_GT(EstimatedNs(CostOf(NodeBuilder(g, "Lgamma").Input(Tensors(g, {1000})).Output())), 10'000);
}

TEST(Costs, ProductsCountMultiplicationsAndAdditions) {
  Graph g;
  const Output a = Tensors(g, {3, 5}), b = Tensors(g, {5, 7});
  EXPECT_EQ(CostOf(MatMul(a, b)).flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(CostOf(MatMul(b, a, {.transpose_a = true, .transpose_b = true})).flops, 2 * 3 * 5 * 7);
  const auto batch = [&](const Output& x, const Output& y) {
    return NodeBuilder(g, "BatchMatMulV2").Input(x).Input(y).Attr("adj_y", true).Output();
  };
  EXPECT_EQ(CostOf(batch(Tensors(g, {4, 3, 5}), Tensors(g, {1, 7, 5}))).flops, 4 * 2 * 3 * 5 * 7);
}

TEST(Costs, ConvolutionsUseEachFilterElementAtEachPosition) {
  Graph g;
  const Output x = Tensors(g, {8, 14, 14, 32}), filter = Tensors(g, {5, 5, 32, 64});
  const double flops = 2.0 * 8 * 7 * 7 * (5 * 5 * 32 * 64);
  const Output y = nn::Conv2D(x, filter, {.strides = {2}});
  EXPECT_EQ(CostOf(y).flops, flops);
  const auto grads = Gradients({y}, {x, filter});
  TB_CHECK_OK(grads.status());
  EXPECT_EQ(CostOf(grads->at(0)).flops, flops);
  EXPECT_EQ(CostOf(grads->at(1)).flops, flops);
  const Output depthwise = nn::DepthwiseConv2D(x, Tensors(g, {3, 3, 32, 2}));
  EXPECT_EQ(CostOf(depthwise).flops, 2.0 * 8 * 14 * 14 * (3 * 3 * 32 * 2));
}

TEST(Costs, EinsumCountsEveryCombinationOfItsLabels) {
  Graph g;
  const auto einsum = [&](const char* equation, const Shape& x, const Shape& y) {
    return CostOf(NodeBuilder(g, "Einsum")
                      .InputList({Tensors(g, x), Tensors(g, y)})
                      .Attr("equation", std::string(equation))
                      .Output())
        .flops;
  };
  EXPECT_EQ(einsum("ij,jk->ik", {3, 5}, {5, 7}), 2 * 3 * 5 * 7);
  EXPECT_EQ(einsum("i,j->ij", {3}, {5}), 2 * 3 * 5);
  EXPECT_EQ(einsum("...ij,jk->...ik", {4, 2, 3, 5}, {5, 7}), 8 * 2 * 3 * 5 * 7);
  EXPECT_EQ(einsum("bi...,b...->bi...", {4, 3, 5}, {4, 5}), 2 * 4 * 3 * 5);
}

TEST(Costs, DecompositionsAreCubic) {
  Graph g;
  const auto cholesky = [&](int64_t n) {
    return EstimatedNs(CostOf(NodeBuilder(g, "Cholesky").Input(Tensors(g, {2, n, n})).Output()));
  };
  EXPECT_NEAR(cholesky(400) / cholesky(200), 8, 0.5);
  EXPECT_GT(cholesky(64), 50'000);  // far more than it takes to read the 32 KB of input
}

TEST(Costs, GatheringFewRowsOfALargeTableIsCheap) {
  Graph g;
  const Output table = Tensors(g, {1'000'000, 64});
  const auto rows = [&](int64_t n) { return EstimatedNs(CostOf(Gather(table, Tensors(g, {n}, kInt32)))); };
  EXPECT_LT(rows(32), 10'000);
  EXPECT_GT(rows(100'000), 1'000'000);
}

TEST(Costs, UnknownAndWrongShapesGiveALowerBound) {
  Graph g;
  const Output unknown = Tensors(g, Shape::Unknown()), some = Tensors(g, {-1, 5}), b = Tensors(g, {5, 7});
  const Output product = MatMul(some, b);
  const CostContext context(*NodeOf(product));
  EXPECT_EQ(cpu::ProductCost(context).flops, 0);
  EXPECT_TRUE(context.lacks_input());
  // Kernels check shapes, but cost functions run before the kernels. So they must accept wrong shapes, as here scalars.
  const Output add = unknown + unknown;
  Entry scalar[2] = {{.value = Tensor::Scalar(1.0f), .ref = nullptr}, {.value = Tensor::Scalar(1.0f), .ref = nullptr}};
  const CostContext wrong(*NodeOf(add), scalar);
  for (const CostFn cost : {cpu::ProductCost, cpu::EinsumCost, cpu::SparseProductCost, cpu::LinalgCost, cpu::GatherCost,
                            cpu::FourierCost, cpu::UpdateCost, cpu::RowUpdateCost, cpu::ReductionCost}) {
    EXPECT_LT(EstimatedNs(cost(wrong)), 10'000);
  }
}

TEST(Costs, EveryCostFunctionAcceptsNodesOfUnknownShape) {
  // A node of each op that can be made from inputs of unknown shape without further attributes.
  for (const auto& [op, def] : KernelRegistry::Global().kernels()) {
    if (def.cost == kNoCost) continue;
    const OpDef* definition = OpRegistry::Global().Find(op);
    if (definition == nullptr) continue;
    Graph g;
    NodeSpec spec;
    spec.op = op;
    for (const auto& [attr, types] : def.types) spec.attrs.emplace(attr, types.ToVector().front());
    bool can_be_made = true;
    for (const ArgDef& arg : definition->inputs) {
      DType type = arg.type;
      if (!arg.type_attr.empty()) {
        const auto it = spec.attrs.find(arg.type_attr);
        type = it == spec.attrs.end() ? kFloat32 : *it->second.get<DType>();
      }
      if (arg.is_ref || type == DType::kInvalid || !arg.number_attr.empty() || !arg.type_list_attr.empty()) {
        can_be_made = false;
        break;
      }
      spec.inputs.push_back(Tensors(g, Shape::Unknown(), type));
    }
    if (!can_be_made) continue;
    spec.defer_shape_errors = true;
    const auto node = ImplOf(g).AddNode(std::move(spec));
    if (!node.ok()) continue;
    const Cost cost = def.cost(CostContext(**node));
    EXPECT_GE(cost.bytes, 0) << op;
    EXPECT_GE(cost.flops, 0) << op;
  }
}

}  // namespace
}  // namespace tensorbraid
