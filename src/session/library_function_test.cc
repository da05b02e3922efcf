// Tests functions that C++ programs define: their bodies, captures, calls and gradients, and their place in a GraphDef.
#include "tensorbraid/graph/library_function.h"

#include <gtest/gtest.h>

#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/random.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {
namespace {

using absl::StatusCode;
using Outputs = std::vector<Output>;

float Value(Graph& g, const Output& output) {
  auto session = Session::Create(g);
  EXPECT_TRUE(session.ok()) << session.status();
  const auto r = (*session)->Run({output});
  EXPECT_TRUE(r.ok()) << r.status();
  return r.ok() ? (*r)[0].scalar<float>() : 0;
}

Output Float(Graph& g, float value) { return Operand(Tensor::Scalar(value)).ToOutput(g); }

TEST(LibraryFunctionTest, ACallComputesTheResultsOfTheBody) {
  Graph g;
  const auto f = DefineFunction(g, "f", {{kFloat32, {}}, {kFloat32, {}}}, [](Graph&, const Outputs& args) {
    return Outputs{args[0] * args[1], args[0]};
  });
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(f.name(), "f");
  EXPECT_FALSE(f.is_stateful());
  const Outputs results = CallFunction(g, f, {Float(g, 3), 4.0});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].shape(), Shape());
  EXPECT_EQ(results[0].op().type(), "PartitionedCall");
  EXPECT_EQ(Value(g, results[0]), 12);
  EXPECT_EQ(Value(g, results[1]), 3);
}

TEST(LibraryFunctionTest, TensorsOfTheOuterGraphAreCaptured) {
  Graph g;
  const Output outer = Float(g, 10);
  const auto f = DefineFunction(g, "f", {{kFloat32, {}}}, [&](Graph&, const Outputs& args) {
    // The first operand leads to the outer graph, but the sum belongs to the body.
    return Outputs{outer + args[0] * outer};
  });
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(f.captures(), Outputs{outer});
  EXPECT_EQ(Value(g, CallFunction(g, f, {2.0})[0]), 30);
}

TEST(LibraryFunctionTest, AFunctionMayReturnATensorOfTheOuterGraph) {
  Graph g;
  const Output outer = Float(g, 10);
  const auto f = DefineFunction(g, "f", {}, [&](Graph&, const Outputs&) { return Outputs{outer}; });
  EXPECT_EQ(Value(g, CallFunction(g, f, {})[0]), 10);
}

TEST(LibraryFunctionTest, FunctionsNestAndCaptureThroughEachOther) {
  Graph g;
  const Output outer = Float(g, 10);
  const auto f = DefineFunction(g, "f", {{kFloat32, {}}}, [&](Graph& body, const Outputs& args) {
    const auto inner = DefineFunction(body, "f", {{kFloat32, {}}}, [&](Graph&, const Outputs& inner_args) {
      return Outputs{inner_args[0] * outer + args[0]};
    });
    return CallFunction(body, inner, {args[0] + 1.0});
  });
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(f.name(), "f_1");  // the inner function has the name "f"
  EXPECT_EQ(Value(g, CallFunction(g, f, {2.0})[0]), 32);
}

TEST(LibraryFunctionTest, TheGradientGoesThroughTheCallToArgumentsAndCaptures) {
  Graph g;
  const Output outer = Float(g, 10), x = Float(g, 3);
  const auto f = DefineFunction(g, "square", {{kFloat32, {}}},
                                [&](Graph&, const Outputs& args) { return Outputs{args[0] * args[0] * outer}; });
  const auto grads = Gradients(CallFunction(g, f, {x}), {x, outer});
  ASSERT_TRUE(grads.ok()) << grads.status();
  EXPECT_EQ(Value(g, (*grads)[0]), 60);
  EXPECT_EQ(Value(g, (*grads)[1]), 9);
}

TEST(LibraryFunctionTest, AVariableIsReadAndChangedByItsHandle) {
  Graph g;
  const Variable v(g, {}, Constant(5.0), {.name = "v"});
  const auto f = DefineFunction(g, "count", {{kFloat32, {}}}, [&](Graph& body, const Outputs& args) {
    NodeBuilder(body, "AssignAddVariableOp").Input(v.handle()).Input(args[0]).Finish();
    return Outputs{args[0]};
  });
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_TRUE(f.is_stateful());
  const Outputs called = CallFunction(g, f, {2.0});
  EXPECT_EQ(called[0].op().type(), "StatefulPartitionedCall");
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({v.initializer()}).ok());
  ASSERT_TRUE(session->Run({called[0]}).ok());
  EXPECT_EQ((*session->Run({v.value()}))[0].scalar<float>(), 7);
}

TEST(LibraryFunctionTest, ACopiedCaptureNeedsNoArgument) {
  Graph g;
  const Output checked = Float(g, 6);
  const ScopeGuard scope = g.ControlDependencies({NodeBuilder(g, "NoOp").Finish()});
  const Output outer = Float(g, 4) + checked;
  const auto f = DefineFunction(
      g, "f", {}, [&](Graph&, const Outputs&) { return Outputs{outer}; }, Capture::kAsCopy);
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_TRUE(f.captures().empty());
  EXPECT_EQ(Value(g, CallFunction(g, f, {})[0]), 10);
}

TEST(LibraryFunctionTest, StateIsNotCopied) {
  for (const bool random : {false, true}) {
    Graph g;
    const Output outer = random ? RandomUniform(g, {}) : Placeholder(g, kFloat32, {});
    const auto f = DefineFunction(
        g, "f", {}, [&](Graph&, const Outputs&) { return Outputs{outer}; }, Capture::kAsCopy);
    EXPECT_FALSE(f.valid());
    EXPECT_EQ(g.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(g.status().message().find(random ? "stateful node" : "placeholder"), absl::string_view::npos)
        << g.status();
  }
}

TEST(LibraryFunctionTest, MistakesNameTheFunction) {
  const auto status = [](const std::function<void(Graph&)>& build) {
    Graph g;
    build(g);
    EXPECT_EQ(g.status().code(), StatusCode::kInvalidArgument);
    return std::string(g.status().message());
  };
  EXPECT_NE(status([](Graph& g) {
              DefineFunction(g, "f", {{kFloat32, {2}}, {kFloat32, {3}}},
                             [](Graph&, const Outputs& args) { return Outputs{args[0] + args[1]}; });
            }).find("function 'f'"),
            std::string::npos);
  EXPECT_NE(status([](Graph& g) {
              DefineFunction(g, "f", {}, [](Graph& body, const Outputs&) {
                return Outputs{Variable(body, {}, Ones(), {.name = "inside"}).value()};
              });
            }).find("'inside'"),
            std::string::npos);
  EXPECT_NE(status([](Graph& g) {
              const auto f = DefineFunction(g, "f", {{kFloat32, {}}}, [](Graph&, const Outputs& args) { return args; });
              CallFunction(g, f, {Operand(Tensor::Scalar(int32_t{1})).ToOutput(g)});
            }).find("argument 0 must be float32, got int32"),
            std::string::npos);
  EXPECT_NE(status([](Graph& g) {
              const auto f = DefineFunction(g, "f", {{kFloat32, {}}}, [](Graph&, const Outputs& args) { return args; });
              CallFunction(g, f, {});
            }).find("it has 1 arguments, got 0"),
            std::string::npos);
}

TEST(LibraryFunctionTest, AnUnrelatedGraphIsNotCaptured) {
  Graph g, other;
  const Output foreign = Float(other, 1);
  DefineFunction(g, "f", {{kFloat32, {}}}, [&](Graph&, const Outputs& args) { return Outputs{args[0] + foreign}; });
  EXPECT_NE(g.status().message().find("belongs to another graph"), absl::string_view::npos) << g.status();
}

TEST(LibraryFunctionTest, ATensorOfAFinishedBodyIsRefused) {
  Graph g;
  Output kept;
  DefineFunction(g, "f", {{kFloat32, {}}}, [&](Graph&, const Outputs& args) {
    kept = args[0];
    return args;
  });
  ASSERT_TRUE(g.status().ok());
  NodeBuilder(g, "Identity").Input(kept).Finish();
  EXPECT_EQ(g.status().code(), StatusCode::kFailedPrecondition) << g.status();
}

TEST(LibraryFunctionTest, FunctionsTravelWithTheGraphDef) {
  Graph g;
  const auto f = DefineFunction(g, "f", {{kFloat32, {}}}, [](Graph& body, const Outputs& args) {
    return Outputs{Split(args[0] + Operand(Tensor::Vector<float>({1, 2})).ToOutput(body), 2, 0)[1]};
  });
  CallFunction(g, f, {1.0}, "call");
  const auto def = g.ToGraphDef();
  ASSERT_TRUE(def.ok()) << def.status();
  Graph again;
  ASSERT_TRUE(again.ImportGraphDef(*def).ok());
  auto session = Session::Create(again).value();
  const auto r = session->Run({again.FindOutput("call:0").value()});
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ((*r)[0].data<float>()[0], 3);
}

}  // namespace
}  // namespace tensorbraid
