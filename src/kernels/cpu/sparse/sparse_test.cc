// Tests of ops that store sparse tensors in strings and maps. The op test cases (tests/ops/README.md) cover arithmetic.
#include <gtest/gtest.h>

#include "core/testing/values_of.h"
#include "executor/evaluate.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

class SparseTest : public testing::Test {
 protected:
  // [[_ "a" _][_ _ _]["b" _ "c"]]
  Operation Add(const char* op) {
    return NodeBuilder(g_, op)
        .Name(op)
        .Input(Const(g_, Tensor::Of<int64_t>({3, 2}, {0, 1, 2, 0, 2, 2})))
        .Input(Const(g_, Tensor::Vector<std::string>({"a", "b", "c"})))
        .Input(Const(g_, Tensor::Vector<int64_t>({3, 3})))
        .Finish();
  }
  std::vector<Tensor> Get(Operation op) {
    const auto t = Evaluate({op.output(0), op.output(1), op.output(2)});
    EXPECT_TRUE(t.ok()) << t.status() << g_.status();
    return t.ok() ? *t : std::vector<Tensor>(3);
  }
  static void ExpectWhole(const std::vector<Tensor>& t) {
    EXPECT_EQ(ValuesOf<int64_t>(t[0]), (std::vector<int64_t>{0, 1, 2, 0, 2, 2}));
    EXPECT_EQ(ValuesOf<std::string>(t[1]), (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(ValuesOf<int64_t>(t[2]), (std::vector<int64_t>{3, 3}));
  }

  Graph g_;
};

TEST_F(SparseTest, SerializedTensorsReadBack) {
  const Output text = Add("SerializeSparse").output(0);
  ExpectWhole(Get(NodeBuilder(g_, "DeserializeSparse").Input(text).Attr("dtype", kString).Finish()));
}

TEST_F(SparseTest, RowsSerializedOneByOneAreStackedAgain) {
  const Output texts = Add("SerializeManySparse").output(0);
  ExpectWhole(Get(NodeBuilder(g_, "DeserializeManySparse").Input(texts).Attr("dtype", kString).Finish()));
  ExpectWhole(Get(NodeBuilder(g_, "DeserializeSparse").Input(texts).Attr("dtype", kString).Finish()));
}

TEST_F(SparseTest, DeserializingAsAnotherTypeIsRefused) {
  const Output text = Add("SerializeSparse").output(0);
  const Operation op = NodeBuilder(g_, "DeserializeSparse").Input(text).Attr("dtype", kFloat32).Finish();
  EXPECT_EQ(Evaluate({op.output(0)}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(SparseTest, RowsKeptInAMapAreTakenOut) {
  const Operation add = Add("AddManySparseToTensorsMap");
  ExpectWhole(Get(NodeBuilder(g_, "TakeManySparseFromTensorsMap")
                      .Input(add.output(0))
                      .Attr("dtype", kString)
                      .Attr("shared_name", add.name())
                      .Finish()));
}

TEST_F(SparseTest, TakingATensorThatIsNotInTheMapFails) {
  const Operation op = NodeBuilder(g_, "TakeManySparseFromTensorsMap")
                           .Input(Const(g_, Tensor::Vector<int64_t>({7})))
                           .Attr("dtype", kString)
                           .Finish();
  EXPECT_EQ(Evaluate({op.output(0)}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tensorbraid
