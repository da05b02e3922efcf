// Tests ops that a program defines: mistakes in definitions, shape rules, gradients, kernels and what kernels keep.
#include "tensorbraid/custom_op/custom_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {
namespace {

using absl::StatusCode;
using ::testing::HasSubstr;

StatusOr<std::vector<Tensor>> ValuesOf(Graph& g, const std::vector<Fetch>& fetches) {
  TF_ASSIGN_OR_RETURN(auto session, Session::Create(g));
  return session->Run(fetches);
}

Output Vector(Graph& g, const std::vector<float>& values) { return Operand(Tensor::Vector(values)).ToOutput(g); }

Status UnchangedShapeRule(OpShapeContext& c) {
  c.set_output(0, c.input(0));
  return OkStatus();
}

// y = factor * x * x.
Status ComputeSquare(OpKernelContext& c) {
  const Tensor& x = c.input(0);
  TF_ASSIGN_OR_RETURN(Tensor * y, c.ForwardOrAllocateOutput({0}, 0, x.shape()));
  const float factor = c.attr<float>("factor");
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const float value = x.data<float>()[i];
    y->mutable_data<float>()[i] = factor * value * value;
  }
  return OkStatus();
}

CustomOp Square(const std::string& name) {
  return CustomOp(name)
      .Input("x: float")
      .Output("y: float")
      .Attr("factor: float = 1.0")
      .Shape(UnchangedShapeRule)
      .Gradient([](const Operation& op, const std::vector<Output>& grads) -> std::vector<Output> {
        return {grads[0] * op.input(0) * (2 * *op.attr("factor")->get<float>())};
      })
      .KernelFunction({}, ComputeSquare);
}

TEST(CustomOpTest, AnOpHasItsShapeRuleKernelAndGradient) {
  ASSERT_EQ(RegisterOp(Square("TestSquare")), OkStatus());
  Graph g;
  const Output x = Vector(g, {1, 2, 3});
  const Output y = NodeBuilder(g, "TestSquare").Input(x).Attr("factor", 0.5).Output();
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(y.shape(), Shape({3}));
  const auto gradients = Gradients({y}, {x});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  const auto values = ValuesOf(g, {y, (*gradients)[0]});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_THAT((*values)[0].data<float>(), testing::ElementsAre(0.5, 2, 4.5));
  EXPECT_THAT((*values)[1].data<float>(), testing::ElementsAre(1, 2, 3));
}

TEST(CustomOpTest, AGraphDefCarriesTheOpByName) {
  ASSERT_EQ(RegisterOp(Square("TestCarried")), OkStatus());
  Graph g;
  NodeBuilder(g, "TestCarried").Name("y").Input(Vector(g, {3})).Output();
  Graph copy;
  ASSERT_EQ(copy.ImportGraphDef(g.ToGraphDef().value()), OkStatus());
  const auto values = ValuesOf(copy, {copy.FindOutput("y:0").value()});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ((*values)[0].data<float>()[0], 9);
}

TEST(CustomOpTest, ANameCanBeTakenOnce) {
  ASSERT_EQ(RegisterOp(Square("TestTwice")), OkStatus());
  for (const std::string& name : {std::string("TestTwice"), std::string("MatMul")}) {
    const Status again = RegisterOp(Square(name));
    EXPECT_EQ(again.code(), StatusCode::kAlreadyExists) << again;
    EXPECT_THAT(again.message(), HasSubstr("custom op '" + name + "': an op of that name exists"));
  }
}

TEST(CustomOpTest, AllOpsAreAddedOrNone) {
  EXPECT_EQ(RegisterOps({Square("TestBefore"), Square("MatMul")}).code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(RegisterOps({Square("TestBefore"), Square("TestBefore")}).code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(RegisterOps({Square("TestBefore"), CustomOp("wrong")}).code(), StatusCode::kInvalidArgument);
  Graph g;
  NodeBuilder(g, "TestBefore").Input(Vector(g, {1})).Output();
  EXPECT_EQ(g.status().code(), StatusCode::kNotFound) << g.status();
}

TEST(CustomOpTest, MistakesInDefinitionsAreNamed) {
  const auto message = [](const CustomOp& op) {
    const Status s = RegisterOp(op);
    EXPECT_EQ(s.code(), StatusCode::kInvalidArgument) << s;
    return std::string(s.message());
  };
  const auto op = [] { return CustomOp("TestMistake").Output("y: float"); };
  EXPECT_THAT(message(CustomOp("")), HasSubstr("'' is not a name of an op"));
  EXPECT_THAT(message(CustomOp("lower")), HasSubstr("must begin with a capital letter"));
  EXPECT_THAT(message(CustomOp("_Mine")), HasSubstr("must begin with a capital letter"));
  EXPECT_THAT(message(op().Input("x")), HasSubstr("cannot read 'x': expected 'name: type'"));
  EXPECT_THAT(message(op().Input("x:")), HasSubstr("no type is given"));
  EXPECT_THAT(message(op().Input("1x: float")), HasSubstr("begins with a letter"));
  EXPECT_THAT(message(op().Input("x: float?")), HasSubstr("neither a dtype nor an attribute"));
  EXPECT_THAT(message(op().Input("x: T")), HasSubstr("'x' refers to 'T', which is no attribute"));
  EXPECT_THAT(message(op().Input("x: T").Attr("T: int")), HasSubstr("the type of 'x' must be an attribute of type"));
  EXPECT_THAT(message(op().Input("x: N * float").Attr("N: float")), HasSubstr("the number of 'x' must be an int"));
  EXPECT_THAT(message(op().Output("y: int32")), HasSubstr("two of that name"));
  EXPECT_THAT(message(op().Attr("a: int").Attr("a: int")), HasSubstr("two attributes of that name"));
  EXPECT_THAT(message(op().Attr("a: integer")), HasSubstr("no attribute has the type 'integer'"));
  EXPECT_THAT(message(op().Attr("a: {float, flat}")), HasSubstr("'flat' is not a dtype"));
  EXPECT_THAT(message(op().Attr("a: int = one")), HasSubstr("'one' is not an integer"));
  EXPECT_THAT(message(op().Attr("a: int >= x")), HasSubstr("'x' is not an integer"));
  EXPECT_THAT(message(op().Attr("a: bool = yes")), HasSubstr("a bool is true or false"));
  EXPECT_THAT(message(op().Attr("a: float = 1.0x")), HasSubstr("'1.0x' is not a number"));
  EXPECT_THAT(message(op().Attr("a: string = abc")), HasSubstr("a string is written as 'text'"));
  EXPECT_THAT(message(op().Attr("a: list(int) = 1, 2")), HasSubstr("a list is written as [a, b]"));
  EXPECT_THAT(message(op().Attr("a: {'x', 'y'} = 'z'")), HasSubstr("attribute 'a' does not allow its default"));
  EXPECT_THAT(message(op().Attr("a: int >= 2 = 1")), HasSubstr("attribute 'a' does not allow its default"));
  EXPECT_THAT(message(op().Input("x: Ref(float)")), HasSubstr("takes and returns values, not references"));
  EXPECT_THAT(message(Square("TestMistake").NotDifferentiable()),
              HasSubstr("has a gradient and is not differentiable"));
  const auto of_t = [&] { return op().Attr("T: {float, double}").Attr("n: int"); };
  const auto none = [](OpKernelContext&) { return OkStatus(); };
  EXPECT_THAT(message(of_t().KernelFunction({{"U", {kFloat32}}}, none)), HasSubstr("dtypes of 'U'"));
  EXPECT_THAT(message(of_t().KernelFunction({{"n", {kFloat32}}}, none)), HasSubstr("dtypes of 'n'"));
  EXPECT_THAT(message(of_t().KernelFunction({{"T", {kInt32}}}, none)), HasSubstr("T = int32"));
  EXPECT_THAT(message(op().Kernel({}, OpKernelFactory())), HasSubstr("a kernel has no factory"));
}

TEST(CustomOpTest, AShapeRuleRefusesInputs) {
  ASSERT_EQ(RegisterOp(CustomOp("TestPairs")
                           .Input("x: float")
                           .Input("n: int32")
                           .Output("y: float")
                           .Shape([](OpShapeContext& c) -> Status {
                             TF_ASSIGN_OR_RETURN(const Shape matrix, c.WithRank(0, 2));
                             const Tensor n = c.input_value(1);
                             if (n.is_valid() && n.scalar<int32_t>() < 0) {
                               return absl::InvalidArgumentError("n must not be negative");
                             }
                             c.set_output(0, Shape({matrix.dims()[1]}));
                             return OkStatus();
                           })),
            OkStatus());
  Graph g;
  const Output matrix = Placeholder(g, kFloat32, {-1, 4});
  EXPECT_EQ(NodeBuilder(g, "TestPairs").Input(matrix).Input(Operand(1).ToOutput(g)).Output().shape(), Shape({4}));
  NodeBuilder(g, "TestPairs").Input(matrix).Input(Operand(-1).ToOutput(g)).Output();
  const Status negative = g.TakeStatus();
  EXPECT_EQ(negative.code(), StatusCode::kInvalidArgument) << negative;
  EXPECT_THAT(negative.message(), HasSubstr("n must not be negative"));
  NodeBuilder(g, "TestPairs").Input(Vector(g, {1})).Input(Operand(1).ToOutput(g)).Output();
  EXPECT_EQ(g.TakeStatus().code(), StatusCode::kInvalidArgument);
}

TEST(CustomOpTest, ARuleThatThrowsIsAnError) {
  ASSERT_EQ(RegisterOp(CustomOp("TestThrowingRule").Output("y: float").Shape([](OpShapeContext& c) {
              c.set_output(1, Shape());
              return OkStatus();
            })),
            OkStatus());
  Graph g;
  NodeBuilder(g, "TestThrowingRule").Output();
  EXPECT_EQ(g.status().code(), StatusCode::kInternal);
  EXPECT_THAT(g.status().message(), HasSubstr("the shape rule has thrown an exception: the node has no output 1"));
}

TEST(CustomOpTest, WrongGradientsAreErrors) {
  const auto error = [](const std::string& name, const GradientFunction& gradient) {
    EXPECT_EQ(RegisterOp(Square(name).Gradient(gradient)), OkStatus());
    Graph g;
    const Output x = Vector(g, {1, 2});
    const auto gradients = Gradients({NodeBuilder(g, name).Input(x).Output()}, {x});
    EXPECT_FALSE(gradients.ok());
    return std::string(gradients.status().message());
  };
  EXPECT_THAT(error("TestNoGradients", [](const auto&, const auto&) { return std::vector<Output>(); }),
              HasSubstr("must return a gradient for each of its 1 inputs, but returns 0"));
  EXPECT_THAT(error("TestThrowingGradient",
                    [](const auto&, const auto&) -> std::vector<Output> { throw std::runtime_error("no idea"); }),
              HasSubstr("the gradient function has thrown an exception: no idea"));
  EXPECT_THAT(error("TestReportingGradient",
                    [](const Operation& op, const auto&) {
                      op.graph()->AddError(absl::UnimplementedError("not for this scale"));
                      return std::vector<Output>();
                    }),
              HasSubstr("not for this scale"));
  EXPECT_THAT(error("TestWithoutGradient", nullptr), HasSubstr("no gradient is defined for TestWithoutGradient"));
}

TEST(CustomOpTest, NoGradientFlowsThroughAnOpThatIsNotDifferentiable) {
  ASSERT_EQ(RegisterOp(Square("TestStops").Gradient(nullptr).NotDifferentiable()), OkStatus());
  Graph g;
  const Output x = Vector(g, {1, 2});
  const auto gradients = Gradients({NodeBuilder(g, "TestStops").Input(x).Output()}, {x});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  EXPECT_FALSE((*gradients)[0].valid());
}

TEST(CustomOpTest, FailingKernelsFailTheStepAlone) {
  struct Case {
    std::string op;
    StatusCode code;
    std::string text;
    std::function<Status(OpKernelContext&)> compute;
  };
  const std::vector<Case> cases = {
      {"TestError", StatusCode::kDataLoss, "lost", [](OpKernelContext&) { return absl::DataLossError("lost"); }},
      {"TestThrows", StatusCode::kInternal, "the kernel has thrown an exception: boom",
       [](OpKernelContext&) -> Status { throw std::runtime_error("boom"); }},
      {"TestThrowsNumber", StatusCode::kInternal, "the kernel has thrown an exception",
       [](OpKernelContext&) -> Status { throw 3; }},
      {"TestNoMemory", StatusCode::kResourceExhausted, "has run out of memory",
       [](OpKernelContext&) -> Status { throw std::bad_alloc(); }},
      {"TestNoOutput", StatusCode::kInternal, "has not set output 0", [](OpKernelContext&) { return OkStatus(); }},
      {"TestNoSuchInput", StatusCode::kInternal, "the node has no input 1",
       [](OpKernelContext& c) {
         c.set_output(0, c.input(1));
         return OkStatus();
       }},
      {"TestNoSuchAttr", StatusCode::kInternal, "the op has no attribute 'scale'",
       [](OpKernelContext& c) {
         c.attr<float>("scale");
         return OkStatus();
       }},
      {"TestOtherAttrType", StatusCode::kInternal, "the attribute 'factor' has another type",
       [](OpKernelContext& c) {
         c.attr<int64_t>("factor");
         return OkStatus();
       }},
      {"TestWrongDType", StatusCode::kInternal, "output 0 is float32, but the kernel has set it to int32",
       [](OpKernelContext& c) {
         c.set_output(0, Tensor::Scalar(int32_t{1}));
         return OkStatus();
       }},
      {"TestWrongShape", StatusCode::kInternal, "has the shape [3], but the op's shape rule says [2]",
       [](OpKernelContext& c) {
         c.set_output(0, Tensor::Vector<float>({1, 2, 3}));
         return OkStatus();
       }},
  };
  for (const Case& c : cases) {
    CustomOp op = CustomOp(c.op)
                      .Input("x: float")
                      .Output("y: float")
                      .Attr("factor: float = 1.0")
                      .Stateful()
                      .Shape(UnchangedShapeRule)
                      .KernelFunction({}, c.compute);
    ASSERT_EQ(RegisterOp(std::move(op)), OkStatus());
    Graph g;
    const Output good = Vector(g, {1, 2}) + 1.0;
    const Output bad = NodeBuilder(g, c.op).Name("bad").Input(good).Output();
    ASSERT_TRUE(g.status().ok()) << g.status();
    auto session = Session::Create(g).value();
    for (int i = 0; i < 2; ++i) {
      const Status s = session->Run({bad}).status();
      EXPECT_EQ(s.code(), c.code) << s;
      EXPECT_THAT(s.message(), HasSubstr("'bad'"));
      EXPECT_THAT(s.message(), HasSubstr(c.text));
    }
    EXPECT_TRUE(session->Run({good}).ok());
  }
}

class Needy : public OpKernel {
 public:
  static StatusOr<std::unique_ptr<OpKernel>> Create(const OpKernelConstruction& c) {
    if (c.input_dtype(0) != kFloat32) throw std::runtime_error("only float32 was built");
    if (c.attr<float>("factor") < 0) return absl::InvalidArgumentError("factor must not be negative");
    return std::unique_ptr<OpKernel>(new Needy);
  }
  Status Compute(OpKernelContext& c) override { return ComputeSquare(c); }
};

TEST(CustomOpTest, AFactoryMayRefuse) {
  ASSERT_EQ(RegisterOp(CustomOp("TestNeedy")
                           .Input("x: T")
                           .Output("y: T")
                           .Attr("T: {float, double, int32}")
                           .Attr("factor: float = 1.0")
                           .Kernel<Needy>({{"T", {kFloat32, kFloat64}}})),
            OkStatus());
  const auto run = [](const Tensor& x, float factor) {
    Graph g;
    return ValuesOf(g, {NodeBuilder(g, "TestNeedy").Input(Operand(x).ToOutput(g)).Attr("factor", factor).Output()})
        .status();
  };
  EXPECT_TRUE(run(Tensor::Scalar(2.0F), 1).ok());
  EXPECT_THAT(run(Tensor::Scalar(2.0F), -1).message(), HasSubstr("factor must not be negative"));
  EXPECT_THAT(run(Tensor::Scalar(2.0), 1).message(),
              HasSubstr("the kernel's factory has thrown an exception: only float32 was built"));
  EXPECT_THAT(run(Tensor::Scalar(int32_t{2}), 1).message(), HasSubstr("T must be float32, float64"));
}

struct Counter {
  std::atomic<int> count{0};
};
std::shared_ptr<Counter> NewCounter() { return std::make_shared<Counter>(); }

TEST(CustomOpTest, KernelsKeepObjectsInTheTask) {
  ASSERT_EQ(
      RegisterOps({CustomOp("TestCount")
                       .Output("n: int32")
                       .Stateful()
                       .KernelFunction({},
                                       [](OpKernelContext& c) -> Status {
                                         TF_ASSIGN_OR_RETURN(const auto counter,
                                                             c.FindOrCreate<Counter>("", "mine", NewCounter));
                                         c.set_output(0, Tensor::Scalar(int32_t{++counter->count}));
                                         return OkStatus();
                                       }),
                   CustomOp("TestCounter")
                       .Output("handle: resource")
                       .Stateful()
                       .KernelFunction({},
                                       [](OpKernelContext& c) {
                                         return c.FindOrCreateHandle<Counter>(0, "", c.node_name(), NewCounter);
                                       }),
                   CustomOp("TestAdd")
                       .Input("handle: resource")
                       .Output("n: int32")
                       .Stateful()
                       .KernelFunction({},
                                       [](OpKernelContext& c) -> Status {
                                         TF_ASSIGN_OR_RETURN(const auto counter, c.ObjectOf<Counter>(0));
                                         c.set_output(0, Tensor::Scalar(int32_t{counter->count += 10}));
                                         return OkStatus();
                                       }),
                   CustomOp("TestOtherType")
                       .Output("n: int32")
                       .Stateful()
                       .KernelFunction(
                           {},
                           [](OpKernelContext& c) -> Status {
                             return c.FindOrCreate<int>("", "mine", [] { return std::make_shared<int>(1); }).status();
                           })}),
      OkStatus());
  Graph g;
  const Output count = NodeBuilder(g, "TestCount").Output();
  const Output handle = NodeBuilder(g, "TestCounter").Output();
  const Output added = NodeBuilder(g, "TestAdd").Input(handle).Output();
  const Output other = NodeBuilder(g, "TestOtherType").Output();
  const Output foreign =
      NodeBuilder(g, "TestAdd")
          .Input(NodeBuilder(g, "VarHandleOp").Attr("dtype", kFloat32).Attr("shape", Shape()).Output())
          .Output();
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g).value();
  for (int step = 1; step <= 3; ++step) {
    const auto values = session->Run({count, added});
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_EQ((*values)[0].scalar<int32_t>(), step);
    EXPECT_EQ((*values)[1].scalar<int32_t>(), 10 * step);
  }
  EXPECT_THAT(session->Run({other}).status().message(), HasSubstr("the object has the type"));
  EXPECT_THAT(session->Run({foreign}).status().message(), HasSubstr("which is no object of a custom op"));
}

TEST(CustomOpTest, AKernelHasListsAndThreads) {
  ASSERT_EQ(RegisterOp(CustomOp("TestSumOfList")
                           .Input("values: N * float")
                           .Input("start: float")
                           .Output("sum: float")
                           .Attr("N: int >= 1")
                           .KernelFunction({},
                                           [](OpKernelContext& c) -> Status {
                                             TF_RETURN_IF_ERROR(c.CheckNotCancelled());
                                             const auto n = static_cast<int>(c.attr<int64_t>("N"));
                                             TF_ASSIGN_OR_RETURN(Tensor * sum, c.AllocateOutput(0, c.input(0).shape()));
                                             const auto out = sum->mutable_data<float>();
                                             const float start = c.input(n).scalar<float>();
                                             c.ParallelFor(sum->num_elements(), 1000, [&](int64_t begin, int64_t end) {
                                               for (int64_t i = begin; i < end; ++i) {
                                                 out[i] = start;
                                                 for (int k = 0; k < n; ++k) out[i] += c.input(k).data<float>()[i];
                                               }
                                             });
                                             return OkStatus();
                                           })),
            OkStatus());
  Graph g;
  const std::vector<float> ones(1000, 1);
  const Output sum = NodeBuilder(g, "TestSumOfList")
                         .InputList({Vector(g, ones), Vector(g, ones), Vector(g, ones)})
                         .Input(Operand(0.5).ToOutput(g))
                         .Output();
  const auto values = ValuesOf(g, {sum});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_THAT((*values)[0].data<float>(), testing::Each(3.5F));
}

TEST(CustomOpTest, AnOutputTakesTheMemoryOfAnInputThatNothingElseNeeds) {
  static std::atomic<int> taken{0};
  ASSERT_EQ(RegisterOp(CustomOp("TestInPlace")
                           .Input("x: float")
                           .Output("y: float")
                           .Stateful()
                           .KernelFunction({},
                                           [](OpKernelContext& c) -> Status {
                                             const void* const memory = c.input(0).raw_data();
                                             TF_ASSIGN_OR_RETURN(Tensor * y,
                                                                 c.ForwardOrAllocateOutput({0}, 0, c.input(0).shape()));
                                             if (y->raw_data() == memory) ++taken;
                                             return OkStatus();
                                           })),
            OkStatus());
  Graph g;
  const Output fed = Placeholder(g, kFloat32, {2});
  const Output sum = fed + 1.0;  // of no use once the op has run
  const Output y = NodeBuilder(g, "TestInPlace").Input(sum).Output();
  const auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({y}, {{fed, Tensor::Vector<float>({1, 2})}}).ok());
  EXPECT_EQ(taken, 1);
  ASSERT_TRUE(session->Run({y, sum}, {{fed, Tensor::Vector<float>({1, 2})}}).ok());
  EXPECT_EQ(taken, 1) << "the sum is fetched";
}

}  // namespace
}  // namespace tensorbraid
