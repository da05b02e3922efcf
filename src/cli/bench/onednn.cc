#include "cli/bench/onednn.h"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

namespace tensorbraid {
namespace {

using dnnl::memory;
using Arguments = std::unordered_map<int, memory>;

// Runs primitives and sums up their times.
class Stopwatch {
 public:
  explicit Stopwatch(bool smoke) : runs_(smoke ? 1 : 20) {}

  void Add(const dnnl::primitive& primitive, const Arguments& arguments, int64_t repeats) {
    double best = 0;
    for (int i = 0; i < runs_; ++i) {
      const auto start = std::chrono::steady_clock::now();
      primitive.execute(stream_, arguments);
      stream_.wait();
      const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
      best = i == 0 ? ms : std::min(best, ms);
    }
    total_ms_ += best * static_cast<double>(repeats);
  }

  // Memory of this layout, filled with zeros.
  memory Make(const memory::desc& desc) const {
    memory made(desc, engine_);
    std::fill_n(static_cast<char*>(made.get_data_handle()), desc.get_size(), 0);
    return made;
  }

  const dnnl::engine& engine() const { return engine_; }
  double total_ms() const { return total_ms_; }

 private:
  const int runs_;
  const dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  double total_ms_ = 0;
};

memory::desc AnyLayout(const memory::dims& dims) { return {dims, memory::data_type::f32, memory::format_tag::any}; }

void AddConvolution(const Arithmetic& layer, Stopwatch& watch) {
  const memory::desc x = AnyLayout({layer.batch, layer.in, layer.height, layer.width});
  const memory::desc w = AnyLayout({layer.out, layer.in, layer.kernel, layer.kernel});
  const memory::desc y = AnyLayout({layer.batch, layer.out, layer.height, layer.width});
  const memory::dims strides = {1, 1};
  const memory::dims before = {(layer.kernel - 1) / 2, (layer.kernel - 1) / 2};
  const memory::dims after = {layer.kernel / 2, layer.kernel / 2};
  constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;

  using Forward = dnnl::convolution_forward;
  const Forward::primitive_desc forward(
      Forward::desc(dnnl::prop_kind::forward_training, kAlgorithm, x, w, y, strides, before, after), watch.engine());
  watch.Add(Forward(forward),
            {{DNNL_ARG_SRC, watch.Make(forward.src_desc())},
             {DNNL_ARG_WEIGHTS, watch.Make(forward.weights_desc())},
             {DNNL_ARG_DST, watch.Make(forward.dst_desc())}},
            layer.repeats);

  using Weights = dnnl::convolution_backward_weights;
  const Weights::primitive_desc weights(Weights::desc(kAlgorithm, x, w, y, strides, before, after), watch.engine(),
                                        forward);
  watch.Add(Weights(weights),
            {{DNNL_ARG_SRC, watch.Make(weights.src_desc())},
             {DNNL_ARG_DIFF_DST, watch.Make(weights.diff_dst_desc())},
             {DNNL_ARG_DIFF_WEIGHTS, watch.Make(weights.diff_weights_desc())}},
            layer.repeats);
  if (!layer.input_gradient) return;

  using Data = dnnl::convolution_backward_data;
  const Data::primitive_desc data(Data::desc(kAlgorithm, x, w, y, strides, before, after), watch.engine(), forward);
  watch.Add(Data(data),
            {{DNNL_ARG_DIFF_DST, watch.Make(data.diff_dst_desc())},
             {DNNL_ARG_WEIGHTS, watch.Make(data.weights_desc())},
             {DNNL_ARG_DIFF_SRC, watch.Make(data.diff_src_desc())}},
            layer.repeats);
}

void AddProduct(const Arithmetic& layer, Stopwatch& watch) {
  const memory::desc x = AnyLayout({layer.batch, layer.in});
  const memory::desc w = AnyLayout({layer.out, layer.in});
  const memory::desc y = AnyLayout({layer.batch, layer.out});
  const memory::desc all_x = AnyLayout({layer.batch * layer.steps, layer.in});
  const memory::desc all_y = AnyLayout({layer.batch * layer.steps, layer.out});

  using Forward = dnnl::inner_product_forward;
  const Forward::primitive_desc forward(Forward::desc(dnnl::prop_kind::forward_training, x, w, y), watch.engine());
  watch.Add(Forward(forward),
            {{DNNL_ARG_SRC, watch.Make(forward.src_desc())},
             {DNNL_ARG_WEIGHTS, watch.Make(forward.weights_desc())},
             {DNNL_ARG_DST, watch.Make(forward.dst_desc())}},
            layer.repeats * layer.steps);

  using Weights = dnnl::inner_product_backward_weights;
  const Weights::primitive_desc weights(Weights::desc(all_x, w, all_y), watch.engine(), forward);
  watch.Add(Weights(weights),
            {{DNNL_ARG_SRC, watch.Make(weights.src_desc())},
             {DNNL_ARG_DIFF_DST, watch.Make(weights.diff_dst_desc())},
             {DNNL_ARG_DIFF_WEIGHTS, watch.Make(weights.diff_weights_desc())}},
            layer.repeats);
  if (!layer.input_gradient) return;

  using Data = dnnl::inner_product_backward_data;
  const Data::primitive_desc data(Data::desc(x, w, y), watch.engine(), forward);
  watch.Add(Data(data),
            {{DNNL_ARG_DIFF_DST, watch.Make(data.diff_dst_desc())},
             {DNNL_ARG_WEIGHTS, watch.Make(data.weights_desc())},
             {DNNL_ARG_DIFF_SRC, watch.Make(data.diff_src_desc())}},
            layer.repeats * layer.steps);
}

}  // namespace

double OneDnnMs(const std::vector<Arithmetic>& layers, int threads, bool smoke) {
  const int threads_before = omp_get_max_threads();
  omp_set_num_threads(threads);  // only for the calling thread
  Stopwatch watch(smoke);
  for (const Arithmetic& layer : layers) layer.kernel > 0 ? AddConvolution(layer, watch) : AddProduct(layer, watch);
  omp_set_num_threads(threads_before);
  return watch.total_ms();
}

}  // namespace tensorbraid
