// Tests the public conditionals and loops (ops/control_flow.h) and their gradients, in local sessions and in a cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cluster/testing/test_cluster.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr const char* kPsTask = "/job:ps/task:0";
constexpr const char* kWorkerTask = "/job:worker/task:0";

class Fixture : public testing::Test {
 protected:
  std::vector<Tensor> Run(const std::vector<Output>& fetches, const std::vector<Feed>& feeds = {}) {
    EXPECT_TRUE(g.status().ok()) << g.status();
    if (session == nullptr) session = Session::Create(g).value();
    const auto results = session->Run({fetches.begin(), fetches.end()}, feeds);
    EXPECT_TRUE(results.ok()) << results.status();
    return results.ok() ? *results : std::vector<Tensor>(fetches.size(), Tensor::Scalar(NAN));
  }
  float Scalar(const Output& fetch, const std::vector<Feed>& feeds = {}) {
    return Run({fetch}, feeds)[0].scalar<float>();
  }
  std::vector<float> Values(const Output& fetch, const std::vector<Feed>& feeds = {}) {
    const Tensor value = Run({fetch}, feeds)[0];
    return {value.data<float>().begin(), value.data<float>().end()};
  }
  Output Grad(const Output& y, const Output& x) {
    const auto gradients = Gradients({y}, {x});
    EXPECT_TRUE(gradients.ok()) << gradients.status();
    return gradients.ok() ? (*gradients)[0] : Output();
  }
  Output Int(int32_t n) { return Const(g, Tensor::Scalar(n)); }
  Output Float(float value) { return Const(g, Tensor::Scalar(value)); }
  // Checks the gradient of the scalar y by x, a placeholder of a scalar, against differences, at several points.
  void CheckGradient(const Output& y, const Output& x, const std::vector<float>& points) {
    const Output dy = Grad(y, x);
    for (const float at : points) {
      const float h = 1e-2f;
      const double up = Scalar(y, {{x, Tensor::Scalar(at + h)}}), down = Scalar(y, {{x, Tensor::Scalar(at - h)}});
      const double wanted = (up - down) / (2 * h);
      EXPECT_NEAR(Scalar(dy, {{x, Tensor::Scalar(at)}}), wanted, 0.01 * std::max(1.0, std::abs(wanted))) << "at " << at;
    }
  }

  Graph g;
  std::unique_ptr<Session> session;
};

using CondTest = Fixture;
using WhileTest = Fixture;

TEST_F(CondTest, TheTakenBranchGivesTheResultAndTheGradient) {
  const Output x = Placeholder(g, kFloat32, {});
  const Output w = Placeholder(g, kFloat32, {});
  const Output y = Cond(
      x > 0.0f, [&] { return x * x * w; }, [&] { return x * 5.0f; });
  const Output dx = Grad(y, x), dw = Grad(y, w);
  const auto at = [&](float value) { return std::vector<Feed>{{x, Tensor::Scalar(value)}, {w, Tensor::Scalar(2.0f)}}; };
  EXPECT_EQ(Scalar(y, at(3)), 18);
  EXPECT_EQ(Scalar(y, at(-3)), -15);
  EXPECT_EQ(Scalar(dx, at(3)), 12);
  EXPECT_EQ(Scalar(dx, at(-3)), 5);
  EXPECT_EQ(Scalar(dw, at(3)), 9);
  EXPECT_EQ(Scalar(dw, at(-3)), 0);
  CheckGradient(Grad(Cond(
                         x > 0.0f, [&] { return Exp(x); }, [&] { return x * x * x; }),
                     x),
                x, {0.5f, -0.5f});
}

TEST_F(CondTest, OnlyTheTakenBranchChangesVariables) {
  Variable v(g, {}, Zeros(), {.name = "v"});
  const Output predicate = Placeholder(g, DType::kBool, {});
  const auto add = [&](float by) {
    return [this, &v, by] {
      const auto after = g.ControlDependencies({v.AssignAdd(by)});
      return v.Read();
    };
  };
  const Output r = Cond(predicate, add(1), add(100));
  Run({});
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  EXPECT_EQ(Scalar(r, {{predicate, Tensor::Scalar(true)}}), 1);
  EXPECT_EQ(Scalar(r, {{predicate, Tensor::Scalar(false)}}), 101);
  EXPECT_EQ(Scalar(r, {{predicate, Tensor::Scalar(true)}}), 102);
}

TEST_F(CondTest, CaseTakesTheFirstTruePredicate) {
  const Output x = Placeholder(g, kFloat32, {});
  const auto one = [&](float value) { return Branch([this, value] { return std::vector<Output>{Float(value)}; }); };
  const Output r = Case({{x > 2.0f, one(1)}, {x > 1.0f, one(2)}}, one(3))[0];
  EXPECT_EQ(Scalar(r, {{x, Tensor::Scalar(5.0f)}}), 1);
  EXPECT_EQ(Scalar(r, {{x, Tensor::Scalar(1.5f)}}), 2);
  EXPECT_EQ(Scalar(r, {{x, Tensor::Scalar(0.0f)}}), 3);
}

TEST_F(CondTest, MistakesAreRecorded) {
  const Output p = Placeholder(g, DType::kBool, {});
  Cond(
      p, [&] { return Float(1); }, [&] { return Int(1); });
  EXPECT_THAT(std::string(g.TakeStatus().message()), HasSubstr("result 0 of the branch for true is float32"));
  EXPECT_FALSE(Cond(
                   Float(1), [&] { return Float(1); }, [&] { return Float(1); })
                   .valid());
  EXPECT_THAT(std::string(g.TakeStatus().message()), HasSubstr("the predicate must be bool"));
  Output leaked;
  Cond(
      p, [&] { return leaked = Float(1) + 1.0f; }, [&] { return Float(1); });
  Add(leaked, 1.0f);
  EXPECT_THAT(std::string(g.TakeStatus().message()), HasSubstr("can be used only there"));
}

// x to the power of n, by a loop.
Output Power(Graph& g, const Output& x, int32_t n) {
  return While(
      {Const(g, Tensor::Scalar(int32_t{0})), Const(g, Tensor::Scalar(1.0f))},
      [&](const std::vector<Output>& v) { return v[0] < n; },
      [&](const std::vector<Output>& v) -> std::vector<Output> {
        return {v[0] + 1, v[1] * x};
      })[1];
}

TEST_F(WhileTest, ALoopHasAValueAndGradientsOfAllOrders) {
  const Output x = Placeholder(g, kFloat32, {});
  const Output y = Power(g, x, 5);
  const std::vector<Feed> at_two = {{x, Tensor::Scalar(2.0f)}};
  EXPECT_EQ(Scalar(y, at_two), 32);
  const Output first = Grad(y, x);
  EXPECT_EQ(Scalar(first, at_two), 80);
  const Output second = Grad(first, x);
  EXPECT_EQ(Scalar(second, at_two), 160);
  EXPECT_EQ(Scalar(Grad(second, x), at_two), 240);
  EXPECT_EQ(Scalar(Grad(Power(g, x, 0), x), at_two), 0);
}

TEST_F(WhileTest, AVariableOfTheLoopHasAGradient) {
  const Output x = Placeholder(g, kFloat32, {});
  const Output y = While(
      {x, Int(0)}, [&](const auto& v) { return v[1] < 3; },
      [&](const auto& v) -> std::vector<Output> {
        return {Sin(v[0]) * 2.0f, v[1] + 1};
      })[0];
  CheckGradient(y, x, {0.3f, 1.1f, -2});
}

TEST_F(WhileTest, ABranchInALoopHasAGradient) {
  const Output x = Placeholder(g, kFloat32, {});
  const Output y = While(
      {Int(0), x}, [&](const auto& v) { return v[0] < 6; },
      [&](const auto& v) -> std::vector<Output> {
        const Output odd = Equal(v[0] % 2, 1);
        return {v[0] + 1, Cond(
                              odd, [&] { return Sin(v[1]) * x; }, [&] { return v[1] * v[1] + 0.5f; })};
      })[1];
  CheckGradient(y, x, {0.3f, -0.4f});
  CheckGradient(Grad(y, x), x, {0.3f, -0.4f});
}

TEST_F(WhileTest, ALoopInABranchAndALoopInALoopHaveGradients) {
  const Output x = Placeholder(g, kFloat32, {});
  const Output branch = Cond(
      x > 0.0f, [&] { return Power(g, x, 3); }, [&] { return Power(g, x, 2) * x * x; });
  CheckGradient(branch, x, {0.7f, -0.6f});
  const Output nested = While(
      {Int(0), x}, [&](const auto& v) { return v[0] < 3; },
      [&](const auto& v) -> std::vector<Output> {
        return {v[0] + 1, Power(g, Cos(v[1]), 2) + x};
      })[1];
  CheckGradient(nested, x, {0.3f, 1.0f});
  CheckGradient(Grad(nested, x), x, {0.3f, 1.0f});
}

TEST_F(WhileTest, TheGradientUsesTheRandomNumbersOfTheLoop) {
  const Output x = Placeholder(g, kFloat32, {});
  const Output y = While(
      {Int(0), Float(0)}, [&](const auto& v) { return v[0] < 10; },
      [&](const auto& v) -> std::vector<Output> {
        return {v[0] + 1, v[1] + x * RandomUniform(g, Shape())};
      })[1];
  const Output dx = Grad(y, x);
  const auto both = Run({y, dx}, {{x, Tensor::Scalar(1.0f)}});
  EXPECT_FLOAT_EQ(both[0].scalar<float>(), both[1].scalar<float>());
  EXPECT_GT(both[1].scalar<float>(), 0);
}

TEST_F(WhileTest, VariablesHaveGradientsAndMayBeMadeInTheBody) {
  Variable w;
  Variable table(g, {4, 2}, Ones(), {.name = "table"});
  const Output loss = While(
      {Int(0), Float(0)}, [&](const auto& v) { return v[0] < 3; },
      [&](const auto& v) -> std::vector<Output> {
        if (!w.valid()) w = Variable(g, {}, Constant(2), {.name = "w"});
        return {v[0] + 1, v[1] + w * w + ReduceSum(table.SparseRead(v[0]))};
      })[1];
  const auto gradients = SparseGradients({loss}, {w.handle(), table.handle()});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  Run({});
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  EXPECT_EQ(Scalar(loss), 18);
  EXPECT_EQ(Scalar((*gradients)[0].dense()), 12);
  ASSERT_TRUE((*gradients)[1].is_sparse());
  EXPECT_THAT(Values((*gradients)[1].ToDense()), ElementsAre(1, 1, 1, 1, 1, 1, 0, 0));
}

TEST_F(WhileTest, TheOptionsLimitIterationsAndAllowShapesToChange) {
  const Output x = Const(g, Tensor::Vector<float>({1}));
  const auto doubled = [&](const std::vector<Output>& v) { return std::vector<Output>{Concat({v[0], v[0]}, 0)}; };
  const auto always = [&](const std::vector<Output>&) { return Const(g, Tensor::Scalar(true)); };
  const Output y = While({x}, always, doubled, {.maximum_iterations = 3, .shape_invariants = {Shape({-1})}})[0];
  EXPECT_EQ(Values(y).size(), 8u);
  EXPECT_THAT(Values(Grad(y, x)), ElementsAre(8));
  While({x}, always, doubled, {.maximum_iterations = 3});
  EXPECT_THAT(std::string(g.TakeStatus().message()), HasSubstr("shape invariant"));
  const Output fixed = While(
      {Int(0), x}, [](const auto& v) { return v[0] < 2; },
      [](const auto& v) -> std::vector<Output> {
        return {v[0] + 1, v[1] * 2.0f};
      },
      {.back_prop = false})[1];
  const auto none = Gradients({fixed}, {x});
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_FALSE((*none)[0].valid()) << "no gradient passes through a loop that is built without one";
  EXPECT_THAT(Values(Grad(fixed * x, x)), ElementsAre(4)) << "the loop's result is a constant";
}

TEST_F(WhileTest, ALoopThatTakesValuesFromAStackHasNoGradient) {
  // As the gradients of loops that TensorFlow writes. The values depend on x, so a gradient without them is wrong.
  const Output x = Float(2);
  const Output stack =
      NodeBuilder(g, "StackV2").Input(Int(3)).Attr("elem_type", kFloat32).Attr("stack_name", "values").Output();
  const Output looped = While(
      {Int(0), x}, [](const auto& v) { return v[0] < 2; },
      [&](const auto& v) -> std::vector<Output> {
        const Output popped = NodeBuilder(g, "StackPopV2").Input(stack).Attr("elem_type", kFloat32).Output();
        return {v[0] + 1, v[1] * NodeBuilder(g, "EnsureShape").Input(popped).Attr("shape", Shape({})).Output()};
      })[1];
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_THAT(std::string(Gradients({looped * x}, {x}).status().message()), HasSubstr("takes values from a stack"));
}

TEST_F(WhileTest, ControlDependenciesHoldForTheLoopAndForEachIteration) {
  Variable v(g, {}, Zeros(), {.name = "v"});
  const Operation before = v.AssignAdd(10);
  const std::vector<Output> start = {Int(0), Float(0)};
  Output r;
  {
    const auto after = g.ControlDependencies({before});
    r = While(
        start, [&](const auto& u) { return u[0] < 4; },
        [&](const auto& u) -> std::vector<Output> {
          const auto added = g.ControlDependencies({v.AssignAdd(1)});
          return {u[0] + 1, u[1] + v.Read()};
        },
        {.parallel_iterations = 1})[1];
  }
  Run({});
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  EXPECT_EQ(Scalar(r), 11 + 12 + 13 + 14);
}

TEST_F(WhileTest, GradientsWithinALoop) {
  const Output target = Placeholder(g, kFloat32, {});
  // Descends along the gradient of (x - target)^2.
  const Output x = While(
      {Int(0), Float(0)}, [&](const auto& v) { return v[0] < 50; },
      [&](const auto& v) -> std::vector<Output> {
        const Output loss = Square(v[1] - target);
        return {v[0] + 1, v[1] - 0.2f * Grad(loss, v[1])};
      })[1];
  EXPECT_NEAR(Scalar(x, {{target, Tensor::Scalar(3.0f)}}), 3, 1e-4);
  EXPECT_NEAR(Scalar(Grad(x, target), {{target, Tensor::Scalar(3.0f)}}), 1, 1e-4);
}

TEST_F(WhileTest, MapFnScanAndFoldlHaveValuesAndGradients) {
  const Output x = Const(g, Tensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
  const auto squared = [](const std::vector<Output>& v) { return std::vector<Output>{ReduceSum(v[0] * v[0])}; };
  const Output mapped = MapFn(squared, {x})[0];
  EXPECT_EQ(mapped.shape(), Shape({3}));
  EXPECT_THAT(Values(mapped), ElementsAre(5, 25, 61));
  EXPECT_THAT(Values(Grad(mapped, x)), ElementsAre(2, 4, 6, 8, 10, 12));
  const auto combine = [](const std::vector<Output>& v) { return std::vector<Output>{v[0] * 2.0f + v[1]}; };
  const Output zero = Const(g, Tensor::Vector<float>({0, 0}));
  const Output folded = Foldl(combine, {x}, {zero})[0], scanned = Scan(combine, {x}, {zero})[0];
  EXPECT_THAT(Values(folded), ElementsAre(15, 22));
  EXPECT_THAT(Values(scanned), ElementsAre(1, 2, 5, 8, 15, 22));
  EXPECT_THAT(Values(Grad(folded, x)), ElementsAre(4, 4, 2, 2, 1, 1));
  EXPECT_THAT(Values(Grad(scanned, x)), ElementsAre(7, 7, 3, 3, 1, 1));
  const Output again = Grad(Square(Grad(mapped, x)), x);
  EXPECT_THAT(Values(again), ElementsAre(8, 16, 24, 32, 40, 48));
}

TEST_F(WhileTest, TensorArraysConcatenateAndSplit) {
  const Output x = Const(g, Tensor::Vector<float>({1, 2, 3, 4, 5}));
  TensorArray array = TensorArray(g, kFloat32, 2).Split(x, Const(g, Tensor::Vector<int64_t>({2, 3})));
  EXPECT_THAT(Values(array.Read(1)), ElementsAre(3, 4, 5));
  TensorArray grown(g, kFloat32, 0, {.dynamic_size = true});
  grown = grown.Write(0, Float(1)).Write(1, Float(2));
  EXPECT_THAT(Values(grown.Stack()), ElementsAre(1, 2));
  // Each element times its number, written by a loop.
  const TensorArray slices = TensorArray(g, kFloat32, 5).Unstack(x);
  const std::vector<Output> looped = While(
      {Int(0), TensorArray(g, kFloat32, 5).list()}, [](const auto& v) { return v[0] < 5; },
      [&](const auto& v) -> std::vector<Output> {
        const Output product = slices.Read(v[0]) * slices.Read(v[0]) * Cast(v[0], kFloat32);
        return {v[0] + 1, slices.WithList(v[1]).Write(v[0], product).list()};
      });
  const Output written = slices.WithList(looped[1]).Stack();
  EXPECT_THAT(Values(written), ElementsAre(0, 4, 18, 48, 100));
  const Output first = Grad(written, x);
  EXPECT_THAT(Values(first), ElementsAre(0, 4, 12, 24, 40));
  EXPECT_THAT(Values(Grad(first, x)), ElementsAre(0, 2, 4, 6, 8));
}

TEST_F(WhileTest, ProgramsDefineGradients) {
  const Output x = Placeholder(g, kFloat32, {});
  const auto forward = [](const std::vector<Output>& in) { return std::vector<Output>{in[0] * in[1], in[0]}; };
  const auto backward = [](const auto& in, const auto& out, const auto& grads) -> std::vector<Output> {
    return {grads[0] * 100.0f + grads[1] + out[0] * 0.0f, in[1]};
  };
  const std::vector<Output> y = CustomGradient({x, Float(3)}, forward, backward);
  const std::vector<Feed> at_two = {{x, Tensor::Scalar(2.0f)}};
  EXPECT_EQ(Scalar(y[0], at_two), 6);
  EXPECT_EQ(Scalar(Grad(y[0], x), at_two), 100);
  EXPECT_EQ(Scalar(Grad(y[1], x), at_two), 1);
  // In a loop, the gradient is defined for each iteration.
  const Output looped = While(
      {Int(0), x}, [](const auto& v) { return v[0] < 2; },
      [&](const auto& v) -> std::vector<Output> {
        return {v[0] + 1, CustomGradient({v[1], Float(3)}, forward, backward)[0]};
      })[1];
  EXPECT_EQ(Scalar(looped, at_two), 18);
  EXPECT_EQ(Scalar(Grad(looped, x), at_two), 10000);
  const Output rounded = NodeBuilder(g, "Round").Input(x).Output();
  SetGradient(rounded.op(), [](const Operation&, const std::vector<Output>& grads) { return grads; });
  EXPECT_EQ(Scalar(Grad(rounded * 2.0f, x), at_two), 2);
}

TEST(FlowFunctionsTest, ALoopOverTwoTasksHasAGradient) {
  TestCluster cluster(1, 1);
  Graph g;
  const Output x = Placeholder(g, kFloat32, {});
  Output y;
  {
    const auto worker = g.Device(kWorkerTask);
    y = While(
        {Const(g, Tensor::Scalar(int32_t{0})), x}, [&](const auto& v) { return v[0] < 4; },
        [&](const auto& v) -> std::vector<Output> {
          Output sine;
          {
            const auto ps = g.Device(kPsTask);
            sine = Sin(v[1]);
          }
          const Output odd = Equal(v[0] % 2, 1);
          return {v[0] + 1, Cond(
                                odd, [&] { return sine * x; },
                                [&] {
                                  const auto ps = g.Device(kPsTask);
                                  return sine + v[1] * v[1];
                                })};
        })[1];
  }
  const auto gradient = Gradients({y}, {x});
  ASSERT_TRUE(gradient.ok()) << gradient.status();
  const auto session = Session::Create(g, {.target = cluster.worker_target()});
  ASSERT_TRUE(session.ok()) << session.status();
  const auto value = [&](const Output& of, float at) {
    const auto result = (*session)->Run({of}, {{x, Tensor::Scalar(at)}});
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? (*result)[0].scalar<float>() : NAN;
  };
  const float wanted = (value(y, 0.41f) - value(y, 0.39f)) / 0.02f;
  EXPECT_NEAR(value((*gradient)[0], 0.4f), wanted, 0.01 * std::abs(wanted));
}

}  // namespace
}  // namespace tensorbraid
