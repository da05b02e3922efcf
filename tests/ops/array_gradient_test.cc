// Tests gradients for which the op table (op_case.h) can have no rows: through TensorArrays, lists of tensors and
// variables, and along axes that are not constants.
#include <gtest/gtest.h>

#include "op_case.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

Output Node(const char* op, const std::vector<Output>& inputs, const std::map<std::string, AttrValue>& attrs = {},
            int output = 0) {
  NodeBuilder builder(*inputs[0].graph(), op);
  for (const Output& input : inputs) builder.Input(input);
  for (const auto& [name, value] : attrs) builder.Attr(name, value);
  const Operation node = builder.Finish();
  return node.valid() ? node.output(output) : Output();
}

class ArrayGradient : public testing::Test {
 protected:
  ArrayGradient() : x_(Const(g_, Tensor::Of<double>({3, 2}, {1, 2, 3, 4, 5, 6}))) {}

  Output Number(int32_t n) { return Const(g_, Tensor::Scalar(n)); }
  Output Numbers(const std::vector<int32_t>& n) { return Const(g_, Tensor::Vector(n)); }
  Output Row(int64_t i) { return StridedSlice(x_, {i}, {i + 1}, {1}, {.shrink_axis_mask = 1}); }

  // Expects that `want` is the gradient for x_ of 1 y[0] + 2 y[1] + 3 y[2] + ..., where y[i] is the i-th element of y.
  void ExpectGradient(const Output& y, const std::vector<double>& want) {
    ASSERT_TRUE(g_.status().ok()) << g_.status();
    const Output numbers = Reshape(Range(g_, 1, Size(y) + 1), ShapeOf(y));
    const auto gradients = Gradients({y}, {x_}, {Cast(numbers, kFloat64)});
    ASSERT_TRUE(gradients.ok()) << gradients.status();
    ASSERT_TRUE((*gradients)[0].valid()) << "no gradient flows";
    ExpectValue((*gradients)[0], want);
  }

  void ExpectValue(const Output& got, const std::vector<double>& want) {
    auto session = Session::Create(g_);
    ASSERT_TRUE(session.ok()) << session.status();
    const auto result = (*session)->Run({got});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(Difference((*result)[0], Tensor::Of<double>({3, 2}, want), 0), "");
  }

  // A TensorArray and its last flow.
  struct Array {
    Output handle;
    Output flow;
  };
  Array NewArray(int32_t size) {
    const Operation op = NodeBuilder(g_, "TensorArrayV3")
                             .Input(Number(size))
                             .Attr("dtype", kFloat64)
                             .Attr("clear_after_read", false)
                             .Finish();
    return {op.output(0), op.output(1)};
  }
  void Write(Array* array, int32_t i, const Output& value) {
    array->flow = Node("TensorArrayWriteV3", {array->handle, Number(i), value, array->flow});
  }
  Output Read(const Array& array, int32_t i) {
    return Node("TensorArrayReadV3", {array.handle, Number(i), array.flow}, {{"dtype", kFloat64}});
  }

  Output List(int32_t size) {
    return Node("TensorListReserve", {Numbers({2}), Number(size)}, {{"element_dtype", kFloat64}});
  }
  Output Item(const Output& list, int32_t i) {
    return Node("TensorListGetItem", {list, Number(i), Numbers({2})}, {{"element_dtype", kFloat64}});
  }

  Graph g_;
  Output x_;
};

TEST_F(ArrayGradient, OfElementsThatAreWrittenAndRead) {
  Array array = NewArray(3);
  for (int32_t i = 0; i < 3; ++i) Write(&array, 2 - i, Square(Row(i)));
  // Element 1 is read twice, element 2 never. So y is row 2 squared, times row 1 to the fourth power.
  ExpectGradient(Read(array, 0) * Read(array, 1) * Read(array, 1),
                 {0, 0, 4 * 27 * 25, 2 * 4 * 64 * 36, 2 * 5 * 81, 2 * 2 * 6 * 256});
}

TEST_F(ArrayGradient, OfEachCallUsesItsOwnTensorArray) {
  Array array = NewArray(1);
  Write(&array, 0, x_);
  const Output y = Read(array, 0);
  const auto once = Gradients({y * 1.0}, {x_}), twice = Gradients({y * 3.0}, {x_});
  ASSERT_TRUE(once.ok() && twice.ok()) << once.status() << twice.status();
  ExpectValue((*once)[0] + (*twice)[0] * 10.0, {31, 31, 31, 31, 31, 31});  // 1 + 3 * 10
}

TEST_F(ArrayGradient, OfRowsThatAreScatteredAndGathered) {
  Array array = NewArray(3);
  array.flow = Node("TensorArrayScatterV3", {array.handle, Numbers({2, 0, 1}), x_, array.flow});
  ExpectGradient(Node("TensorArrayGatherV3", {array.handle, Numbers({1, 2}), array.flow}, {{"dtype", kFloat64}}),
                 {3, 4, 0, 0, 1, 2});
}

TEST_F(ArrayGradient, OfRowsThatAreSplitAndConcatenated) {
  Array array = NewArray(2);
  const Output lengths = Const(g_, Tensor::Vector<int64_t>({1, 2}));
  array.flow = Node("TensorArraySplitV3", {array.handle, x_, lengths, array.flow});
  ExpectGradient(Node("TensorArrayConcatV3", {array.handle, array.flow}, {{"dtype", kFloat64}}), {1, 2, 3, 4, 5, 6});
}

TEST_F(ArrayGradient, OfElementsThatAreUnstackedAndStacked) {
  const Output list = Node("TensorListFromTensor", {x_, Numbers({2})});
  ExpectGradient(Square(Node("TensorListStack", {list, Numbers({2})}, {{"element_dtype", kFloat64}})),
                 {2, 8, 18, 32, 50, 72});
}

TEST_F(ArrayGradient, OfElementsThatArePushedAndPopped) {
  Output list = Node("EmptyTensorList", {Numbers({2}), Number(-1)}, {{"element_dtype", kFloat64}});
  for (int64_t i = 0; i < 3; ++i) list = Node("TensorListPushBack", {list, Row(i)});
  const auto pop = [&](int output) {
    return Node("TensorListPopBack", {list, Numbers({2})}, {{"element_dtype", kFloat64}}, output);
  };
  const Output last = pop(1);
  list = pop(0);
  ExpectGradient(last * pop(1), {0, 0, 5, 12, 3, 8});
}

TEST_F(ArrayGradient, OfElementsThatAreSet) {
  Output list = List(2);
  list = Node("TensorListSetItem", {list, Number(0), Row(0)});
  list = Node("TensorListSetItem", {list, Number(1), Row(1)});
  const Output before = Item(list, 1);
  list = Node("TensorListSetItem", {list, Number(1), Row(2)});
  ExpectGradient(before * Item(list, 1) * Item(list, 0), {15, 48, 5, 24, 3, 16});
}

TEST_F(ArrayGradient, OfAListThatGrows) {
  Output list = Node("TensorListFromTensor", {x_, Numbers({2})});
  list = Node("TensorListSetItem", {list, Number(4), Row(1)}, {{"resize_if_index_out_of_bounds", true}});
  list = Node("TensorListResize", {list, Number(6)});
  ExpectGradient(Item(list, 4) * Item(list, 0), {3, 8, 1, 4, 0, 0});
}

TEST_F(ArrayGradient, OfElementsThatAreScatteredAndGathered) {
  const Output list = Node("TensorListScatterV2", {x_, Numbers({2, 0, 1}), Numbers({2}), Number(3)});
  const auto gather = [&](const Output& from) {
    return Node("TensorListGather", {from, Numbers({1, 2}), Numbers({2})}, {{"element_dtype", kFloat64}});
  };
  ExpectGradient(gather(list), {3, 4, 0, 0, 1, 2});
  const Output changed = Node("TensorListScatterIntoExistingList", {list, ExpandDims(Row(1), 0), Numbers({2})});
  ExpectGradient(gather(changed), {0, 0, 3, 4, 1, 2});
}

TEST_F(ArrayGradient, OfElementsThatAreSplitAndConcatenated) {
  const Output lengths = Const(g_, Tensor::Vector<int64_t>({1, 2}));
  const Output list = Node("TensorListSplit", {x_, Numbers({-1, 2}), lengths});
  ExpectGradient(Node("TensorListConcatV2", {list, Numbers({-1, 2}), lengths}, {{"element_dtype", kFloat64}}),
                 {1, 2, 3, 4, 5, 6});
  ExpectGradient(Node("TensorListConcat", {list}, {{"element_dtype", kFloat64}}), {1, 2, 3, 4, 5, 6});
}

TEST_F(ArrayGradient, OfTheTensorsOfAnOptional) {
  const Output optional = NodeBuilder(g_, "OptionalFromValue").InputList({Number(7), Square(x_), x_ * 10.0}).Output();
  const Operation values = NodeBuilder(g_, "OptionalGetValue")
                               .Input(optional)
                               .Attr("output_types", std::vector<DType>{kInt32, kFloat64, kFloat64})
                               .Attr("output_shapes", std::vector<Shape>(3, Shape::Unknown()))
                               .Finish();
  ExpectGradient(values.output(1) * 100.0, {200, 800, 1800, 3200, 5000, 7200});
}

TEST_F(ArrayGradient, OfSlicesAlongAnAxisThatIsNotAConstant) {
  // The sums below are not constants while the gradient is built.
  for (const int32_t axis : {0, -2}) {
    ExpectGradient(Node("GatherV2", {x_, Numbers({1, 1, 0}), Number(axis - 1) + 1}), {5, 6, 4, 6, 0, 0});
  }
  for (const int32_t axis : {1, -1}) {
    ExpectGradient(Node("GatherV2", {x_, Numbers({1, 0, 1}), Number(axis - 1) + 1}), {2, 4, 5, 10, 8, 16});
  }
  const Output in_batches = Const(g_, Tensor::Of<int32_t>({3, 2}, {1, 0, 1, 1, 0, 0}));
  ExpectGradient(Node("GatherV2", {x_, in_batches, Number(0) + 1}, {{"batch_dims", 1}}), {2, 1, 0, 7, 11, 0});
}

TEST_F(ArrayGradient, OfElementsGatheredInBatchesOfAVariable) {
  const Output indices = Const(g_, Tensor::Of<int32_t>({3, 2}, {1, 0, 1, 1, 0, 0}));
  for (const Shape& declared : {Shape({3, 2}), Shape::Unknown()}) {
    for (const int64_t batch_dims : {1, -1}) {
      const Output handle = NodeBuilder(g_, "VarHandleOp").Attr("dtype", kFloat64).Attr("shape", declared).Output();
      const Operation set = NodeBuilder(g_, "AssignVariableOp").Input(handle).Input(x_).Finish();
      auto after = g_.ControlDependencies({set});
      const Output y = Node("ResourceGather", {handle, indices}, {{"dtype", kFloat64}, {"batch_dims", batch_dims}});
      const Output weights = Const(g_, Tensor::Of<double>({3, 2}, {1, 2, 3, 4, 5, 6}));
      const auto gradients = Gradients({y}, {handle}, {weights});
      ASSERT_TRUE(gradients.ok()) << gradients.status();
      ExpectValue((*gradients)[0], {2, 1, 0, 7, 11, 0});
    }
  }
}

// x has 3 rows. The ragged tensors have 2 rows: one row of x is in the first, and two are in the second.
TEST_F(ArrayGradient, OfRaggedTensorsInVariants) {
  const Output splits = Const(g_, Tensor::Vector<int64_t>({0, 1, 3}));
  const auto encode = [&](const std::vector<Output>& levels, bool batched) {
    return NodeBuilder(g_, "RaggedTensorToVariant")
        .InputList(levels)
        .Input(Square(x_))
        .Attr("Tsplits", kInt64)
        .Attr("batched_input", batched)
        .Output();
  };
  const auto decode = [&](const Output& encoded, int levels) {
    const Operation op = NodeBuilder(g_, "RaggedTensorFromVariant")
                             .Input(encoded)
                             .Attr("input_ragged_rank", -1)
                             .Attr("output_ragged_rank", levels)
                             .Attr("Tvalues", kFloat64)
                             .Finish();
    return op.output(levels) * 100.0;
  };
  const std::vector<double> expected = {200, 800, 1800, 3200, 5000, 7200};
  ExpectGradient(decode(encode({splits}, /*batched=*/true), 1), expected);
  ExpectGradient(decode(encode({splits}, /*batched=*/false), 1), expected);
  ExpectGradient(decode(encode({}, true), 1), expected);
  ExpectGradient(decode(encode({}, false), 0), expected);
}

}  // namespace
}  // namespace tensorbraid
