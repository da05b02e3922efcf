// The dataset that parses batches of serialized tf.train.Examples.
#include <google/protobuf/arena.h>

#include <map>

#include "core/text/strings.h"
#include "core/values/tensor_value.h"
#include "io/example.pb.h"
#include "kernels/cpu/dataset/util.h"
#include "kernels/cpu/parsing/example_columns.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// What to parse, from the attributes and the inputs of the op.
struct ExampleFeatures {
  std::vector<std::string> sparse_keys, dense_keys;
  std::vector<DType> sparse_types, dense_types;
  std::vector<Shape> dense_shapes;
  Element dense_defaults;
};

// The components of a batch, in the order of their keys. A sparse component is a vector of three variants: indices,
// values and shape.
StatusOr<Element> ParseBatch(const ExampleFeatures& wanted, const Tensor& serialized) {
  google::protobuf::Arena arena;
  std::vector<const proto::Example*> examples;
  for (const std::string& bytes : serialized.data<std::string>()) {
    auto* example = google::protobuf::Arena::CreateMessage<proto::Example>(&arena);
    if (!example->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return InvalidArgument("Could not parse example input: example ", examples.size(), " has ", bytes.size(),
                             " bytes, which are not a valid tf.train.Example");
    }
    examples.push_back(example);
  }
  const auto rows_of = [&](const std::string& key) {
    cpu::FeatureRows rows;
    for (const proto::Example* e : examples) {
      const auto it = e->features().feature().find(key);
      rows.push_back(it == e->features().feature().end() ? nullptr : &it->second);
    }
    return rows;
  };
  const Tensor no_names;
  std::map<std::string, Tensor> components;
  for (size_t i = 0; i < wanted.sparse_keys.size(); ++i) {
    const std::string& key = wanted.sparse_keys[i];
    TF_ASSIGN_OR_RETURN(cpu::SparseColumn column,
                        cpu::GatherSparse({key, wanted.sparse_types[i], &no_names}, rows_of(key), /*batched=*/true));
    Tensor parts(DType::kVariant, {3});
    const auto to = parts.inplace_data<Variant>();
    to[0].value = MakeRef<TensorValue>(std::move(column.indices));
    to[1].value = MakeRef<TensorValue>(std::move(column.values));
    to[2].value = MakeRef<TensorValue>(std::move(column.shape));
    components[key] = std::move(parts);
  }
  for (size_t i = 0; i < wanted.dense_keys.size(); ++i) {
    const std::string& key = wanted.dense_keys[i];
    TF_ASSIGN_OR_RETURN(components[key],
                        cpu::GatherDense({key, wanted.dense_types[i], &no_names}, rows_of(key), wanted.dense_shapes[i],
                                         wanted.dense_defaults[i], /*batched=*/true));
  }
  Element out;
  for (auto& [key, component] : components) out.push_back(std::move(component));
  return out;
}

// Inputs: input_dataset, num_parallel_calls, dense_defaults.
Status ParseExampleDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  ExampleFeatures wanted;
  wanted.sparse_keys = ctx.node().attr<std::vector<std::string>>("sparse_keys");
  wanted.dense_keys = ctx.node().attr<std::vector<std::string>>("dense_keys");
  wanted.sparse_types = ctx.node().attr<std::vector<DType>>("sparse_types");
  wanted.dense_types = ctx.node().attr<std::vector<DType>>("Tdense");
  wanted.dense_shapes = ctx.node().attr<std::vector<Shape>>("dense_shapes");
  if (!ctx.node().attr<std::vector<std::string>>("ragged_keys").empty()) {
    return Unimplemented("ragged features are not supported here; parse_example in a map gives them");
  }
  for (int i = 2; i < ctx.num_inputs(); ++i) wanted.dense_defaults.push_back(ctx.input(i));
  if (wanted.sparse_keys.size() != wanted.sparse_types.size() ||
      wanted.dense_keys.size() != wanted.dense_types.size() ||
      wanted.dense_shapes.size() != wanted.dense_types.size()) {
    return InvalidArgument("the numbers of keys, types and shapes do not match");
  }
  for (size_t i = 0; i < wanted.dense_keys.size(); ++i) {
    TF_RETURN_IF_ERROR(cpu::CheckDefault({wanted.dense_keys[i], wanted.dense_types[i]}, wanted.dense_shapes[i],
                                         wanted.dense_defaults[i]));
  }
  return EmitDataset(
      ctx, {input},
      [input, wanted](const IteratorContext& c) -> StatusOr<Iterator> {
        TF_ASSIGN_OR_RETURN(Iterator pull, input->MakeIterator(c));
        return MakeStateful(
            std::move(pull), [wanted](Iterator& pull, const IteratorContext& c, Element* out) -> StatusOr<bool> {
              Element e;
              TF_ASSIGN_OR_RETURN(const bool more, pull(c, &e));
              if (!more) return false;
              if (e.size() != 1 || e[0].dtype() != kString || e[0].shape().rank() != 1) {
                return InvalidArgument("the input must be batches of serialized examples: vectors of strings");
              }
              TF_ASSIGN_OR_RETURN(*out, ParseBatch(wanted, e[0]));
              return true;
            });
      },
      input->cardinality());
}

}  // namespace

void RegisterDatasetExampleKernels(KernelRegistry& r) {
  r.Add("ParseExampleDataset", {}, ParseExampleDataset);
  r.Add("ParseExampleDatasetV2", {}, ParseExampleDataset);
}

}  // namespace tensorbraid::cpu
