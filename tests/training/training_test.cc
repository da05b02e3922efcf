// Compares optimizers, schedules, initializers, clipping and averages with TensorFlow's values: see README.md.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "rows.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

Tensor Floats(const Json& values, const Shape& shape) {
  Tensor t(kFloat32, shape);
  auto data = t.mutable_data<float>();
  for (size_t i = 0; i < data.size(); ++i) data[i] = values.at(i).get<float>();
  return t;
}

Tensor Floats(const Json& values) { return Floats(values, Shape({static_cast<int64_t>(values.size())})); }

// Adds a failure if an element differs by more than `tolerance`, which is relative for expected values above 1.
void ExpectValues(const Tensor& got, const Json& want, double tolerance, const std::string& where) {
  ASSERT_EQ(got.num_elements(), static_cast<int64_t>(want.size())) << where;
  for (size_t i = 0; i < want.size(); ++i) {
    const double w = want[i].get<double>();
    EXPECT_NEAR(got.data<float>()[i], w, tolerance * std::max(1.0, std::abs(w))) << where << ", element " << i;
  }
}

std::unique_ptr<Session> Started(Graph& g, const std::string& where) {
  auto session = Session::Create(g);
  EXPECT_TRUE(session.ok()) << where << ": " << session.status();
  if (!session.ok()) return nullptr;
  const Status status = (*session)->Run({GlobalVariablesInitializer(g)}).status();
  EXPECT_TRUE(status.ok()) << where << ": " << status;
  return *std::move(session);
}

double Number(const Json& options, const char* name, double otherwise) { return options.value(name, otherwise); }

std::unique_ptr<Optimizer> MakeOptimizer(const std::string& name, const Json& o, const Variable& step) {
  const double rate = o.at("learning_rate").get<double>();
  const double l1 = Number(o, "l1_regularization_strength", 0), l2 = Number(o, "l2_regularization_strength", 0);
  if (name == "GradientDescent") return std::make_unique<GradientDescentOptimizer>(rate);
  if (name == "Momentum") {
    return std::make_unique<MomentumOptimizer>(rate, o.at("momentum").get<double>(),
                                               MomentumOptions{.use_nesterov = o.value("use_nesterov", false)});
  }
  if (name == "Adagrad") {
    return std::make_unique<AdagradOptimizer>(
        rate, AdagradOptions{.initial_accumulator_value = Number(o, "initial_accumulator_value", 0.1)});
  }
  if (name == "Adadelta") {
    return std::make_unique<AdadeltaOptimizer>(
        rate, AdadeltaOptions{.rho = Number(o, "rho", 0.95), .epsilon = Number(o, "epsilon", 1e-8)});
  }
  if (name == "Adam") {
    return std::make_unique<AdamOptimizer>(rate, AdamOptions{.beta1 = Number(o, "beta1", 0.9),
                                                             .beta2 = Number(o, "beta2", 0.999),
                                                             .epsilon = Number(o, "epsilon", 1e-8)});
  }
  if (name == "RMSProp") {
    return std::make_unique<RMSPropOptimizer>(rate, RMSPropOptions{.decay = Number(o, "decay", 0.9),
                                                                   .momentum = Number(o, "momentum", 0),
                                                                   .epsilon = Number(o, "epsilon", 1e-10),
                                                                   .centered = o.value("centered", false)});
  }
  if (name == "Ftrl") {
    return std::make_unique<FtrlOptimizer>(
        rate,
        FtrlOptions{.learning_rate_power = Number(o, "learning_rate_power", -0.5),
                    .initial_accumulator_value = Number(o, "initial_accumulator_value", 0.1),
                    .l1_regularization_strength = l1,
                    .l2_regularization_strength = l2,
                    .l2_shrinkage_regularization_strength = Number(o, "l2_shrinkage_regularization_strength", 0)});
  }
  if (name == "AdagradDA") {
    return std::make_unique<AdagradDAOptimizer>(
        rate, step,
        AdagradDAOptions{
            .initial_gradient_squared_accumulator_value = Number(o, "initial_gradient_squared_accumulator_value", 0.1),
            .l1_regularization_strength = l1,
            .l2_regularization_strength = l2});
  }
  if (name == "ProximalGradientDescent") {
    return std::make_unique<ProximalGradientDescentOptimizer>(
        rate, ProximalGradientDescentOptions{.l1_regularization_strength = l1, .l2_regularization_strength = l2});
  }
  if (name == "ProximalAdagrad") {
    return std::make_unique<ProximalAdagradOptimizer>(
        rate, ProximalAdagradOptions{.initial_accumulator_value = Number(o, "initial_accumulator_value", 0.1),
                                     .l1_regularization_strength = l1,
                                     .l2_regularization_strength = l2});
  }
  return nullptr;
}

TEST(TrainingTest, TwentyStepsOfEachOptimizerMatchTensorFlow) {
  for (const Json& row : Rows("optimizers")) {
    const std::string name = row.at("optimizer").get<std::string>(), where = name + " " + row.at("options").dump();
    Graph g;
    const Variable step = GetOrCreateGlobalStep(g);
    const Tensor start = Floats(row.at("start"));
    const Variable w(g, start.shape(), Constant(start), {.name = "w"});
    const Output target = Placeholder(g, kFloat32, start.shape(), "target");
    const auto optimizer = MakeOptimizer(name, row.at("options"), step);
    ASSERT_NE(optimizer, nullptr) << name;
    const Operation train = optimizer->Minimize(ReduceSum(Square(w - target)), {.global_step = step});
    auto session = Started(g, where);
    ASSERT_NE(session, nullptr);
    ASSERT_EQ(row.at("values").size(), 20u);
    for (size_t i = 0; i < row.at("values").size(); ++i) {
      const Status status = session->Run({train}, {{target, Floats(row.at("targets")[i])}}).status();
      ASSERT_TRUE(status.ok()) << where << ": " << status;
      const auto value = session->Run({w});
      ASSERT_TRUE(value.ok()) << where << ": " << value.status();
      ExpectValues((*value)[0], row.at("values")[i], 2e-6, where + ", step " + std::to_string(i + 1));
    }
  }
}

Output MakeSchedule(const std::string& name, const Json& o, const Variable& step) {
  if (name == "piecewise_constant") {
    return PiecewiseConstant(step, o.at("boundaries").get<std::vector<int64_t>>(),
                             o.at("values").get<std::vector<double>>());
  }
  const bool staircase = o.value("staircase", false);
  if (name == "exponential") return ExponentialDecay(0.5, step, 10, o.at("decay_rate").get<double>(), staircase);
  if (name == "natural_exp") return NaturalExpDecay(0.5, step, 10, o.at("decay_rate").get<double>(), staircase);
  if (name == "inverse_time") return InverseTimeDecay(0.5, step, 10, o.at("decay_rate").get<double>(), staircase);
  if (name == "polynomial") {
    return PolynomialDecay(0.5, step, 10,
                           {.end_learning_rate = Number(o, "end_learning_rate", 0.0001),
                            .power = Number(o, "power", 1.0),
                            .cycle = o.value("cycle", false)});
  }
  if (name == "cosine") return CosineDecay(0.5, step, 10, Number(o, "alpha", 0));
  if (name == "cosine_restarts") {
    return CosineDecayRestarts(
        0.5, step, 10,
        {.t_mul = Number(o, "t_mul", 2), .m_mul = Number(o, "m_mul", 1), .alpha = Number(o, "alpha", 0)});
  }
  const double periods = Number(o, "num_periods", 0.5), alpha = Number(o, "alpha", 0), beta = Number(o, "beta", 0.001);
  if (name == "linear_cosine") {
    return LinearCosineDecay(0.5, step, 10, {.num_periods = periods, .alpha = alpha, .beta = beta});
  }
  if (name == "noisy_linear_cosine") {
    return NoisyLinearCosineDecay(
        0.5, step, 10,
        {.initial_variance = Number(o, "initial_variance", 1), .num_periods = periods, .alpha = alpha, .beta = beta});
  }
  return {};
}

TEST(TrainingTest, SchedulesMatchTensorFlow) {
  for (const Json& row : Rows("schedules")) {
    const std::string name = row.at("schedule").get<std::string>(), where = name + " " + row.at("options").dump();
    Graph g;
    const Variable step = GetOrCreateGlobalStep(g);
    const Output rate = MakeSchedule(name, row.at("options"), step);
    ASSERT_TRUE(rate.valid()) << where << ": " << g.status();
    EXPECT_EQ(rate.dtype(), kFloat32);
    auto session = Started(g, where);
    ASSERT_NE(session, nullptr);
    for (size_t i = 0; i < row.at("steps").size(); ++i) {
      const auto s = row.at("steps")[i].get<int64_t>();
      const auto value = session->Run({rate}, {{step.value(), Tensor::Scalar<int64_t>(s)}});
      ASSERT_TRUE(value.ok()) << where << ": " << value.status();
      // TensorFlow computes in float32.
      EXPECT_NEAR((*value)[0].scalar<float>(), row.at("values")[i].get<double>(), 2e-6) << where << ", step " << s;
    }
  }
}

TEST(TrainingTest, TheNoiseOfAScheduleHasTheInitialVariance) {
  // The global step stays 0, so the variance of the noise is initial_variance, which is 1 by default.
  Graph g;
  g.SetRandomSeed(1);
  const Variable step = GetOrCreateGlobalStep(g);
  const Output quiet = LinearCosineDecay(1.0, step, 1000);
  const Output noisy = NoisyLinearCosineDecay(1.0, step, 1000, {.seed = 3});
  auto session = Started(g, "noise");
  ASSERT_NE(session, nullptr);
  double sum = 0, squares = 0;
  constexpr int kRuns = 400;
  for (int i = 0; i < kRuns; ++i) {
    const auto values = session->Run({quiet, noisy});
    ASSERT_TRUE(values.ok()) << values.status();
    const double noise = (*values)[1].scalar<float>() - (*values)[0].scalar<float>();
    sum += noise;
    squares += noise * noise;
  }
  EXPECT_NEAR(sum / kRuns, 0, 0.2);
  EXPECT_NEAR(squares / kRuns, 1, 0.3);
}

TEST(TrainingTest, WarmUpRisesToTheRate) {
  Graph g;
  const Variable step = GetOrCreateGlobalStep(g);
  const Output fixed = WarmUp(0.8, step, 4, 0.5);
  const Output falling = WarmUp(PiecewiseConstant(step, {2}, {1.0, 0.5}), step, 4);
  WarmUp(0.8, step, 4);
  auto session = Started(g, "warm-up");
  ASSERT_NE(session, nullptr);
  const std::vector<float> of_fixed = {0.4f, 0.5f, 0.6f, 0.7f, 0.8f, 0.8f},
                           of_falling = {0, 0.25f, 0.5f, 0.375f, 0.5f, 0.5f};
  for (int64_t s = 0; s < 6; ++s) {
    const auto values = session->Run({fixed, falling}, {{step.value(), Tensor::Scalar<int64_t>(s)}});
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_FLOAT_EQ((*values)[0].scalar<float>(), of_fixed[s]) << s;
    EXPECT_FLOAT_EQ((*values)[1].scalar<float>(), of_falling[s]) << s;
  }
  Graph h;
  EXPECT_FALSE(WarmUp(0.8, GetOrCreateGlobalStep(h), 0).valid());
  EXPECT_NE(h.status().message().find("training_test.cc:"), absl::string_view::npos) << h.status();
  EXPECT_NE(h.status().message().find("warmup_steps must be positive"), absl::string_view::npos) << h.status();
}

Initializer MakeInitializer(const std::string& name, const Json& o, int64_t seed) {
  const double mean = Number(o, "mean", 0), stddev = Number(o, "stddev", 1);
  if (name == "random_uniform") return RandomUniform(o.at("minval").get<double>(), o.at("maxval").get<double>(), seed);
  if (name == "random_normal") return RandomNormal(mean, stddev, seed);
  if (name == "truncated_normal") return TruncatedNormal(mean, stddev, seed);
  if (name == "glorot_uniform") return GlorotUniform(seed);
  if (name == "glorot_normal") return GlorotNormal(seed);
  if (name == "he_uniform") return HeUniform(seed);
  if (name == "he_normal") return HeNormal(seed);
  if (name == "lecun_uniform") return LecunUniform(seed);
  if (name == "lecun_normal") return LecunNormal(seed);
  if (name == "orthogonal") return Orthogonal(Number(o, "gain", 1), seed);
  if (name == "identity") return IdentityMatrix(Number(o, "gain", 1));
  if (name == "variance_scaling") {
    const bool uniform = o.at("distribution") == "uniform";
    return VarianceScaling(
        {.scale = o.at("scale").get<double>(),
         .mode = o.at("mode") == "fan_out" ? FanMode::kFanOut : FanMode::kFanAverage,
         .distribution = uniform ? ScalingDistribution::kUniform : ScalingDistribution::kUntruncatedNormal,
         .seed = seed});
  }
  return nullptr;
}

TEST(TrainingTest, InitializersGiveTensorFlowsValuesForEqualSeeds) {
  for (const Json& row : Rows("initializers")) {
    const std::string name = row.at("initializer").get<std::string>(), where = name + " " + row.dump().substr(0, 150);
    Graph g;
    g.SetRandomSeed(row.at("graph_seed").get<int64_t>());
    const Initializer initializer = MakeInitializer(name, row.at("options"), row.at("seed").get<int64_t>());
    ASSERT_TRUE(initializer) << where;
    const Variable v(g, Shape(row.at("shape").get<std::vector<int64_t>>()), initializer, {.name = "v"});
    auto session = Started(g, where);
    ASSERT_NE(session, nullptr);
    const auto value = session->Run({v});
    ASSERT_TRUE(value.ok()) << value.status();
    // Uniform numbers need only a few roundings. The other initializers use functions such as logarithms, or
    // decompositions, whose results may differ a little more from TensorFlow's.
    ExpectValues((*value)[0], row.at("values"), name.ends_with("uniform") ? 3e-7 : 5e-6, where);
  }
}

TEST(TrainingTest, InitializersRefuseWhatTheyCannotFill) {
  const auto mistake = [](const Initializer& initializer, const Shape& shape, DType dtype) {
    Graph g;
    EXPECT_FALSE(Variable(g, shape, initializer, {.name = "v", .dtype = dtype}).valid());
    EXPECT_TRUE(absl::IsInvalidArgument(g.status())) << g.status();
  };
  mistake(Orthogonal(), {3}, kFloat32);
  mistake(Orthogonal(), {3, 3}, kInt32);
  mistake(IdentityMatrix(), {3}, kFloat32);
  mistake(HeNormal(), {3, 3}, kInt32);
  mistake(VarianceScaling({.scale = 0}), {3, 3}, kFloat32);
  Graph g;
  EXPECT_EQ(Variable(g, {3, 3}, Orthogonal(), {.dtype = kBfloat16}).dtype(), kBfloat16);
  EXPECT_EQ(Variable(g, {3, 3}, IdentityMatrix(), {.dtype = kInt32}).dtype(), kInt32);
  EXPECT_TRUE(g.status().ok()) << g.status();
}

TEST(TrainingTest, ClippingMatchesTensorFlow) {
  for (const Json& row : Rows("clipping")) {
    const std::string kind = row.at("clip").get<std::string>(), where = row.dump();
    Graph g;
    std::vector<Output> tensors;
    for (size_t i = 0; i < row.at("tensors").size(); ++i) {
      const Shape shape(row.at("shapes")[i].get<std::vector<int64_t>>());
      tensors.push_back(Const(g, Floats(row.at("tensors")[i], shape)));
    }
    const double argument = row.at("arguments")[0].get<double>();
    std::vector<Output> clipped;
    if (kind == "global_norm") {
      GlobalNormClip all = ClipByGlobalNorm(tensors, argument);
      clipped = all.tensors;
      clipped.push_back(all.norm);
    } else {
      for (const Output& t : tensors) {
        clipped.push_back(kind == "value"  ? ClipByValue(t, argument, row.at("arguments")[1].get<double>())
                          : kind == "norm" ? ClipByNorm(t, argument)
                                           : ClipByNorm(t, argument, /*axes=*/1));
      }
    }
    auto session = Started(g, where);
    ASSERT_NE(session, nullptr);
    ASSERT_EQ(clipped.size(), row.at("values").size()) << where;
    for (size_t i = 0; i < clipped.size(); ++i) {
      const auto value = session->Run({clipped[i]});
      ASSERT_TRUE(value.ok()) << where << ": " << value.status();
      ExpectValues((*value)[0], row.at("values")[i], 1e-6, where);
    }
  }
}

TEST(TrainingTest, GradientsAreClippedTogetherAndInfiniteOnesBecomeNan) {
  Graph g;
  const Variable a(g, {2}, Ones(), {.name = "a"}), b(g, {}, Ones(), {.name = "b"}),
      unused(g, {}, Ones(), {.name = "u"});
  const Output factor = Placeholder(g, kFloat32, {}, "factor");
  GradientDescentOptimizer optimizer(1.0);
  const auto grads = optimizer.ComputeGradients(ReduceSum(a * 2.0) + b * factor);
  ASSERT_TRUE(grads.ok()) << grads.status();
  Output norm;
  const std::vector<GradAndVar> clipped = ClipByGlobalNorm(*grads, 1.5, &norm);
  ASSERT_EQ(clipped.size(), 3u);
  EXPECT_FALSE(clipped[2].grad.valid());
  EXPECT_EQ(clipped[1].var, b);
  const std::vector<GradAndVar> by_value = ClipByValue(*grads, -0.5, 0.5), by_norm = ClipByNorm(*grads, 0.5);
  EXPECT_FALSE(by_value[2].grad.valid());
  EXPECT_FALSE(by_norm[2].grad.valid());
  const Operation train = optimizer.ApplyGradients(clipped);
  auto session = Started(g, "clip");
  ASSERT_NE(session, nullptr);
  const auto fed = [&](float value) { return std::vector<Feed>{{factor, Tensor::Scalar(value)}}; };
  auto values = session->Run({norm, train}, fed(1.0f));
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_FLOAT_EQ((*values)[0].scalar<float>(), 3.0f);  // the norm of (2, 2, 1)
  values = session->Run({a, b});
  EXPECT_FLOAT_EQ((*values)[0].data<float>()[0], 0.0f);
  EXPECT_FLOAT_EQ((*values)[1].scalar<float>(), 0.5f);
  ASSERT_TRUE(session->Run({train}, fed(std::numeric_limits<float>::infinity())).ok());
  EXPECT_TRUE(std::isnan((*session->Run({a}))[0].data<float>()[0]));
}

TEST(TrainingTest, MovingAveragesMatchTensorFlow) {
  for (const Json& row : Rows("averages")) {
    const Json& o = row.at("options");
    const std::string where = o.dump();
    Graph g;
    const Output fed = Placeholder(g, kFloat32, {2}, "fed");
    const Variable n(g, {}, Zeros(), {.name = "n", .dtype = kInt64});
    const Variable w(g, {2}, Constant(Tensor::Vector<float>({1, 2})), {.name = "w"});
    MovingAverageOptions options{.zero_debias = o.value("zero_debias", false)};
    const std::vector<Operation> before = {w.Assign(fed), n.AssignAdd(1)};
    std::optional<ScopeGuard> after(g.ControlDependencies(before));
    if (o.contains("num_updates")) options.num_updates = n;  // as it is after these operations
    ExponentialMovingAverage ema(o.at("decay").get<double>(), options);
    EXPECT_FALSE(ema.Average(w).valid());
    const Output tensor = Mul(fed, 2.0, "twice");
    const Operation apply = Group(g, {ema.Apply(std::vector<Variable>{w}), ema.Apply(std::vector<Output>{tensor})});
    after.reset();
    ASSERT_TRUE(g.status().ok()) << where << ": " << g.status();
    EXPECT_EQ(ema.AverageName(w), row.at("name").get<std::string>());
    EXPECT_EQ(ema.Average(w).name(), ema.AverageName(w));
    EXPECT_FALSE(ema.Average(w).trainable());
    auto session = Started(g, where);
    ASSERT_NE(session, nullptr);
    for (size_t i = 0; i < row.at("inputs").size(); ++i) {
      const Status status = session->Run({apply}, {{fed, Floats(row.at("inputs")[i])}}).status();
      ASSERT_TRUE(status.ok()) << where << ": " << status;
      const auto values = session->Run({ema.Average(w), ema.Average(tensor)});
      ASSERT_TRUE(values.ok()) << where << ": " << values.status();
      for (int k = 0; k < 2; ++k) ExpectValues((*values)[k], row.at("values")[i][k], 2e-6, where);
    }
  }
}

TEST(TrainingTest, VariablesToRestoreUseTheAverages) {
  Graph g;
  const Variable w(g, {}, Ones(), {.name = "w"}), fixed(g, {}, Ones(), {.name = "fixed", .trainable = false});
  ExponentialMovingAverage ema(0.9);
  const auto names = [&] {
    std::vector<std::string> list;
    for (const SavedVariable& v : ema.VariablesToRestore(g)) list.push_back(v.variable.name() + "=" + v.name);
    return list;
  };
  const std::vector<std::string> want = {"w=w/ExponentialMovingAverage", "fixed=fixed"};
  EXPECT_EQ(names(), want);
  ASSERT_TRUE(ema.Apply({w}).valid());
  EXPECT_EQ(names(), want);
  Graph h;
  const Variable count(h, {}, Zeros(), {.name = "count", .dtype = kInt64});
  EXPECT_FALSE(ema.Apply({count}).valid());
  EXPECT_TRUE(absl::IsInvalidArgument(h.status())) << h.status();
}

}  // namespace
}  // namespace tensorbraid
