// Tests what rows of the op table (op_case.h) cannot test: public functions, and gradients of several ops together.
#include <gtest/gtest.h>

#include <complex>

#include "core/text/strings.h"
#include "executor/evaluate.h"
#include "op_case.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

void ExpectValue(const Output& output, const Tensor& want) {
  const auto result = Evaluate({output});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(Difference((*result)[0], want, 0), "");
}

TEST(ComplexOperands, NumbersTakeTheTypeOfTheOtherOperand) {
  Graph g;
  for (const DType dtype : {DType::kComplex64, DType::kComplex128}) {
    const Output z = Cast(Const(g, Tensor::Vector<std::complex<double>>({{1, 5}, {-3, 7}})), dtype);
    const Output y = 1 - z * 2.0;
    EXPECT_EQ(y.dtype(), dtype);
    ExpectValue(Cast(y, DType::kComplex128), Tensor::Vector<std::complex<double>>({{-1, -10}, {7, -14}}));
  }
  const Output z = Const(g, Tensor::Scalar(std::complex<float>(1, 1)));
  EXPECT_FALSE((z * 1e300).valid());
  EXPECT_NE(g.status().message().find("does not fit complex64, in which it would be infinite"), std::string::npos)
      << g.status();
}

TEST(ComplexGradients, RequireInitialGradients) {
  Graph g;
  const Output x = Const(g, Tensor::Vector<float>({1, 2}));
  const Output z = Cast(x, DType::kComplex64) * 2.0;
  ASSERT_TRUE(z.valid()) << g.status();
  EXPECT_EQ(z.dtype(), DType::kComplex64);
  const auto without = Gradients({z}, {x});
  ASSERT_EQ(without.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(without.status().message().find("must set grad_ys"), std::string::npos) << without.status();
  const auto real = Gradients({z}, {x}, {x});
  ASSERT_EQ(real.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(real.status().message().find("both complex"), std::string::npos) << real.status();
  const auto gradients = Gradients({z}, {x}, {Const(g, Tensor::Vector<std::complex<float>>({{1, 5}, {-3, 7}}))});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  ExpectValue((*gradients)[0], Tensor::Vector<float>({2, -6}));
}

// Sqrt is not differentiable at 0, but Select does not pass on the gradient of elements that it does not take.
TEST(SingularGradients, OfBranchesThatAreNotTakenAreZero) {
  Graph g;
  const Output w = Const(g, Tensor::Vector<float>({0, 1, 4}));
  const Output y = Select(Greater(w, 0), Sqrt(w), 0.0) + Select(Greater(w, 0), Rsqrt(w), 0.0) +
                   Select(Greater(w, 0), Reciprocal(w), 0.0);
  const auto gradients = Gradients({y}, {w});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  ExpectValue((*gradients)[0], Tensor::Vector<float>({0, -1, 0.125}));
}

// The op is linear. So the sum of its outputs, multiplied by weights, equals the sum of its inputs, multiplied by the
// gradient of the first sum. Lengths that are smaller than the input's sizes cut the input.
TEST(FourierGradients, AreThoseOfLinearFunctions) {
  for (const bool inverse : {false, true}) {
    for (const std::string suffix : {"", "2D", "3D"}) {
      for (const std::vector<int32_t>& sizes : {std::vector<int32_t>{3, 2, 4}, {3, 3, 5}, {2, 1, 3}}) {
        SCOPED_TRACE(StrCat(inverse ? "IRFFT" : "RFFT", suffix, " of ", sizes[0], sizes[1], sizes[2]));
        Graph g;
        const size_t axes = suffix.empty() ? 1 : suffix[0] - '0';
        const Output lengths = Const(g, Tensor::Vector(std::vector<int32_t>(sizes.end() - axes, sizes.end())));
        const Output numbers = Sin(Cast(Reshape(Range(g, 0, 3 * 3 * 5), {3, 3, 5}), kFloat64) * 7.0);
        const Output others = Cos(numbers * 5.0);
        const auto complex = [](const Output& real, const Output& imag) {
          return NodeBuilder(*real.graph(), "Complex")
              .Input(real)
              .Input(imag)
              .Attr("Tout", DType::kComplex128)
              .Output();
        };
        const Output x = inverse ? complex(numbers, others) : numbers;
        const Output y = NodeBuilder(g, (inverse ? "IRFFT" : "RFFT") + suffix)
                             .Input(x)
                             .Input(lengths)
                             .Attr(inverse ? "Treal" : "Tcomplex", inverse ? kFloat64 : DType::kComplex128)
                             .Output();
        const auto product = [](const Output& a, const Output& b) {
          const Output conjugate = IsComplex(b.dtype()) ? NodeBuilder(*b.graph(), "Conj").Input(b).Output() : b;
          return ReduceSum(Cast(a * conjugate, kFloat64));
        };
        const Output real = Sin(Cast(Reshape(Range(g, 0, Size(y)), ShapeOf(y)), kFloat64) * 3.0);
        const Output weights = inverse ? real : complex(real, Cos(real * 4.0));
        const auto gradients = Gradients({y}, {x}, {weights});
        ASSERT_TRUE(gradients.ok()) << gradients.status();
        const auto result = Evaluate({product(y, weights), product(x, (*gradients)[0])});
        ASSERT_TRUE(result.ok()) << result.status();
        EXPECT_NEAR((*result)[0].scalar<double>(), (*result)[1].scalar<double>(), 1e-9);
      }
    }
  }
}

// Without a list of axes, a reduction is over all axes. An empty list selects no axes.
TEST(Reductions, OverAnEmptyListOfAxesReduceNothing) {
  Graph g;
  const Tensor x = Tensor::Of<float>({2, 2}, {1, 2, 3, 4});
  for (const Output& in : {Const(g, x), PlaceholderWithDefault(Const(g, x), Shape::Unknown())}) {
    ExpectValue(ReduceSum(in), Tensor::Scalar(10.0f));
    ExpectValue(ReduceSum(in, {}), x);
    ExpectValue(ReduceMax(in, std::vector<int64_t>()), x);
    ExpectValue(ReduceSum(in, Axes::All(), {.keep_dims = true}), Tensor::Of<float>({1, 1}, {10}));
    ExpectValue(ReduceMean(in, {}, {.keep_dims = true}), x);
  }
}

}  // namespace
}  // namespace tensorbraid
