#include "executor/passes/pass.h"

namespace tensorbraid {

std::span<const Pass> Passes() {
  static constexpr Pass kPasses[] = {
      // First, while Identity nodes still show which tensors are reads of references.
      {"known_shapes", FoldKnownShapes},
      {"remove_identities", RemoveIdentities},
      {"constant_folding", FoldConstants},
      // After the passes that make nodes equal.
      {"common_subexpressions", MergeCommonSubexpressions},
      // After common_subexpressions, which may give a node more consumers.
      {"fuse_biases", FuseBiases},
      {"fuse_relu_gradients", FuseReluGradients},
      // After fuse_relu_gradients, whose node this pass fuses further.
      {"fuse_batch_norms", FuseBatchNorms},
      {"sum_products", SumProducts},
      // After the passes that leave nodes with reference inputs alone.
      {"remove_reference_identities", RemoveReferenceIdentities},
      // After remove_reference_identities, so that SaveV2 takes references directly.
      {"save_variables", SaveVariables},
      // Drops the nodes that the other passes left without a consumer.
      {"prune", Prune},
      // When all consumers are known.
      {"mark_unused_outputs", MarkUnusedOutputs},
      // Last, for the nodes that remain.
      {"mark_clusters", MarkClusters},
  };
  return kPasses;
}

}  // namespace tensorbraid
