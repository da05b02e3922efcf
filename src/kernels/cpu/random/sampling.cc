// Samples from distributions with parameters. Each sample has its own blocks of the stream, so that it does not depend
// on other samples. Equal seeds give TensorFlow's values, except for truncated normals, whose method differs.
#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <unsupported/Eigen/SpecialFunctions>
#include <vector>

#include "kernels/cpu/costs.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/random/distributions.h"
#include "kernels/cpu/random/streams.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

constexpr uint64_t kBlocksPerSample = Generator::kBlocksPerOutput;
// Rejection sampling normally takes a few attempts. This limit ends it for parameters that would never be accepted.
constexpr int kMostAttempts = 10'000;

template <typename R>
double Wide(R v) {
  if constexpr (kIsHalf<R>) {
    return static_cast<float>(v);
  } else {
    return static_cast<double>(v);
  }
}

template <typename T>
T Narrow(double v) {
  if constexpr (kIsHalf<T>) {
    return T(static_cast<float>(v));
  } else if constexpr (std::is_integral_v<T>) {
    if (!(v < static_cast<double>(std::numeric_limits<T>::max())))
      return std::isnan(v) ? T(0) : std::numeric_limits<T>::max();
    return static_cast<T>(v);
  } else {
    return static_cast<T>(v);
  }
}

// The uniform and normal numbers for one sample. Each block gives two numbers, which are used in reverse order.
class Draws {
 public:
  Draws(const Philox& philox, uint64_t first) : philox_(philox), next_(first) {}
  double Uniform() { return Take(uniform_, &uniforms_left_, cpu::Uniform<double>::Draw); }
  double Normal() { return Take(normal_, &normals_left_, StandardNormal<double>::Draw); }

 private:
  template <typename F>
  double Take(double* values, int* left, const F& draw) {
    if (*left == 0) {
      draw(philox_, next_++, values);
      *left = 2;
    }
    return values[--*left];
  }
  const Philox& philox_;
  uint64_t next_;
  double uniform_[2], normal_[2];
  int uniforms_left_ = 0, normals_left_ = 0;
};

// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.
double DrawGamma(double alpha, Draws& draws) {
  if (!(alpha > 0) || std::isinf(alpha)) return std::numeric_limits<double>::quiet_NaN();
  if (alpha == 1) return -std::log1p(-draws.Uniform());  // the exponential distribution
  const bool small = alpha < 1;                          // draw for alpha + 1, then correct the result
  const double d = alpha + (small ? 2.0 / 3 : -1.0 / 3);
  const double c = 1.0 / 3 / std::sqrt(d);
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const double x = draws.Normal();
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = draws.Uniform();
    if (u < 1 - 0.0331 * (x * x) * (x * x) || std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) {
      return small ? d * v * std::pow(draws.Uniform(), 1 / alpha) : d * v;
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

// Rates below 10 use a product of uniform numbers (Knuth), others use transformed rejection (Hoermann, "The transformed
// rejection method for generating Poisson random variables", 1993).
double DrawPoisson(double rate, double most, Draws& draws) {
  if (!std::isfinite(rate) || rate < 0) return std::numeric_limits<double>::quiet_NaN();
  if (rate < 10) {
    const double limit = std::exp(-rate);
    double product = 1;
    for (double x = 0;; x += 1) {
      product *= draws.Uniform();
      if (product <= limit || x > kMostAttempts) return x;
    }
  }
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * std::sqrt(rate);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const double u = draws.Uniform() - 0.5;
    const double v = draws.Uniform();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (k > most) continue;
    if (us >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    const double s = std::log(v * inverse_alpha / (a / (us * us) + b));
    if (s <= -rate + k * log_rate - std::lgamma(k + 1)) return k;
  }
  return most;
}

// Draws all samples. Parameters are the innermost dimension of the output, but in the stream the samples of one
// parameter are consecutive.
template <typename R, typename T, typename F>
void SampleEach(KernelContext& ctx, const Philox& philox, uint64_t first, const Tensor& parameters, Tensor* out,
                const F& draw) {
  const int64_t num = parameters.num_elements();
  if (out->num_elements() == 0) return;
  const int64_t samples = out->num_elements() / num;
  const R* p = parameters.data<R>().data();
  T* to = out->inplace_data<T>().data();
  Parallel(ctx, out->num_elements(), 100, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Draws draws(philox, first + static_cast<uint64_t>(i) * kBlocksPerSample);
      to[i % samples * num + i / samples] = Narrow<T>(draw(Wide(p[i / samples]), draws));
    }
  });
}

template <typename T>
double GammaOf(double alpha, Draws& draws) {
  return DrawGamma(alpha, draws);
}
template <typename T>
double PoissonOf(double rate, Draws& draws) {
  double most = std::numeric_limits<double>::max();
  if constexpr (kIsHalf<T>) most = 65504;  // of float16
  if constexpr (std::is_arithmetic_v<T>) most = static_cast<double>(std::numeric_limits<T>::max());
  return DrawPoisson(rate, most, draws);
}

// Inputs: the shape of the samples of each parameter, and the parameters.
template <typename R, typename T, double (*draw)(double, Draws&)>
class SampleKernel final : public Kernel, public StatefulKernel {
 public:
  explicit SampleKernel(const KernelConstruction& c) : generator_(c) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(Shape shape, RandomShapeFrom(ctx.input(0)));
    const Tensor& parameters = ctx.input(1);
    for (int64_t d : parameters.shape().dims()) shape.AddDim(d);
    if (shape.num_elements() < 0) return InvalidArgument("shape ", shape, " has too many elements");
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    const uint64_t first = generator_.ReserveOutputs(out->num_elements());
    SampleEach<R, T>(ctx, generator_.philox(), first, parameters, out, draw);
    return OkStatus();
  }

  KernelState* state() override { return &generator_; }

 private:
  Generator generator_;
};

// The input `shape` is the shape of the whole output; it ends with the shape of the parameters.
template <typename R, typename T, double (*draw)(double, Draws&)>
Status StatelessSample(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Shape shape, RandomShapeFrom(ctx.input(0)));
  const bool v3 = ctx.num_inputs() > 3;
  StreamStart stream;
  if (v3) {
    TF_ASSIGN_OR_RETURN(stream, StreamOfInputs(ctx, 1));
  } else {
    TF_ASSIGN_OR_RETURN(stream, StreamOfSeed(ctx.input(1)));
  }
  const Tensor& parameters = ctx.input(v3 ? 4 : 2);
  const int lead = shape.rank() - parameters.shape().rank();
  if (lead < 0 || Shape(shape.dims().subspan(lead)) != parameters.shape()) {
    return InvalidArgument("the shape must end with the shape of the parameters, ", parameters.shape(), ", got ",
                           shape);
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  SampleEach<R, T>(ctx, stream.philox(), 0, parameters, out, draw);
  return OkStatus();
}

// The derivative of a gamma sample with respect to its parameter alpha.
struct GammaGradF {
  static constexpr double kCostNs = 500;
  template <typename T>
  static T Apply(T alpha, T sample) {
    return Eigen::numext::gamma_sample_der_alpha(alpha, sample);
  }
};

// Samples class indices for each row of unnormalised log-probabilities.
template <typename T, typename I>
Status SampleClasses(KernelContext& ctx, const Philox& philox, uint64_t first) {
  const Tensor& logits = ctx.input(0);
  const int64_t rows = logits.shape().dim(0), classes = logits.shape().dim(1);
  const int64_t samples = ctx.input(1).scalar<int32_t>();
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {rows, samples}));
  if (out->num_elements() == 0) return OkStatus();
  PhiloxReader reader(philox, first);
  std::vector<double> sums(classes);
  I* to = out->inplace_data<I>().data();
  for (int64_t r = 0; r < rows; ++r) {
    const T* x = logits.data<T>().data() + r * classes;
    double most = -std::numeric_limits<double>::infinity();
    for (int64_t j = 0; j < classes; ++j) {
      if (std::isfinite(Wide(x[j]))) most = std::max(most, Wide(x[j]));
    }
    double total = 0;
    for (int64_t j = 0; j < classes; ++j) {
      if (std::isfinite(Wide(x[j]))) total += std::exp(Wide(x[j]) - most);
      sums[j] = total;
    }
    for (int64_t s = 0; s < samples; ++s) {
      const double wanted = reader.NextDouble() * total;
      *to++ = static_cast<I>(std::upper_bound(sums.begin(), sums.end(), wanted) - sums.begin());
    }
  }
  return OkStatus();
}

Status CheckMultinomial(KernelContext& ctx) {
  const Shape& logits = ctx.input(0).shape();
  if (logits.rank() != 2) return InvalidArgument("logits must be a matrix, got shape ", logits);
  if (!ctx.input(1).shape().is_scalar()) {
    return InvalidArgument("num_samples must be a scalar, got shape ", ctx.input(1).shape());
  }
  const int32_t samples = ctx.input(1).scalar<int32_t>();
  if (samples < 0) return InvalidArgument("num_samples must not be negative, got ", samples);
  if (logits.dim(1) <= 0) return InvalidArgument("num_classes should be positive, got logits ", logits);
  if (logits.dim(1) > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("there may be at most 2^31 - 1 classes, got logits ", logits);
  }
  return OkStatus();
}

template <typename T, typename I>
class MultinomialKernel final : public Kernel, public StatefulKernel {
 public:
  explicit MultinomialKernel(const KernelConstruction& c) : generator_(c) {}

  Status Compute(KernelContext& ctx) override {
    TF_RETURN_IF_ERROR(CheckMultinomial(ctx));
    // As in TensorFlow, each sample takes two 32-bit numbers, and the number of samples is rounded up to a multiple of
    // 4.
    const int64_t samples = (int64_t{ctx.input(1).scalar<int32_t>()} + 3) / 4 * 4 * 2;
    const uint64_t first = generator_.ReserveOutputs(ctx.input(0).shape().dim(0) * samples);
    return SampleClasses<T, I>(ctx, generator_.philox(), first);
  }

  KernelState* state() override { return &generator_; }

 private:
  Generator generator_;
};

template <typename T, typename I>
Status StatelessMultinomial(KernelContext& ctx) {
  TF_RETURN_IF_ERROR(CheckMultinomial(ctx));
  TF_ASSIGN_OR_RETURN(const StreamStart stream, StreamOfSeed(ctx.input(2)));
  return SampleClasses<T, I>(ctx, stream.philox(), 0);
}

// The quantile of the standard normal distribution.
double NormalQuantile(double p) { return Eigen::numext::ndtri(p); }
double NormalBelow(double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); }

// A standard normal number in (low, high). Uses the inverse of the cumulative distribution; in the tails, where that is
// imprecise, rejection from an exponential distribution (Robert, "Simulation of truncated normal variables", 1995).
double TruncatedNormalIn(double low, double high, Draws& draws) {
  if (low > 0 && low > 5) {
    const double rate = (low + std::sqrt(low * low + 4)) / 2;
    for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
      const double x = low - std::log1p(-draws.Uniform()) / rate;
      if (x < high && draws.Uniform() <= std::exp(-0.5 * (x - rate) * (x - rate))) return x;
    }
    return low + (std::min(high, low + 1 / rate) - low) * draws.Uniform();
  }
  if (high < -5) return -TruncatedNormalIn(-high, -low, draws);
  const double below = NormalBelow(low), above = NormalBelow(high);
  const double x = NormalQuantile(below + (above - below) * draws.Uniform());
  return std::clamp(x, low, high);
}

// Inputs: shape [batches, ...]; means, standard deviations and bounds, each with one value for all batches or one value
// per batch.
template <typename T>
class ParameterizedTruncatedNormalKernel final : public Kernel, public StatefulKernel {
 public:
  explicit ParameterizedTruncatedNormalKernel(const KernelConstruction& c) : generator_(c) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Shape shape, RandomShapeFrom(ctx.input(0)));
    if (shape.rank() == 0) return InvalidArgument("the shape must have at least one dimension");
    const int64_t batches = shape.dim(0);
    for (int i = 1; i < 5; ++i) {
      const Shape& s = ctx.input(i).shape();
      if (s.rank() > 1) return InvalidArgument("parameters must be scalars or vectors, got shape ", s);
      if (s.rank() == 1 && s.dim(0) != 1 && s.dim(0) != batches) {
        return InvalidArgument("parameters must have one element, or one for each of ", batches, " batches, got shape ",
                               s);
      }
    }
    const auto parameter = [&](int i, int64_t batch) {
      const auto values = ctx.input(i).data<T>();
      return Wide(values[values.size() == 1 ? 0 : batch]);
    };
    for (int64_t b = 0; b < batches; ++b) {
      if (!(parameter(2, b) > 0)) return InvalidArgument("the standard deviation must be positive");
      if (!(parameter(3, b) < parameter(4, b))) return InvalidArgument("minval must be less than maxval");
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return OkStatus();
    const uint64_t first = generator_.ReserveOutputs(out->num_elements());
    const int64_t each = out->num_elements() / batches;
    T* to = out->inplace_data<T>().data();
    const Philox philox = generator_.philox();
    Parallel(ctx, out->num_elements(), 200, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t b = i / each;
        const double mean = parameter(1, b), scale = parameter(2, b);
        Draws draws(philox, first + static_cast<uint64_t>(i) * kBlocksPerSample);
        const double x = TruncatedNormalIn((parameter(3, b) - mean) / scale, (parameter(4, b) - mean) / scale, draws);
        to[i] = Narrow<T>(mean + scale * x);
      }
    });
    return OkStatus();
  }

  KernelState* state() override { return &generator_; }

 private:
  Generator generator_;
};

template <typename T>
void AddMultinomial(KernelRegistry& r) {
  const DType t = DTypeOf<T>::value;
  r.Add<MultinomialKernel<T, int32_t>>("Multinomial", {{"T", {t}}, {"output_dtype", {kInt32}}}, ElementCost<150'000>);
  r.Add<MultinomialKernel<T, int64_t>>("Multinomial", {{"T", {t}}, {"output_dtype", {kInt64}}}, ElementCost<150'000>);
  r.Add("StatelessMultinomial", {{"T", {t}}, {"output_dtype", {kInt32}}}, StatelessMultinomial<T, int32_t>,
        ElementCost<150'000>);
  r.Add("StatelessMultinomial", {{"T", {t}}, {"output_dtype", {kInt64}}}, StatelessMultinomial<T, int64_t>,
        ElementCost<150'000>);
}

template <typename T>
void AddGamma(KernelRegistry& r) {
  const DType t = DTypeOf<T>::value;
  r.Add<SampleKernel<T, T, GammaOf<T>>>("RandomGamma", {{"T", {t}}}, ElementCost<150'000>);
  r.Add("StatelessRandomGammaV2", {{"dtype", {t}}}, StatelessSample<T, T, GammaOf<T>>, ElementCost<150'000>);
  r.Add("StatelessRandomGammaV3", {{"dtype", {t}}}, StatelessSample<T, T, GammaOf<T>>, ElementCost<150'000>);
  r.Add<SampleKernel<T, T, PoissonOf<T>>>("RandomPoisson", {{"dtype", {t}}}, ElementCost<150'000>);
}

template <typename R, typename... T>
void AddPoisson(KernelRegistry& r, Types<T...>) {
  const DType rate = DTypeOf<R>::value;
  (r.Add<SampleKernel<R, T, PoissonOf<T>>>("RandomPoissonV2", {{"R", {rate}}, {"dtype", {DTypeOf<T>::value}}},
                                           ElementCost<150'000>),
   ...);
  (r.Add("StatelessRandomPoisson", {{"Rtype", {rate}}, {"dtype", {DTypeOf<T>::value}}},
         StatelessSample<R, T, PoissonOf<T>>, ElementCost<150'000>),
   ...);
}

template <typename... T>
void AddAll(KernelRegistry& r, Types<T...> rates) {
  (AddPoisson<T>(r, rates), ...);
}

template <typename... T>
void AddMultinomials(KernelRegistry& r, Types<T...>) {
  (AddMultinomial<T>(r), ...);
}

template <typename... T>
void AddTruncated(KernelRegistry& r, Types<T...>) {
  (r.Add<ParameterizedTruncatedNormalKernel<T>>("ParameterizedTruncatedNormal", {{"dtype", {DTypeOf<T>::value}}},
                                                ElementCost<150'000>),
   ...);
}

}  // namespace

void RegisterRandomSamplingKernels(KernelRegistry& r) {
  AddMultinomials(r, RealTypes{});
  AddGamma<Float16>(r);
  AddGamma<float>(r);
  AddGamma<double>(r);
  AddAll(r, Types<Float16, float, double, int32_t, int64_t>{});
  AddBinary<GammaGradF>(r, "RandomGammaGrad", Types<float, double>{});
  AddTruncated(r, FloatTypes{});
}

}  // namespace tensorbraid::cpu
