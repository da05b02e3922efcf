#include "train/checkpoints/random_states.h"

#include <set>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "tensorbraid/checkpoint/checkpoint.h"

namespace tensorbraid {
namespace {

// Whether the op's kernel is a StatefulKernel (runtime/kernel/kernel_state.h): it has a random generator.
bool HasGenerator(const std::string& op) {
  static const auto* ops = new std::set<std::string>{"RandomUniform",
                                                     "RandomUniformInt",
                                                     "RandomStandardNormal",
                                                     "TruncatedNormal",
                                                     "ParameterizedTruncatedNormal",
                                                     "RandomShuffle",
                                                     "Multinomial",
                                                     "RandomGamma",
                                                     "RandomPoisson",
                                                     "RandomPoissonV2",
                                                     "RandomCrop",
                                                     "SampleDistortedBoundingBox",
                                                     "SampleDistortedBoundingBoxV2",
                                                     "FractionalAvgPool",
                                                     "FractionalMaxPool",
                                                     "UniformCandidateSampler",
                                                     "LogUniformCandidateSampler",
                                                     "LearnedUnigramCandidateSampler",
                                                     "ThreadUnsafeUnigramCandidateSampler",
                                                     "FixedUnigramCandidateSampler"};
  return ops->contains(op);
}

bool IsIterator(const std::string& op) { return op == "Iterator" || op == "IteratorV2" || op == "OneShotIterator"; }

}  // namespace

RandomStates::RandomStates(const Graph& graph) {
  const GraphLock lock(graph);
  for (const auto& node : ImplOf(graph).nodes()) {
    const bool is_iterator = IsIterator(node->type());
    if (!is_iterator && !HasGenerator(node->type())) continue;
    owners_.push_back(OperationOf(node.get()));
    names_.push_back(StrCat(node->name(), is_iterator ? "/.iterator_state" : "/.random_state"));
    dtypes_.push_back(is_iterator ? DType::kVariant : kInt64);
  }
}

void RandomStates::AddReads(Graph& graph, std::vector<std::string>* names, std::vector<Output>* values,
                            std::vector<DType>* dtypes) const {
  for (size_t i = 0; i < owners_.size(); ++i) {
    const Operation& owner = owners_[i];
    auto beside = graph.ColocateWith(owner);
    values->push_back(dtypes_[i] == kInt64 ? NodeBuilder(graph, "_ReadRandomState").Attr("node", owner.name()).Output()
                                           : NodeBuilder(graph, "SerializeIterator").Input(owner.output(0)).Output());
    names->push_back(names_[i]);
    dtypes->push_back(dtypes_[i]);
  }
}

Operation RandomStates::AddRestore(Graph& graph, const Output& prefix) const {
  if (owners_.empty()) return {};
  const auto strings = [&](const std::vector<std::string>& values) {
    return NodeBuilder(graph, "Const").Attr("value", Tensor::Vector(values)).Attr("dtype", kString).Output();
  };
  const Operation read = NodeBuilder(graph, "RestoreV2")
                             .Input(prefix)
                             .Input(strings(names_))
                             .Input(strings(std::vector<std::string>(names_.size())))
                             .Attr("dtypes", dtypes_)
                             .Finish();
  if (!read.valid()) return {};
  NodeBuilder all(graph, "NoOp");
  all.Name("restore_random_states");
  for (size_t i = 0; i < owners_.size(); ++i) {
    const Operation& owner = owners_[i];
    auto beside = graph.ColocateWith(owner);
    const Output state = read.output(static_cast<int>(i));
    all.Control(dtypes_[i] == kInt64
                    ? NodeBuilder(graph, "_SetRandomState").Input(state).Attr("node", owner.name()).Finish()
                    : NodeBuilder(graph, "DeserializeIterator").Input(owner.output(0)).Input(state).Finish());
  }
  return all.Finish();
}

bool RandomStates::AreIn(const std::string& prefix) const {
  const auto reader = CheckpointReader::Open(prefix);
  if (!reader.ok()) return true;
  for (const std::string& name : names_) {
    if ((*reader)->HasTensor(name)) continue;
    TB_LOG(Warning, "train") << "the checkpoint '" << prefix << "' has no '" << name
                             << "': the random ops and the input pipelines start anew";
    return false;
  }
  return true;
}

}  // namespace tensorbraid
