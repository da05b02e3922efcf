// A function for each op of src/ops/random; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_RANDOM_H_
#define TENSORBRAID_RAW_OPS_RANDOM_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

struct AllCandidateSamplerOptions {
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string name = {};
};
struct AllCandidateSamplerOutputs {
  Output sampled_candidates;
  Output true_expected_count;
  Output sampled_expected_count;
  Operation operation;
};
// Adds a node of the op AllCandidateSampler.
// Inputs: true_classes (int64).
// Attributes: num_true (int, at least 1), num_sampled (int, at least 1), unique (bool), seed (int; default 0), seed2
//   (int; default 0).
// Outputs: sampled_candidates (int64), true_expected_count (float32), sampled_expected_count (float32).
inline AllCandidateSamplerOutputs AllCandidateSampler(const Operand& true_classes, int64_t num_true,
    int64_t num_sampled, bool unique, const AllCandidateSamplerOptions& options = {}) {
  auto results = internal::Call("AllCandidateSampler", options.name, {true_classes}).Attr("num_true", num_true)
      .Attr("num_sampled", num_sampled).Attr("unique", unique).Attr("seed", options.seed).Attr("seed2", options.seed2)
      .All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct ComputeAccidentalHitsOptions {
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string name = {};
};
struct ComputeAccidentalHitsOutputs {
  Output indices;
  Output ids;
  Output weights;
  Operation operation;
};
// Adds a node of the op ComputeAccidentalHits.
// Inputs: true_classes (int64), sampled_candidates (int64).
// Attributes: num_true (int), seed (int; default 0), seed2 (int; default 0).
// Outputs: indices (int32), ids (int64), weights (float32).
inline ComputeAccidentalHitsOutputs ComputeAccidentalHits(const Operand& true_classes,
    const Operand& sampled_candidates, int64_t num_true, const ComputeAccidentalHitsOptions& options = {}) {
  auto results = internal::Call("ComputeAccidentalHits", options.name, {true_classes, sampled_candidates})
      .Attr("num_true", num_true).Attr("seed", options.seed).Attr("seed2", options.seed2).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct FixedUnigramCandidateSamplerOptions {
  std::string vocab_file = "";
  float distortion = 1.0f;
  int64_t num_reserved_ids = 0;
  int64_t num_shards = 1;
  int64_t shard = 0;
  std::vector<float> unigrams = {};
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string name = {};
};
struct FixedUnigramCandidateSamplerOutputs {
  Output sampled_candidates;
  Output true_expected_count;
  Output sampled_expected_count;
  Operation operation;
};
// Adds a node of the op FixedUnigramCandidateSampler.
// Inputs: true_classes (int64).
// Attributes: num_true (int, at least 1), num_sampled (int, at least 1), unique (bool), range_max (int, at least 1),
//   vocab_file (string; default ""), distortion (float; default 1), num_reserved_ids (int; default 0), num_shards (int,
//   at least 1; default 1), shard (int, at least 0; default 0), unigrams (list of floats; default []), seed (int;
//   default 0), seed2 (int; default 0).
// Outputs: sampled_candidates (int64), true_expected_count (float32), sampled_expected_count (float32).
inline FixedUnigramCandidateSamplerOutputs FixedUnigramCandidateSampler(const Operand& true_classes, int64_t num_true,
    int64_t num_sampled, bool unique, int64_t range_max, const FixedUnigramCandidateSamplerOptions& options = {}) {
  auto results = internal::Call("FixedUnigramCandidateSampler", options.name, {true_classes}).Attr("num_true", num_true)
      .Attr("num_sampled", num_sampled).Attr("unique", unique).Attr("range_max", range_max)
      .Attr("vocab_file", options.vocab_file).Attr("distortion", options.distortion)
      .Attr("num_reserved_ids", options.num_reserved_ids).Attr("num_shards", options.num_shards)
      .Attr("shard", options.shard).Attr("unigrams", options.unigrams).Attr("seed", options.seed)
      .Attr("seed2", options.seed2).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct LearnedUnigramCandidateSamplerOptions {
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string name = {};
};
struct LearnedUnigramCandidateSamplerOutputs {
  Output sampled_candidates;
  Output true_expected_count;
  Output sampled_expected_count;
  Operation operation;
};
// Adds a node of the op LearnedUnigramCandidateSampler.
// Inputs: true_classes (int64).
// Attributes: num_true (int, at least 1), num_sampled (int, at least 1), unique (bool), range_max (int, at least 1),
//   seed (int; default 0), seed2 (int; default 0).
// Outputs: sampled_candidates (int64), true_expected_count (float32), sampled_expected_count (float32).
inline LearnedUnigramCandidateSamplerOutputs LearnedUnigramCandidateSampler(const Operand& true_classes,
    int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max,
    const LearnedUnigramCandidateSamplerOptions& options = {}) {
  auto results = internal::Call("LearnedUnigramCandidateSampler", options.name, {true_classes})
      .Attr("num_true", num_true).Attr("num_sampled", num_sampled).Attr("unique", unique).Attr("range_max", range_max)
      .Attr("seed", options.seed).Attr("seed2", options.seed2).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct LogUniformCandidateSamplerOptions {
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string name = {};
};
struct LogUniformCandidateSamplerOutputs {
  Output sampled_candidates;
  Output true_expected_count;
  Output sampled_expected_count;
  Operation operation;
};
// Adds a node of the op LogUniformCandidateSampler.
// Inputs: true_classes (int64).
// Attributes: num_true (int, at least 1), num_sampled (int, at least 1), unique (bool), range_max (int, at least 1),
//   seed (int; default 0), seed2 (int; default 0).
// Outputs: sampled_candidates (int64), true_expected_count (float32), sampled_expected_count (float32).
inline LogUniformCandidateSamplerOutputs LogUniformCandidateSampler(const Operand& true_classes, int64_t num_true,
    int64_t num_sampled, bool unique, int64_t range_max, const LogUniformCandidateSamplerOptions& options = {}) {
  auto results = internal::Call("LogUniformCandidateSampler", options.name, {true_classes}).Attr("num_true", num_true)
      .Attr("num_sampled", num_sampled).Attr("unique", unique).Attr("range_max", range_max).Attr("seed", options.seed)
      .Attr("seed2", options.seed2).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct MultinomialOptions {
  int64_t seed = 0;
  int64_t seed2 = 0;
  DType output_dtype = DType::kInt64;
  std::string name = {};
};
// Adds a node of the op Multinomial. The usual function is Multinomial (ops/random.h).
// Inputs: logits (T), num_samples (int32).
// Attributes: seed (int; default 0), seed2 (int; default 0), output_dtype (dtype: int32 int64; default int64).
// Output: output (output_dtype).
// T: reals.
inline Output Multinomial(const Operand& logits, const Operand& num_samples, const MultinomialOptions& options = {}) {
  return internal::Call("Multinomial", options.name, {logits, num_samples}).Attr("seed", options.seed)
      .Attr("seed2", options.seed2).Attr("output_dtype", options.output_dtype).One();
}

struct NonDeterministicIntsOptions {
  DType dtype = DType::kInt64;
  std::string name = {};
};
// Adds a node of the op NonDeterministicInts.
// Inputs: shape (shape_dtype).
// Attributes: dtype (dtype: int32 int64 uint32 uint64; default int64).
// Output: output (dtype).
// shape_dtype: any.
inline Output NonDeterministicInts(const Operand& shape, const NonDeterministicIntsOptions& options = {}) {
  return internal::Call("NonDeterministicInts", options.name, {shape}).Attr("dtype", options.dtype).One();
}

struct ParameterizedTruncatedNormalOptions {
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string name = {};
};
// Adds a node of the op ParameterizedTruncatedNormal.
// Inputs: shape (T), means (dtype), stdevs (dtype), minvals (dtype), maxvals (dtype).
// Attributes: seed (int; default 0), seed2 (int; default 0).
// Output: output (dtype).
// dtype: floats; T: int32 int64.
inline Output ParameterizedTruncatedNormal(const Operand& shape, const Operand& means, const Operand& stdevs,
    const Operand& minvals, const Operand& maxvals, const ParameterizedTruncatedNormalOptions& options = {}) {
  return internal::Call("ParameterizedTruncatedNormal", options.name, {shape, means, stdevs, minvals, maxvals})
      .Attr("seed", options.seed).Attr("seed2", options.seed2).One();
}

struct RandomGammaOptions {
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string name = {};
};
// Adds a node of the op RandomGamma. It has a gradient.
// Inputs: shape (S), alpha (T).
// Attributes: seed (int; default 0), seed2 (int; default 0).
// Output: output (T).
// S: int32 int64; T: float32 float64 float16.
inline Output RandomGamma(const Operand& shape, const Operand& alpha, const RandomGammaOptions& options = {}) {
  return internal::Call("RandomGamma", options.name, {shape, alpha}).Attr("seed", options.seed)
      .Attr("seed2", options.seed2).One();
}

// Adds a node of the op RandomGammaGrad.
// Inputs: alpha (T), sample (T).
// Output: output (T).
// T: float32 float64.
inline Output RandomGammaGrad(const Operand& alpha, const Operand& sample, const std::string& name = "") {
  return internal::Call("RandomGammaGrad", name, {alpha, sample}).One();
}

struct RandomPoissonOptions {
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string name = {};
};
// Adds a node of the op RandomPoisson.
// Inputs: shape (S), rate (dtype).
// Attributes: seed (int; default 0), seed2 (int; default 0).
// Output: output (dtype).
// S: int32 int64; dtype: float32 float64 float16.
inline Output RandomPoisson(const Operand& shape, const Operand& rate, const RandomPoissonOptions& options = {}) {
  return internal::Call("RandomPoisson", options.name, {shape, rate}).Attr("seed", options.seed)
      .Attr("seed2", options.seed2).One();
}

struct RandomPoissonV2Options {
  int64_t seed = 0;
  int64_t seed2 = 0;
  DType dtype = DType::kInt64;
  std::string name = {};
};
// Adds a node of the op RandomPoissonV2.
// Inputs: shape (S), rate (R).
// Attributes: seed (int; default 0), seed2 (int; default 0), dtype (dtype: float32 float64 int32 int64 float16; default
//   int64).
// Output: output (dtype).
// S: int32 int64; R: float32 float64 int32 int64 float16.
inline Output RandomPoissonV2(const Operand& shape, const Operand& rate, const RandomPoissonV2Options& options = {}) {
  return internal::Call("RandomPoissonV2", options.name, {shape, rate}).Attr("seed", options.seed)
      .Attr("seed2", options.seed2).Attr("dtype", options.dtype).One();
}

struct RandomShuffleOptions {
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string name = {};
};
// Adds a node of the op RandomShuffle. The usual function is RandomShuffle (ops/random.h).
// Inputs: value (T).
// Attributes: seed (int; default 0), seed2 (int; default 0).
// Output: output (T).
// T: any.
inline Output RandomShuffle(const Operand& value, const RandomShuffleOptions& options = {}) {
  return internal::Call("RandomShuffle", options.name, {value}).Attr("seed", options.seed).Attr("seed2", options.seed2)
      .One();
}

struct RandomStandardNormalOptions {
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string name = {};
};
// Adds a node of the op RandomStandardNormal. The usual function is RandomNormal (ops/random.h).
// Inputs: shape (T).
// Attributes: dtype (dtype: floats), seed (int; default 0), seed2 (int; default 0).
// Output: output (dtype).
// T: int32 int64.
inline Output RandomStandardNormal(const Operand& shape, DType dtype, const RandomStandardNormalOptions& options = {}) {
  return internal::Call("RandomStandardNormal", options.name, {shape}).Attr("dtype", dtype).Attr("seed", options.seed)
      .Attr("seed2", options.seed2).One();
}

struct RandomUniformOptions {
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string name = {};
};
// Adds a node of the op RandomUniform. The usual function is RandomUniform (ops/random.h).
// Inputs: shape (T).
// Attributes: dtype (dtype: floats), seed (int; default 0), seed2 (int; default 0).
// Output: output (dtype).
// T: int32 int64.
inline Output RandomUniform(const Operand& shape, DType dtype, const RandomUniformOptions& options = {}) {
  return internal::Call("RandomUniform", options.name, {shape}).Attr("dtype", dtype).Attr("seed", options.seed)
      .Attr("seed2", options.seed2).One();
}

struct RandomUniformIntOptions {
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string name = {};
};
// Adds a node of the op RandomUniformInt. The usual function is RandomUniformInt (ops/random.h).
// Inputs: shape (T), minval (Tout), maxval (Tout).
// Attributes: seed (int; default 0), seed2 (int; default 0).
// Output: output (Tout).
// Tout: int32 int64; T: int32 int64.
inline Output RandomUniformInt(const Operand& shape, const Operand& minval, const Operand& maxval,
    const RandomUniformIntOptions& options = {}) {
  return internal::Call("RandomUniformInt", options.name, {shape, minval, maxval}).Attr("seed", options.seed)
      .Attr("seed2", options.seed2).One();
}

// Adds a node of the op RngReadAndSkip.
// Inputs: resource (resource), alg (int32), delta (uint64).
// Output: value (int64).
inline Output RngReadAndSkip(const Output& resource, const Operand& alg, const Operand& delta,
    const std::string& name = "") {
  return internal::Call("RngReadAndSkip", name, {resource, alg, delta}).One();
}

// Adds a node of the op RngSkip.
// Inputs: resource (resource), algorithm (int64), delta (int64).
inline Operation RngSkip(const Output& resource, const Operand& algorithm, const Operand& delta,
    const std::string& name = "") {
  return internal::Call("RngSkip", name, {resource, algorithm, delta}).Finish();
}

struct StatelessMultinomialOptions {
  DType output_dtype = DType::kInt64;
  std::string name = {};
};
// Adds a node of the op StatelessMultinomial.
// Inputs: logits (T), num_samples (int32), seed (Tseed).
// Attributes: output_dtype (dtype: int32 int64; default int64).
// Output: output (output_dtype).
// T: reals; Tseed: int32 int64.
inline Output StatelessMultinomial(const Operand& logits, const Operand& num_samples, const Operand& seed,
    const StatelessMultinomialOptions& options = {}) {
  return internal::Call("StatelessMultinomial", options.name, {logits, num_samples, seed})
      .Attr("output_dtype", options.output_dtype).One();
}

// Adds a node of the op StatelessRandomGammaV2. It has a gradient.
// Inputs: shape (T), seed (Tseed), alpha (dtype).
// Output: output (dtype).
// dtype: float32 float64 float16; T: int32 int64; Tseed: int32 int64.
inline Output StatelessRandomGammaV2(const Operand& shape, const Operand& seed, const Operand& alpha,
    const std::string& name = "") {
  return internal::Call("StatelessRandomGammaV2", name, {shape, seed, alpha}).One();
}

// Adds a node of the op StatelessRandomGammaV3. It has a gradient.
// Inputs: shape (shape_dtype), key (uint64), counter (uint64), alg (int32), alpha (dtype).
// Output: output (dtype).
// dtype: float32 float64 float16; shape_dtype: int32 int64.
inline Output StatelessRandomGammaV3(const Operand& shape, const Operand& key, const Operand& counter,
    const Operand& alg, const Operand& alpha, const std::string& name = "") {
  return internal::Call("StatelessRandomGammaV3", name, {shape, key, counter, alg, alpha}).One();
}

// Adds a node of the op StatelessRandomGetAlg.
// Output: alg (int32).
inline Output StatelessRandomGetAlg(Graph& graph, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "StatelessRandomGetAlg", name, {}, loc).One();
}

struct StatelessRandomGetKeyCounterOutputs {
  Output key;
  Output counter;
  Operation operation;
};
// Adds a node of the op StatelessRandomGetKeyCounter.
// Inputs: seed (Tseed).
// Outputs: key (uint64), counter (uint64).
// Tseed: int32 int64.
inline StatelessRandomGetKeyCounterOutputs StatelessRandomGetKeyCounter(const Operand& seed,
    const std::string& name = "") {
  auto results = internal::Call("StatelessRandomGetKeyCounter", name, {seed}).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct StatelessRandomGetKeyCounterAlgOutputs {
  Output key;
  Output counter;
  Output alg;
  Operation operation;
};
// Adds a node of the op StatelessRandomGetKeyCounterAlg.
// Inputs: seed (Tseed).
// Outputs: key (uint64), counter (uint64), alg (int32).
// Tseed: int32 int64.
inline StatelessRandomGetKeyCounterAlgOutputs StatelessRandomGetKeyCounterAlg(const Operand& seed,
    const std::string& name = "") {
  auto results = internal::Call("StatelessRandomGetKeyCounterAlg", name, {seed}).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct StatelessRandomNormalOptions {
  DType dtype = DType::kFloat32;
  std::string name = {};
};
// Adds a node of the op StatelessRandomNormal.
// Inputs: shape (T), seed (Tseed).
// Attributes: dtype (dtype: floats; default float32).
// Output: output (dtype).
// T: int32 int64; Tseed: int32 int64.
inline Output StatelessRandomNormal(const Operand& shape, const Operand& seed,
    const StatelessRandomNormalOptions& options = {}) {
  return internal::Call("StatelessRandomNormal", options.name, {shape, seed}).Attr("dtype", options.dtype).One();
}

struct StatelessRandomNormalV2Options {
  DType dtype = DType::kFloat32;
  std::string name = {};
};
// Adds a node of the op StatelessRandomNormalV2.
// Inputs: shape (Tshape), key (uint64), counter (uint64), alg (int32).
// Attributes: dtype (dtype: floats; default float32).
// Output: output (dtype).
// Tshape: int32 int64.
inline Output StatelessRandomNormalV2(const Operand& shape, const Operand& key, const Operand& counter,
    const Operand& alg, const StatelessRandomNormalV2Options& options = {}) {
  return internal::Call("StatelessRandomNormalV2", options.name, {shape, key, counter, alg})
      .Attr("dtype", options.dtype).One();
}

// Adds a node of the op StatelessRandomPoisson.
// Inputs: shape (T), seed (Tseed), lam (Rtype).
// Attributes: dtype (dtype: float32 float64 int32 int64 float16).
// Output: output (dtype).
// Rtype: float32 float64 int32 int64 float16; T: int32 int64; Tseed: int32 int64.
inline Output StatelessRandomPoisson(const Operand& shape, const Operand& seed, const Operand& lam, DType dtype,
    const std::string& name = "") {
  return internal::Call("StatelessRandomPoisson", name, {shape, seed, lam}).Attr("dtype", dtype).One();
}

struct StatelessRandomUniformOptions {
  DType dtype = DType::kFloat32;
  std::string name = {};
};
// Adds a node of the op StatelessRandomUniform.
// Inputs: shape (T), seed (Tseed).
// Attributes: dtype (dtype: floats; default float32).
// Output: output (dtype).
// T: int32 int64; Tseed: int32 int64.
inline Output StatelessRandomUniform(const Operand& shape, const Operand& seed,
    const StatelessRandomUniformOptions& options = {}) {
  return internal::Call("StatelessRandomUniform", options.name, {shape, seed}).Attr("dtype", options.dtype).One();
}

struct StatelessRandomUniformFullIntOptions {
  DType dtype = DType::kUint64;
  std::string name = {};
};
// Adds a node of the op StatelessRandomUniformFullInt.
// Inputs: shape (T), seed (Tseed).
// Attributes: dtype (dtype: int32 int64 uint32 uint64; default uint64).
// Output: output (dtype).
// T: int32 int64; Tseed: int32 int64 uint32 uint64.
inline Output StatelessRandomUniformFullInt(const Operand& shape, const Operand& seed,
    const StatelessRandomUniformFullIntOptions& options = {}) {
  return internal::Call("StatelessRandomUniformFullInt", options.name, {shape, seed}).Attr("dtype", options.dtype)
      .One();
}

struct StatelessRandomUniformFullIntV2Options {
  DType dtype = DType::kUint64;
  std::string name = {};
};
// Adds a node of the op StatelessRandomUniformFullIntV2.
// Inputs: shape (Tshape), key (uint64), counter (uint64), alg (int32).
// Attributes: dtype (dtype: int32 int64 uint32 uint64; default uint64).
// Output: output (dtype).
// Tshape: int32 int64.
inline Output StatelessRandomUniformFullIntV2(const Operand& shape, const Operand& key, const Operand& counter,
    const Operand& alg, const StatelessRandomUniformFullIntV2Options& options = {}) {
  return internal::Call("StatelessRandomUniformFullIntV2", options.name, {shape, key, counter, alg})
      .Attr("dtype", options.dtype).One();
}

// Adds a node of the op StatelessRandomUniformInt.
// Inputs: shape (T), seed (Tseed), minval (dtype), maxval (dtype).
// Output: output (dtype).
// dtype: int32 int64; T: int32 int64; Tseed: int32 int64.
inline Output StatelessRandomUniformInt(const Operand& shape, const Operand& seed, const Operand& minval,
    const Operand& maxval, const std::string& name = "") {
  return internal::Call("StatelessRandomUniformInt", name, {shape, seed, minval, maxval}).One();
}

// Adds a node of the op StatelessRandomUniformIntV2.
// Inputs: shape (Tshape), key (uint64), counter (uint64), alg (int32), minval (dtype), maxval (dtype).
// Output: output (dtype).
// dtype: int32 int64 uint32 uint64; Tshape: int32 int64.
inline Output StatelessRandomUniformIntV2(const Operand& shape, const Operand& key, const Operand& counter,
    const Operand& alg, const Operand& minval, const Operand& maxval, const std::string& name = "") {
  return internal::Call("StatelessRandomUniformIntV2", name, {shape, key, counter, alg, minval, maxval}).One();
}

struct StatelessRandomUniformV2Options {
  DType dtype = DType::kFloat32;
  std::string name = {};
};
// Adds a node of the op StatelessRandomUniformV2.
// Inputs: shape (Tshape), key (uint64), counter (uint64), alg (int32).
// Attributes: dtype (dtype: floats; default float32).
// Output: output (dtype).
// Tshape: int32 int64.
inline Output StatelessRandomUniformV2(const Operand& shape, const Operand& key, const Operand& counter,
    const Operand& alg, const StatelessRandomUniformV2Options& options = {}) {
  return internal::Call("StatelessRandomUniformV2", options.name, {shape, key, counter, alg})
      .Attr("dtype", options.dtype).One();
}

struct StatelessTruncatedNormalOptions {
  DType dtype = DType::kFloat32;
  std::string name = {};
};
// Adds a node of the op StatelessTruncatedNormal.
// Inputs: shape (T), seed (Tseed).
// Attributes: dtype (dtype: floats; default float32).
// Output: output (dtype).
// T: int32 int64; Tseed: int32 int64.
inline Output StatelessTruncatedNormal(const Operand& shape, const Operand& seed,
    const StatelessTruncatedNormalOptions& options = {}) {
  return internal::Call("StatelessTruncatedNormal", options.name, {shape, seed}).Attr("dtype", options.dtype).One();
}

struct StatelessTruncatedNormalV2Options {
  DType dtype = DType::kFloat32;
  std::string name = {};
};
// Adds a node of the op StatelessTruncatedNormalV2.
// Inputs: shape (Tshape), key (uint64), counter (uint64), alg (int32).
// Attributes: dtype (dtype: floats; default float32).
// Output: output (dtype).
// Tshape: int32 int64.
inline Output StatelessTruncatedNormalV2(const Operand& shape, const Operand& key, const Operand& counter,
    const Operand& alg, const StatelessTruncatedNormalV2Options& options = {}) {
  return internal::Call("StatelessTruncatedNormalV2", options.name, {shape, key, counter, alg})
      .Attr("dtype", options.dtype).One();
}

struct ThreadUnsafeUnigramCandidateSamplerOptions {
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string name = {};
};
struct ThreadUnsafeUnigramCandidateSamplerOutputs {
  Output sampled_candidates;
  Output true_expected_count;
  Output sampled_expected_count;
  Operation operation;
};
// Adds a node of the op ThreadUnsafeUnigramCandidateSampler.
// Inputs: true_classes (int64).
// Attributes: num_true (int, at least 1), num_sampled (int, at least 1), unique (bool), range_max (int, at least 1),
//   seed (int; default 0), seed2 (int; default 0).
// Outputs: sampled_candidates (int64), true_expected_count (float32), sampled_expected_count (float32).
inline ThreadUnsafeUnigramCandidateSamplerOutputs ThreadUnsafeUnigramCandidateSampler(const Operand& true_classes,
    int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max,
    const ThreadUnsafeUnigramCandidateSamplerOptions& options = {}) {
  auto results = internal::Call("ThreadUnsafeUnigramCandidateSampler", options.name, {true_classes})
      .Attr("num_true", num_true).Attr("num_sampled", num_sampled).Attr("unique", unique).Attr("range_max", range_max)
      .Attr("seed", options.seed).Attr("seed2", options.seed2).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct TruncatedNormalOptions {
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string name = {};
};
// Adds a node of the op TruncatedNormal. The usual function is TruncatedNormal (ops/random.h).
// Inputs: shape (T).
// Attributes: dtype (dtype: floats), seed (int; default 0), seed2 (int; default 0).
// Output: output (dtype).
// T: int32 int64.
inline Output TruncatedNormal(const Operand& shape, DType dtype, const TruncatedNormalOptions& options = {}) {
  return internal::Call("TruncatedNormal", options.name, {shape}).Attr("dtype", dtype).Attr("seed", options.seed)
      .Attr("seed2", options.seed2).One();
}

struct UniformCandidateSamplerOptions {
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string name = {};
};
struct UniformCandidateSamplerOutputs {
  Output sampled_candidates;
  Output true_expected_count;
  Output sampled_expected_count;
  Operation operation;
};
// Adds a node of the op UniformCandidateSampler.
// Inputs: true_classes (int64).
// Attributes: num_true (int, at least 1), num_sampled (int, at least 1), unique (bool), range_max (int, at least 1),
//   seed (int; default 0), seed2 (int; default 0).
// Outputs: sampled_candidates (int64), true_expected_count (float32), sampled_expected_count (float32).
inline UniformCandidateSamplerOutputs UniformCandidateSampler(const Operand& true_classes, int64_t num_true,
    int64_t num_sampled, bool unique, int64_t range_max, const UniformCandidateSamplerOptions& options = {}) {
  auto results = internal::Call("UniformCandidateSampler", options.name, {true_classes}).Attr("num_true", num_true)
      .Attr("num_sampled", num_sampled).Attr("unique", unique).Attr("range_max", range_max).Attr("seed", options.seed)
      .Attr("seed2", options.seed2).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_RANDOM_H_
