// Measures oneDNN alone on the arithmetic of a model, as the baseline of the benchmarks that train models.
#ifndef TENSORBRAID_CLI_BENCH_ONEDNN_H_
#define TENSORBRAID_CLI_BENCH_ONEDNN_H_

#include <cstdint>
#include <vector>

namespace tensorbraid {

// A convolution with stride 1 and SAME padding, or, if `kernel` is 0, a product of matrices [batch, in] and [in, out].
struct Arithmetic {
  int64_t batch = 0;
  int64_t height = 1;  // of the images
  int64_t width = 1;
  int64_t kernel = 0;  // height and width of the filter
  int64_t in = 0;      // channels
  int64_t out = 0;
  bool input_gradient = true;  // whether the gradient of the input is computed, as in all layers but the first
  int64_t repeats = 1;         // how many such layers the model has
  // The time steps of a recurrent network, each of which has a product. The weight gradient is one product over all
  // steps.
  int64_t steps = 1;
};

// Milliseconds for the forward pass and both backward passes of all layers in float32 on `threads` threads. Each pass
// uses the memory layout that is fastest in oneDNN and is run several times. The result is the sum of the fastest run
// of each pass. Not thread-safe.
double OneDnnMs(const std::vector<Arithmetic>& layers, int threads, bool smoke);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_BENCH_ONEDNN_H_
