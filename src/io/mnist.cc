#include "tensorbraid/data/mnist.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "io/idx.h"

namespace tensorbraid::data {
namespace {

// Reads data_dir/name.gz or, if that does not exist, data_dir/name.
StatusOr<Tensor> ReadEither(const std::string& data_dir, const std::string& name) {
  const std::string path = JoinPath(data_dir, name);
  for (const std::string& candidate : {path + ".gz", path}) {
    if (FileExists(candidate)) return ReadIdx(candidate);
  }
  return NotFound("neither ", name, ".gz nor ", name, " exists in '", data_dir,
                  "', which must hold the four MNIST files");
}

struct Part {
  Tensor pixels;
  Tensor labels;
};

StatusOr<Part> LoadPart(const std::string& data_dir, const std::string& prefix) {
  const std::string images_name = prefix + "-images-idx3-ubyte";
  const std::string labels_name = prefix + "-labels-idx1-ubyte";
  Part part;
  TF_ASSIGN_OR_RETURN(part.pixels, ReadEither(data_dir, images_name));
  TF_ASSIGN_OR_RETURN(const Tensor bytes, ReadEither(data_dir, labels_name));
  const Shape& shape = part.pixels.shape();
  if (shape.rank() != 3 || shape.dim(1) != 28 || shape.dim(2) != 28) {
    return DataLoss(images_name, " in '", data_dir, "': expected shape [n,28,28], got ", shape);
  }
  if (bytes.shape().rank() != 1 || bytes.shape().dim(0) != shape.dim(0)) {
    return DataLoss(labels_name, " in '", data_dir, "': expected shape [", shape.dim(0),
                    "], a label for each image, got ", bytes.shape());
  }
  if (shape.dim(0) == 0 || shape.dim(0) > std::numeric_limits<int32_t>::max()) {
    return DataLoss(images_name, " in '", data_dir, "': expected 1 to ", std::numeric_limits<int32_t>::max(),
                    " images, got ", shape.dim(0));
  }
  part.labels = Tensor(kInt64, bytes.shape());
  auto labels = part.labels.inplace_data<int64_t>();
  for (size_t i = 0; i < labels.size(); ++i) {
    labels[i] = bytes.data<uint8_t>()[i];
    if (labels[i] >= Mnist::kClasses) {
      return DataLoss(labels_name, " in '", data_dir, "': label ", labels[i], " at ", i, " is not a digit");
    }
  }
  return part;
}

// Converts one image. The constant size and __restrict let the compiler use vector instructions.
void ToFloats(const uint8_t* __restrict pixels, float* __restrict out) {
  for (int i = 0; i < Mnist::kPixels; ++i) out[i] = static_cast<float>(pixels[i]) * (1.0f / 255.0f);
}

}  // namespace

StatusOr<Tensor> OneHot(const Tensor& labels, int depth) {
  if (labels.dtype() != kInt64 || labels.shape().rank() != 1) {
    return InvalidArgument("OneHot: expected an int64 vector, got ", labels.dtype(), labels.shape());
  }
  if (depth < 1) return InvalidArgument("OneHot: depth must be at least 1, got ", depth);
  TF_ASSIGN_OR_RETURN(Tensor result, Tensor::Create(kFloat32, {labels.num_elements(), depth}));
  const auto values = labels.data<int64_t>();
  auto out = result.inplace_data<float>();
  std::fill(out.begin(), out.end(), 0.0f);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0 || values[i] >= depth) {
      return InvalidArgument("OneHot: label ", values[i], " at ", i, " is not in the range from 0 to ", depth - 1);
    }
    out[i * static_cast<size_t>(depth) + static_cast<size_t>(values[i])] = 1.0f;
  }
  return result;
}

StatusOr<Mnist> Mnist::Load(const std::string& data_dir, const MnistOptions& options) {
  TF_ASSIGN_OR_RETURN(Part train, LoadPart(data_dir, "train"));
  TF_ASSIGN_OR_RETURN(Part test, LoadPart(data_dir, "t10k"));
  Mnist mnist;
  mnist.train_pixels_ = std::move(train.pixels);
  mnist.train_labels_ = std::move(train.labels);
  mnist.test_pixels_ = std::move(test.pixels);
  mnist.test_labels_ = std::move(test.labels);
  mnist.random_.seed(options.seed);
  mnist.order_.resize(static_cast<size_t>(mnist.num_train()));
  std::iota(mnist.order_.begin(), mnist.order_.end(), 0);
  mnist.BeginEpoch();
  return mnist;
}

void Mnist::BeginEpoch() {
  std::shuffle(order_.begin(), order_.end(), random_);
  position_ = 0;
  ++epoch_;
}

Mnist::Batch Mnist::NextBatch(int n) {
  TB_CHECK(n >= 1);
  Batch batch{Tensor(kFloat32, {n, kPixels}), Tensor(kInt64, {n})};
  const uint8_t* pixels = train_pixels_.data<uint8_t>().data();
  const auto labels = train_labels_.data<int64_t>();
  float* images_out = batch.images.inplace_data<float>().data();
  auto labels_out = batch.labels.inplace_data<int64_t>();
  for (int i = 0; i < n; ++i) {
    if (position_ == order_.size()) BeginEpoch();
    const auto example = static_cast<size_t>(order_[position_++]);
    ToFloats(pixels + example * kPixels, images_out + static_cast<size_t>(i) * kPixels);
    labels_out[i] = labels[example];
  }
  return batch;
}

Tensor Mnist::test_images() const {
  Tensor images(kFloat32, {num_test(), kPixels});
  const uint8_t* pixels = test_pixels_.data<uint8_t>().data();
  float* out = images.inplace_data<float>().data();
  for (int64_t i = 0; i < num_test() * kPixels; i += kPixels) ToFloats(pixels + i, out + i);
  return images;
}

}  // namespace tensorbraid::data
