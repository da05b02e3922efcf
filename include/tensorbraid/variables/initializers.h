// More initial values of variables; graph/variable.h has the simplest ones. Source: tf.compat.v1.initializers; equal
// seeds give equal values.
//
// The fans of a shape are the numbers of inputs and outputs of a unit: `in` and `out` for a matrix [in, out]; for a
// filter [..., in, out], both are multiplied by the number of positions of the window. `seed` 0 stands for the graph's
// seed (Graph::SetRandomSeed). The dtype must be floating; another dtype is recorded as a mistake (Graph::status). For
// a part of a partitioned variable, the fans are those of the whole variable, and IdentityMatrix gives the part's rows
// of the whole matrix; Orthogonal makes each part orthogonal by itself.
#ifndef TENSORBRAID_VARIABLES_INITIALIZERS_H_
#define TENSORBRAID_VARIABLES_INITIALIZERS_H_

#include <cstdint>

#include "tensorbraid/graph/variable.h"

namespace tensorbraid {

enum class FanMode { kFanIn, kFanOut, kFanAverage };
enum class ScalingDistribution { kTruncatedNormal, kUntruncatedNormal, kUniform };

struct VarianceScalingOptions {
  double scale = 1.0;  // must be positive
  FanMode mode = FanMode::kFanIn;
  ScalingDistribution distribution = ScalingDistribution::kTruncatedNormal;
  int64_t seed = 0;
};
// Random numbers with mean 0 and variance scale / fan.
Initializer VarianceScaling(const VarianceScalingOptions& options = {});

// Variance 2 / (fan_in + fan_out). Source: Glorot and Bengio, 2010. (GlorotUniform is in graph/variable.h.)
Initializer GlorotNormal(int64_t seed = 0);
// Variance 2 / fan_in, for layers that are followed by a Relu. Source: He et al., 2015.
Initializer HeNormal(int64_t seed = 0);
Initializer HeUniform(int64_t seed = 0);
// Variance 1 / fan_in. Source: LeCun et al., 1998.
Initializer LecunNormal(int64_t seed = 0);
Initializer LecunUniform(int64_t seed = 0);

// gain times a random matrix with orthogonal columns, or rows if it has fewer rows than columns. All dimensions but the
// last together are the rows; the shape must have rank 2 or more. Source: Saxe et al., 2014.
Initializer Orthogonal(double gain = 1.0, int64_t seed = 0);
// gain on the diagonal and 0 elsewhere. The shape must be that of a matrix.
Initializer IdentityMatrix(double gain = 1.0);

}  // namespace tensorbraid

#endif  // TENSORBRAID_VARIABLES_INITIALIZERS_H_
