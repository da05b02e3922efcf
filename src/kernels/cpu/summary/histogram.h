// Histograms as TensorBoard shows them: bucket limits grow by 10% per bucket, on both sides of zero.
#ifndef TENSORBRAID_KERNELS_CPU_SUMMARY_HISTOGRAM_H_
#define TENSORBRAID_KERNELS_CPU_SUMMARY_HISTOGRAM_H_

#include <limits>
#include <vector>

namespace tensorbraid::cpu {

class Histogram {
 public:
  Histogram();
  // REQUIRES: `value` is finite.
  void Add(double value);

  double min = std::numeric_limits<double>::max();
  double max = std::numeric_limits<double>::lowest();
  double num = 0;
  double sum = 0;
  double sum_squares = 0;

  struct Bucket {
    double limit;  // the bucket holds values from the limit of the previous bucket up to, but not including, this one
    double count;
  };
  // Adjacent empty buckets are merged into one.
  std::vector<Bucket> Buckets() const;

 private:
  std::vector<double> counts_;
};

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_SUMMARY_HISTOGRAM_H_
