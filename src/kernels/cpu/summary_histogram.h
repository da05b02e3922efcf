// Histograms as TensorBoard shows them: buckets that grow by a tenth, on both sides of zero.
#ifndef TENSORBRAID_KERNELS_CPU_SUMMARY_HISTOGRAM_H_
#define TENSORBRAID_KERNELS_CPU_SUMMARY_HISTOGRAM_H_

#include <limits>
#include <vector>

namespace tensorbraid::cpu {

class Histogram {
 public:
  Histogram();
  // REQUIRES: finite.
  void Add(double value);

  double min = std::numeric_limits<double>::max();
  double max = std::numeric_limits<double>::lowest();
  double num = 0;
  double sum = 0;
  double sum_squares = 0;

  struct Bucket {
    double limit;  // the values below it, from the limit before on
    double count;
  };
  // Runs of empty buckets are one.
  std::vector<Bucket> Buckets() const;

 private:
  std::vector<double> counts_;
};

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_SUMMARY_HISTOGRAM_H_
