// Tests kernels at sizes at which they split their work over threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/threads/thread_pool.h"
#include "executor/evaluate.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

// A repeating ramp from -0.4 to almost 0.6.
Tensor Ramp(const Shape& shape) {
  Tensor t(kFloat32, shape);
  int64_t i = 0;
  for (float& v : t.mutable_data<float>()) v = static_cast<float>(i++ % 97) / 97 - 0.4f;
  return t;
}

class LargeTensors : public testing::Test {
 protected:
  // Evaluates `o` on one thread and on several, checks that the results agree (up to rounding), and returns the result
  // of the single thread.
  Tensor Same(Output o) {
    ThreadPool pool("large_test", 3);
    EvaluateOptions options;
    const auto alone = Evaluate({o}, {}, options);
    options.pool = &pool;
    const auto shared = Evaluate({o}, {}, options);
    EXPECT_TRUE(alone.ok() && shared.ok()) << alone.status() << shared.status() << g_.status();
    if (!alone.ok() || !shared.ok()) return {};
    const auto a = alone->at(0).data<float>(), b = shared->at(0).data<float>();
    EXPECT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      if (std::abs(a[i] - b[i]) > 1e-4f * (1 + std::abs(a[i]))) {
        ADD_FAILURE() << "element " << i << ": " << a[i] << " alone, " << b[i] << " shared";
        break;
      }
    }
    return alone->at(0);
  }
  Graph g_;
};

TEST_F(LargeTensors, ElementwiseOpsDoNotDependOnThreads) {
  const Output x = Const(g_, Ramp({700, 900}));
  Same(x * x);
  Same(x + Const(g_, Ramp({900})));
  Same(x - Const(g_, Ramp({700, 1})));
  Same(Const(g_, Ramp({700, 1})) * Const(g_, Ramp({1, 900})));
  Same(Exp(x));
  Same(nn::BiasAdd(x, Const(g_, Ramp({900}))));
  Same(Select(Greater(x, 0.0), x, 0.0));
}

TEST_F(LargeTensors, ReductionsDoNotDependOnThreads) {
  const Output x = Const(g_, Ramp({700, 900}));
  ThreadPool pool("large_test", 3);
  EvaluateOptions options;
  options.pool = &pool;
  for (const Axes& axes : {Axes::All(), Axes(0), Axes(1)}) {
    const Output o = ReduceSum(x, axes);
    const auto alone = Evaluate({o});
    const auto shared = Evaluate({o}, {}, options);
    ASSERT_TRUE(alone.ok() && shared.ok()) << alone.status() << shared.status();
    const auto a = alone->at(0).data<float>(), b = shared->at(0).data<float>();
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
  }
  Same(ReduceMax(Const(g_, Ramp({40, 50, 60, 7})), {0, 2}));
}

TEST_F(LargeTensors, LongSumsLoseLittlePrecision) {
  Tensor tenths(kFloat32, {3'000'000});
  for (float& v : tenths.mutable_data<float>()) v = 0.1f;
  EXPECT_NEAR(Same(ReduceSum(Const(g_, tenths))).scalar<float>(), 300'000, 3);
}

TEST_F(LargeTensors, ProductsAreRightOnAnyNumberOfThreads) {
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      const Output a = Const(g_, Ramp(ta ? Shape({300, 511}) : Shape({511, 300})));
      const Output b = Const(g_, Ramp(tb ? Shape({257, 300}) : Shape({300, 257})));
      const Tensor c = Same(MatMul(a, b, {.transpose_a = ta, .transpose_b = tb}));
      const Output again = MatMul(Cast(a, kFloat64), Cast(b, kFloat64), {.transpose_a = ta, .transpose_b = tb});
      const auto want = Evaluate({again});
      ASSERT_TRUE(want.ok()) << want.status();
      for (int64_t i = 0; i < c.num_elements(); ++i) {
        ASSERT_NEAR(c.data<float>()[i], want->at(0).data<double>()[i], 1e-3) << i;
      }
    }
  }
}

TEST_F(LargeTensors, ComplexProductsDoNotDependOnThreads) {
  const auto complex = [&](const Shape& shape) {
    const Output re = Const(g_, Ramp(shape));
    return NodeBuilder(g_, "Complex").Input(re).Input(Square(re)).Output();
  };
  const Output product = MatMul(complex({150, 90}), complex({90, 110}));
  Same(NodeBuilder(g_, "Real").Input(product).Output());
  Same(NodeBuilder(g_, "Imag").Input(product).Output());
}

TEST_F(LargeTensors, RunningSumsDoNotDependOnThreads) {
  const Output x = Const(g_, Ramp({40, 300, 130}));
  for (int axis : {0, 1, 2}) {
    for (bool reverse : {false, true}) {
      Same(NodeBuilder(g_, "Cumsum")
               .Input(x)
               .Input(Const(g_, Tensor::Scalar(int32_t{axis})))
               .Attr("reverse", reverse)
               .Output());
    }
  }
}

TEST_F(LargeTensors, OpsOnBatchesOfMatricesDoNotDependOnThreads) {
  const Output x = Const(g_, Ramp({200, 9, 9}));
  const Output identity =
      NodeBuilder(g_, "MatrixDiag").Input(Const(g_, Tensor::Vector(std::vector<float>(9, 4)))).Output();
  const Output regular = BatchMatMul(x, x, {.adj_y = true}) + identity;
  Same(NodeBuilder(g_, "MatrixInverse").Input(regular).Output());
  Same(NodeBuilder(g_, "Cholesky").Input(regular).Output());
  Same(NodeBuilder(g_, "Einsum").InputList({x, x}).Attr("equation", "bij,bkj->ikb").Output());
  const Output spectrum = NodeBuilder(g_, "RFFT")
                              .Input(Const(g_, Ramp({3000, 61})))
                              .Input(Const(g_, Tensor::Vector(std::vector<int32_t>{61})))
                              .Output();
  Same(NodeBuilder(g_, "Real").Input(spectrum).Output());
}

TEST_F(LargeTensors, SingularMatricesOfABatchAreRefusedOnAnyThread) {
  ThreadPool pool("large_test", 3);
  EvaluateOptions options;
  options.pool = &pool;
  const Output zeros = Const(g_, Tensor::Of<float>({200, 9, 9}, std::vector<float>(200 * 81, 0)));
  const auto result = Evaluate({NodeBuilder(g_, "MatrixInverse").Input(zeros).Output()}, {}, options);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << result.status();
}

TEST_F(LargeTensors, GradientsOfBiasesAreSums) {
  for (const Shape& shape : {Shape({70000, 33}), Shape({9, 40, 50, 20}), Shape({3, 70000}), Shape({0, 5})}) {
    const Tensor t = Ramp(shape);
    const int64_t channels = shape.dim(shape.rank() - 1);
    std::vector<double> want(channels);
    for (int64_t i = 0; i < t.num_elements(); ++i) want[i % channels] += t.data<float>()[i];
    const Tensor got = Same(NodeBuilder(g_, "BiasAddGrad").Input(Const(g_, t)).Output());
    ASSERT_EQ(got.shape(), Shape({channels}));
    for (int64_t c = 0; c < channels; ++c) ASSERT_NEAR(got.data<float>()[c], want[c], 1e-2) << c;
  }
}

// Where threads split a tensor depends on how many are idle, which must not change results, not even in the last bit.
TEST_F(LargeTensors, ResultsDoNotDependOnThePlaceOfAnElement) {
  const auto together_and_apart = [&](const char* name, const Tensor& t, const std::function<Output(Output)>& op) {
    const int64_t rows = t.shape().dim(0), size = t.num_elements() / rows;
    std::vector<Output> fetches = {op(Const(g_, t))};
    for (int64_t i = 0; i < rows; ++i) {
      Tensor row(kFloat32, {1, size});
      std::copy_n(t.data<float>().data() + i * size, size, row.mutable_data<float>().data());
      fetches.push_back(op(Const(g_, row)));
    }
    const auto results = Evaluate(fetches);
    ASSERT_TRUE(results.ok()) << results.status() << g_.status();
    const float* together = results->at(0).data<float>().data();
    for (int64_t i = 0; i < rows; ++i) {
      for (const float apart : results->at(i + 1).data<float>()) ASSERT_EQ(apart, *together++) << name << ", row " << i;
    }
  };
  const Tensor numbers = Ramp({97, 1}), logits = Ramp({61, 10});
  together_and_apart("Exp", numbers, [](Output x) { return Exp(x); });
  together_and_apart("Log", numbers, [](Output x) { return Log(Exp(x)); });
  together_and_apart("Tanh", numbers, [](Output x) { return Tanh(x); });
  together_and_apart("Sigmoid", numbers, [](Output x) { return Sigmoid(x); });
  together_and_apart("Softmax", logits, [](Output x) { return nn::Softmax(x); });
  together_and_apart("LogSoftmax", logits, [](Output x) { return nn::LogSoftmax(x); });
}

TEST_F(LargeTensors, SoftmaxDoesNotDependOnThreads) {
  Same(nn::Softmax(Const(g_, Ramp({3000, 33}))));
  Same(nn::LogSoftmax(Const(g_, Ramp({50, 9000}))));
  Same(nn::SparseSoftmaxCrossEntropy(Const(g_, Tensor::Of<int32_t>({5000}, std::vector<int32_t>(5000, 3))),
                                     Const(g_, Ramp({5000, 10}))));
}

}  // namespace
}  // namespace tensorbraid
