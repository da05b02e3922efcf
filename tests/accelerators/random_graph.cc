#include "random_graph.h"

#include <algorithm>
#include <random>
#include <utility>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

std::string Numbers(const std::vector<int64_t>& numbers) {
  std::vector<std::string> texts;
  for (const int64_t n : numbers) texts.push_back(StrCat(n));
  return StrCat("[", StrJoin(texts, ","), "]");
}

}  // namespace

Tensor RandomGraph::RandomTensor(DType dtype, const Dims& dims, int64_t batch, uint64_t seed) {
  Dims sizes = dims;
  std::replace(sizes.begin(), sizes.end(), int64_t{-1}, batch);
  Tensor t(dtype, Shape(sizes));
  std::mt19937_64 random(seed);
  const auto fill = [&](auto element) {
    using T = decltype(element);
    for (T& x : t.mutable_data<T>()) {
      const int k = static_cast<int>(random() % 17) - 8;
      if constexpr (std::is_same_v<T, bool>) {
        x = k > 0;
      } else if constexpr (std::is_integral_v<T>) {
        x = static_cast<T>(std::is_unsigned_v<T> ? std::abs(k) / 2 : k / 2);
      } else {
        x = static_cast<T>(static_cast<float>(k) / 4);
      }
    }
  };
  switch (dtype) {
    case DType::kFloat32:
      fill(float());
      break;
    case DType::kFloat64:
      fill(double());
      break;
    case DType::kFloat16:
      fill(Float16());
      break;
    case DType::kBfloat16:
      fill(Bfloat16());
      break;
    case DType::kInt8:
      fill(int8_t());
      break;
    case DType::kInt32:
      fill(int32_t());
      break;
    case DType::kInt64:
      fill(int64_t());
      break;
    case DType::kUint8:
      fill(uint8_t());
      break;
    case DType::kUint32:
      fill(uint32_t());
      break;
    default:
      fill(bool());
  }
  return t;
}

bool RandomGraph::Uses(int node, int output) const {
  for (const Node& user : nodes) {
    if (user.fed) continue;
    for (const Argument& argument : user.inputs) {
      for (const Source& s : argument.sources) {
        if (s.node == node && s.output == output) return true;
      }
    }
  }
  return false;
}

RandomGraph::Built RandomGraph::Build(Graph& graph, const std::string& device) const {
  Built built;
  for (size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    const auto scope = graph.Device(node.on_host ? "/device:CPU:0" : device);
    const std::string name = StrCat("n", n);
    std::vector<Output> outputs;
    Operation operation;
    if (node.fed) {
      for (size_t k = 0; k < node.outputs.size(); ++k) {
        outputs.push_back(NodeBuilder(graph, "Placeholder")
                              .Name(StrCat(name, "_", k))
                              .Attr("dtype", node.outputs[k].dtype)
                              .Attr("shape", Shape(node.outputs[k].dims))
                              .Output());
      }
    } else {
      NodeBuilder builder(graph, node.op);
      builder.Name(name);
      for (const Argument& argument : node.inputs) {
        std::vector<Output> inputs;
        for (const Source& s : argument.sources) inputs.push_back(built.outputs[s.node][s.output]);
        if (argument.is_list) {
          builder.InputList(inputs);
        } else {
          builder.Input(inputs[0]);
        }
      }
      for (const auto& [key, value] : node.attrs) builder.Attr(key, value);
      if (node.op == "VarHandleOp") builder.Attr("shared_name", name);
      for (const int before : node.controls) {
        if (built.operations[before].valid()) builder.Control(built.operations[before]);
      }
      operation = builder.Finish();
      for (size_t k = 0; operation.valid() && k < node.outputs.size(); ++k) {
        outputs.push_back(operation.output(static_cast<int>(k)));
      }
    }
    if (!node.fed && !operation.valid()) outputs.resize(node.outputs.size());
    built.outputs.push_back(std::move(outputs));
    built.operations.push_back(operation);
  }
  for (const Variable& v : variables) {
    const auto scope = graph.Device(device);
    const Tensor initial = RandomTensor(v.value.dtype, v.value.dims, 1, seed + static_cast<uint64_t>(v.node));
    const Output value = NodeBuilder(graph, "Const").Attr("value", initial).Attr("dtype", initial.dtype()).Output();
    built.initializers.push_back(NodeBuilder(graph, v.reference ? "Assign" : "AssignVariableOp")
                                     .Input(built.outputs[v.node][0])
                                     .Input(value)
                                     .Finish());
  }
  return built;
}

std::vector<Feed> RandomGraph::Feeds(const Built& built, int step) const {
  std::vector<Feed> feeds;
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (size_t k = 0; nodes[n].fed && k < nodes[n].outputs.size(); ++k) {
      const Value& v = nodes[n].outputs[k];
      const uint64_t place = (static_cast<uint64_t>(step) * 1000 + n) * 4 + k;
      feeds.push_back({built.outputs[n][k],
                       RandomTensor(v.dtype, v.dims, batches[static_cast<size_t>(step)], seed * 1000003 + place)});
    }
  }
  return feeds;
}

std::string RandomGraph::ToString() const {
  std::string text = StrCat("seed ", seed, ", batches of ", Numbers(batches), ", ", threads, " threads\n");
  for (size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    bool used = node.fetched || node.outputs.empty();
    for (size_t k = 0; k < node.outputs.size(); ++k) used |= Uses(static_cast<int>(n), static_cast<int>(k));
    for (const Variable& v : variables) {
      used |= std::find(v.updates.begin(), v.updates.end(), static_cast<int>(n)) != v.updates.end();
    }
    if (!used || (node.fed && node.outputs.empty())) continue;
    text += StrCat("  n", n, ": ", node.fed ? "fed" : node.op);
    for (const Argument& argument : node.inputs) {
      for (size_t i = 0; !node.fed && i < argument.sources.size(); ++i) {
        text += StrCat(" n", argument.sources[i].node, ":", argument.sources[i].output);
      }
    }
    for (size_t i = 0; !node.fed && i < node.controls.size(); ++i) text += StrCat(" ^n", node.controls[i]);
    for (const Value& v : node.outputs) text += StrCat(" -> ", DTypeName(v.dtype), Numbers(v.dims));
    text += StrCat(node.fetched ? ", fetched" : "", node.on_host ? ", on the host" : "", "\n");
  }
  return text;
}

}  // namespace tensorbraid
