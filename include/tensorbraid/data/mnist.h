// Reads the MNIST digits and returns them in batches.
#ifndef TENSORBRAID_DATA_MNIST_H_
#define TENSORBRAID_DATA_MNIST_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid::data {

// Returns float32 [n, depth]: row i is 1 at labels[i] and 0 elsewhere. InvalidArgument unless `labels` is an int64
// vector with values from 0 to depth - 1.
StatusOr<Tensor> OneHot(const Tensor& labels, int depth);

struct MnistOptions {
  // Determines the order of the training examples. Workers that train together should use different seeds.
  uint64_t seed = 1;
};

// The MNIST digits: images of 28 x 28 pixels with labels 0 to 9. Copies share the pixels, but each copy keeps its own
// position in the training examples. Not thread-safe.
class Mnist {
 public:
  static constexpr int kPixels = 28 * 28;
  static constexpr int kClasses = 10;

  struct Batch {
    Tensor images;  // float32 [n, 784], 0 (paper) to 1 (ink)
    Tensor labels;  // int64 [n]
  };

  // Reads {train,t10k}-{images-idx3,labels-idx1}-ubyte, with or without .gz, from `data_dir`. NotFound names a file
  // that is missing; DataLoss names a file that is damaged or does not match the others. Blocks while it reads.
  static StatusOr<Mnist> Load(const std::string& data_dir, const MnistOptions& options = {});

  // Returns the next `n` training examples. An epoch contains every example once, in a new random order. A batch that
  // reaches the end of an epoch continues with the next epoch. REQUIRES: n >= 1 (checked).
  Batch NextBatch(int n);

  int64_t num_train() const { return train_labels_.num_elements(); }
  int64_t num_test() const { return test_labels_.num_elements(); }
  // The number of epochs begun.
  int64_t epoch() const { return epoch_; }

  // The images of all test examples: float32 [num_test(), 784]. Each call makes a new tensor.
  Tensor test_images() const;
  // The labels of all test examples: int64 [num_test()].
  const Tensor& test_labels() const { return test_labels_; }

 private:
  Mnist() = default;
  void BeginEpoch();

  Tensor train_pixels_, test_pixels_;  // uint8 [n, 28, 28]
  Tensor train_labels_, test_labels_;  // int64 [n]
  std::mt19937_64 random_;
  std::vector<int32_t> order_;
  size_t position_ = 0;  // in order_
  int64_t epoch_ = 0;
};

}  // namespace tensorbraid::data

#endif  // TENSORBRAID_DATA_MNIST_H_
