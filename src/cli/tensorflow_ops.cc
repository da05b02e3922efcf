#include "cli/tensorflow_ops.h"

#include <algorithm>

#include "graph/model/op_registry.h"

namespace tensorbraid {
namespace {

// Ops that cannot run, but are registered so that the error of a step that needs one says why.
constexpr std::string_view kOnlyForTheirError[] = {"EagerPyFunc", "SqlDataset"};

bool IsMissing(std::string_view op) {
  return OpRegistry::Global().Find(std::string(op)) == nullptr ||
         std::count(std::begin(kOnlyForTheirError), std::end(kOnlyForTheirError), op) > 0;
}

// A missing op is listed under the first reason that applies. Reasons for which TensorFlow itself refuses or cannot run
// ops come first.
std::vector<MissingOps> Reasons() {
  return {
      {.heading = "Internal",
       .reason = "TensorFlow's runtime puts these ops into graphs by itself; its clients do not send them.",
       .patterns = {"_*"}},
      {.heading = "TensorFlow's own tests",
       .reason = "These ops exist for the tests of TensorFlow.",
       .patterns = {"ConstructionFails", "DummyIterationCounter", "Fact", "FakeQueue"},
       .facts = TensorFlowOp::kForTests},
      {.heading = "Deprecated",
       .reason = "TensorFlow itself refuses these ops in new graphs.",
       .patterns = {"TensorArrayConcatV2"},
       .facts = TensorFlowOp::kDeprecated},
      {.heading = "TPUs",
       .reason = "These ops are for TPUs.",
       .patterns = {"*Dedup*",
                    "*Minibatch*",
                    "*SparseCore*",
                    "*TPU*",
                    "*Tpu*",
                    "AllToAll",
                    "ApproxTopK",
                    "*CooTensor*",
                    "Infeed*",
                    "Outfeed*",
                    "CrossReplicaSum",
                    "GlobalIterId",
                    "*Physical*",
                    "TopK*",
                    "Prelinearize*",
                    "XlaSparse*",
                    "MakeUnique",
                    "WorkerHeartbeat",
                    "CollectivePermute",
                    "KthOrderStatistic",
                    "UpdateTaskIdAndGlobalCoreArray"}},
      {.heading = "Compilers",
       .reason = "XLA and MLIR, which compile graphs, work with these ops.",
       .patterns = {"*Xla*", "Mlir*", "Risc*"}},
      {.heading = "Collective ops and DTensor",
       .reason = "TensorFlow 2's distribution strategies use these ops; training here goes over parameter servers.",
       .patterns = {"Collective*", "Nccl*", "DTensor*", "Relayout*", "CopyToMesh*", "DistributedSave"}},
      {.heading = "No kernels for CPUs",
       .reason = "TensorFlow runs these ops on GPUs only, or under XLA only.",
       .patterns = {"Cudnn*", "GenerateBoundingBoxProposals", "*FFTND"}},
      {.heading = "Boosted trees",
       .reason = "TensorFlow no longer has kernels for these ops.",
       .patterns = {"*BoostedTrees*"}},
      {.heading = "Quantized kernels",
       .reason = "These ops compute with quantized integers, for inference. Training with FakeQuant and "
                 "QuantizeAndDequantize is available.",
       .patterns = {"*Quantize*", "Dequantize", "Requant*", "Uniform*", "CalibrationStatisticsSaver",
                    "CustomAggregator", "StochasticCastToInt"}},
      {.heading = "Eager functions",
       .reason = "tf.py_function calls a function on eager tensors, which needs TensorFlow in the client's process. A "
                 "graph may contain it; a step that needs it fails with an error that says so. See PyFunc.",
       .patterns = {"EagerPyFunc"}},
      {.heading = "Old names of datasets",
       .reason = "Early releases of TensorFlow 1 sent these ops; later ones send them without \"Experimental\".",
       .patterns = {"Experimental*"}},
      {.heading = "Eager execution",
       .reason = "TensorFlow 2 uses these ops outside of graphs, or to distribute its functions.",
       .patterns = {"Anonymous*", "Delete*", "*MultiDeviceIterator*", "*IteratorGet*", "Rpc*", "DeviceIndex",
                    "CompositeTensor*", "CheckPinned", "HostConst", "SyncDevice"}},
      {.heading = "Databases",
       .reason = "These ops need the libraries of databases, SQLite and LMDB. A graph may contain SqlDataset; a step "
                 "that needs it fails with an error that says so.",
       .patterns = {"SqlDataset", "LMDB*"}},
      {.heading = "Datasets",
       .reason = "These ops are for sources of data that are rarely used in graphs of sessions, for tf.data's service "
                 "and statistics, and for the functions that rewrite datasets.",
       .patterns = {"*Dataset*", "*Iterator", "StatsAggregator*", "ThreadPoolHandle", "CompressElement",
                    "UncompressElement", "ComputeBatchSize", "GetElementAtIndex", "GetOptions", "WindowOp",
                    "RandomIndexShuffle"}},
      {.heading = "Batches of requests",
       .reason = "Servers that serve models gather requests with these ops.",
       .patterns = {"Batch*", "Unbatch*"}},
      {.heading = "Debugger", .reason = "tfdbg puts these ops into graphs.", .patterns = {"Debug*", "DumpTensor"}},
      {.heading = "Sparse matrices in compressed rows",
       .reason = "Only tf.raw_ops and an experimental module of TensorFlow 2 make them; sparse tensors are available.",
       .patterns = {"*CSRSparseMatrix*", "SparseMatrix*"}},
      {.heading = "Ragged tensors and counts",
       .reason = "TensorFlow 2's preprocessing uses these ops; the conversions of ragged tensors are available.",
       .patterns = {"Ragged*", "*CountSparseOutput"}},
      {.heading = "Maps of tensors",
       .reason = "TensorFlow calls them experimental.",
       .patterns = {"TensorMap*", "EmptyTensorMap"}},
      {.heading = "Random number generators",
       .reason = "tf.random.Generator of TensorFlow 2 uses most of these ops; the other random ops, with and without "
                 "state, are available.",
       .patterns = {"Stateful*", "StatelessParameterized*", "StatelessRandomBinomial", "StatelessShuffle",
                    "SobolSample"}},
      {.heading = "Classical methods",
       .reason = "Linear models by coordinate ascent and k-means came with their own estimators.",
       .patterns = {"Sdca*", "KMC2*", "Kmeans*", "NearestNeighbors"}},
      {.heading = "Sound",
       .reason = "These ops read audio and prepare it for models.",
       .patterns = {"Audio*", "Mfcc", "DecodeWav", "EncodeWav"}},
      {.heading = "Formats that need further libraries",
       .reason = "WebP and JPEG XL images, and messages whose schema is known at run time only. DecodeCompressed is "
                 "available for gzip and zlib, without Zstandard.",
       .patterns = {"DecodeWebP", "DecodeJxl", "DecodeProtoV2", "EncodeProto"}},
      {.heading = "Summaries of TensorFlow 2",
       .reason = "Summaries written to a database, or by ops of one kind each.",
       .patterns = {"CreateSummaryDbWriter", "Write*Summary"}},
      {.heading = "Other",
       .reason = "Seldom used, or made by tools that rewrite graphs for inference.",
       .patterns = {"FileSystemSetConfiguration", "Fused*PadConv2D", "GetSessionHandleV2", "ImmutableConst", "MapDefun",
                    "MutableDenseHashTable", "Recv", "Send"}},
  };
}

bool Matches(std::string_view name, std::string_view pattern) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  for (size_t at = star; at <= name.size(); ++at) {
    if (Matches(name.substr(at), pattern.substr(star + 1))) return true;
  }
  return false;
}

bool Applies(const MissingOps& reason, const TensorFlowOp& op) {
  return (op.facts & reason.facts) != 0 || std::any_of(reason.patterns.begin(), reason.patterns.end(),
                                                       [&](const auto& p) { return Matches(op.name, p); });
}

}  // namespace

std::span<const TensorFlowOp> TensorFlowOps() {
  using enum TensorFlowOp::Fact;
  static constexpr TensorFlowOp kOps[] = {
#include "cli/tensorflow_ops.inc"
  };
  return kOps;
}

std::vector<MissingOps> OpsMissingHere() {
  std::vector<MissingOps> groups = Reasons();
  groups.push_back({.heading = "Not classified"});
  for (const TensorFlowOp& op : TensorFlowOps()) {
    if (!IsMissing(op.name)) continue;
    const auto group =
        std::find_if(groups.begin(), groups.end() - 1, [&](const MissingOps& reason) { return Applies(reason, op); });
    group->names.emplace_back(op.name);
  }
  return groups;
}

}  // namespace tensorbraid
