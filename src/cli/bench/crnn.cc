// The model of examples/crnn_ctc.cc, which reads lines of digits, on made-up lines.
#include "cli/bench/models.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

constexpr int64_t kLines = 32;
constexpr int64_t kHeight = 32;
constexpr int64_t kWidth = 144;
constexpr int64_t kSteps = kWidth / 4;  // of the LSTM
constexpr int64_t kUnits = 64;
constexpr int64_t kDigitsOfLine = 5;
constexpr int64_t kCharacters = 11;  // ten digits and the blank

// A convolution with batch normalization, then pooling.
Output Block(const Output& x, int64_t filters, std::vector<int64_t> pool) {
  const Output y = layers::Conv2D(x, {.filters = filters, .kernel = {3, 3}, .bias = false});
  return nn::MaxPool(nn::Relu(layers::BatchNorm(y, {.training = true})), {.size = std::move(pool)});
}

// Makes lines of noise. A line is divided into kDigitsOfLine places, one for each digit. In each place one column is
// bright, and the position of the column in its place encodes the digit. The lines have different lengths.
void MakeLines(int worker, BenchModel& m) {
  Tensor images = MakeNoise({kLines, kHeight, kWidth, 1}, 7 + worker);
  Tensor lengths(kInt32, {kLines});
  Tensor indices(kInt64, {kLines * kDigitsOfLine, 2});
  Tensor digits(kInt32, {kLines * kDigitsOfLine});
  for (int64_t i = 0; i < kLines; ++i) {
    const int64_t steps = kSteps - i % 10;
    lengths.mutable_data<int32_t>()[i] = static_cast<int32_t>(steps);
    for (int64_t k = 0; k < kDigitsOfLine; ++k) {
      const int64_t d = i * kDigitsOfLine + k, digit = (3 * i + 7 * k) % 10;
      indices.mutable_data<int64_t>()[2 * d] = i;
      indices.mutable_data<int64_t>()[2 * d + 1] = k;
      digits.mutable_data<int32_t>()[d] = static_cast<int32_t>(digit);
      const int64_t column = 4 * steps * k / kDigitsOfLine + 2 * digit;
      for (int64_t row = 0; row < kHeight; ++row) {
        images.mutable_data<float>()[(i * kHeight + row) * kWidth + column] = 1;
      }
    }
  }
  m.batches = {{images, lengths, indices, digits, Tensor::Vector<int64_t>({kLines, kDigitsOfLine})}};
}

std::vector<Arithmetic> Layers() {
  return {
      {.batch = kLines, .height = kHeight, .width = kWidth, .kernel = 3, .in = 1, .out = 16, .input_gradient = false},
      {.batch = kLines, .height = kHeight / 2, .width = kWidth / 2, .kernel = 3, .in = 16, .out = 32},
      {.batch = kLines, .height = kHeight / 4, .width = kWidth / 4, .kernel = 3, .in = 32, .out = 64},
      // The convolution whose filter is one column wide and as high as its input. It is a product of two matrices: one
      // has a row for each column of each image, the other is the filter.
      {.batch = kLines * kSteps, .in = kHeight / 8 * 64, .out = 96},
      {.batch = kLines * kSteps, .in = 96, .out = 4 * kUnits, .repeats = 2},
      {.batch = kLines, .in = kUnits, .out = 4 * kUnits, .repeats = 2, .steps = kSteps},
      {.batch = kLines * kSteps, .in = 2 * kUnits, .out = kCharacters}};
}

}  // namespace

void MakeCrnn(int worker, BenchModel& m) {
  m.examples = kLines;
  MakeLines(worker, m);
  const Output images = Placeholder(m.graph, kFloat32, {kLines, kHeight, kWidth, 1}, "images");
  const Output lengths = Placeholder(m.graph, kInt32, {kLines}, "lengths");
  const SparseTensor labels = SparsePlaceholder(m.graph, kInt32, {-1, -1}, "labels");
  m.inputs = {images, lengths, labels.indices, labels.values, labels.dense_shape};
  Output x = Block(images, 16, {2, 2});
  x = Block(x, 32, {2, 2});
  x = Block(x, 64, {2, 1});
  x = layers::Conv2D(x, {.filters = 96,
                         .kernel = {kHeight / 8, 1},
                         .padding = nn::Padding::kValid,
                         .activation = layers::Activation::kRelu});
  x = Transpose(Squeeze(x, {1}), {1, 0, 2});  // time first
  x = layers::BidirectionalRnn(layers::LSTMCell(kUnits), layers::LSTMCell(kUnits), x,
                               {.lengths = lengths, .time_major = true})
          .outputs;
  const Output logits = layers::Dense(x, {.units = kCharacters});
  m.loss = ReduceMean(nn::CtcLoss(labels, logits, lengths, {.time_major = true}));
  m.optimizer = std::make_shared<AdadeltaOptimizer>(1.0, AdadeltaOptions{.epsilon = 1e-6});
  m.clip_norm = 10;
  m.arithmetic = Layers();
}

}  // namespace tensorbraid
