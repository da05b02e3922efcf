// The list of all kernels of the CPU: every file registers its own. There is no self-registration by static objects.
#include "kernels/cpu/array/registration.h"
#include "kernels/cpu/control_flow/registration.h"
#include "kernels/cpu/data_flow/registration.h"
#include "kernels/cpu/dataset/registration.h"
#include "kernels/cpu/image/registration.h"
#include "kernels/cpu/io/registration.h"
#include "kernels/cpu/linalg/registration.h"
#include "kernels/cpu/list/registration.h"
#include "kernels/cpu/logging/registration.h"
#include "kernels/cpu/math/registration.h"
#include "kernels/cpu/nn/registration.h"
#include "kernels/cpu/parsing/registration.h"
#include "kernels/cpu/random/registration.h"
#include "kernels/cpu/reduction/registration.h"
#include "kernels/cpu/rnn/registration.h"
#include "kernels/cpu/sparse/registration.h"
#include "kernels/cpu/state/registration.h"
#include "kernels/cpu/string/registration.h"
#include "kernels/cpu/summary/registration.h"
#include "kernels/cpu/training/registration.h"
#include "kernels/cpu/wire/registration.h"

namespace tensorbraid {

const KernelRegistry& KernelRegistry::Global() {
  static const KernelRegistry* registry = [] {
    using namespace cpu;  // NOLINT: the namespace of most kernels
    auto* r = new KernelRegistry;
    RegisterArrayKernels(*r);
    RegisterArrayBlocksKernels(*r);
    RegisterArrayGatherKernels(*r);
    RegisterArrayJoinKernels(*r);
    RegisterArrayPassKernels(*r);
    RegisterArrayRearrangeKernels(*r);
    RegisterArrayScatterKernels(*r);
    RegisterArraySearchKernels(*r);
    RegisterArrayShapeKernels(*r);
    RegisterArraySliceKernels(*r);

    RegisterControlFlowKernels(*r);
    RegisterControlFlowFunctionalKernels(*r);
    RegisterControlFlowHostFunctionKernels(*r);
    RegisterControlFlowSendRecvKernels(*r);

    RegisterDataFlowAccumulatorKernels(*r);
    RegisterDataFlowBarrierKernels(*r);
    RegisterDataFlowDynamicPartitionKernels(*r);
    RegisterDataFlowLookupKernels(*r);
    RegisterDataFlowMutexKernels(*r);
    RegisterDataFlowQueueKernels(*r);
    RegisterDataFlowSessionTensorKernels(*r);
    RegisterDataFlowStagingKernels(*r);
    RegisterDataFlowTensorArrayKernels(*r);

    RegisterDatasetBatchKernels(*r);
    RegisterDatasetCacheKernels(*r);
    RegisterDatasetExampleKernels(*r);
    RegisterDatasetFunctionKernels(*r);
    RegisterDatasetIteratorKernels(*r);
    RegisterDatasetParallelKernels(*r);
    RegisterDatasetShapingKernels(*r);
    RegisterDatasetShuffleKernels(*r);
    RegisterDatasetSnapshotKernels(*r);
    RegisterDatasetSourceKernels(*r);
    RegisterDatasetSparseKernels(*r);

    RegisterImageBoxesKernels(*r);
    RegisterImageCodingKernels(*r);
    RegisterImageColorKernels(*r);
    RegisterImageCropKernels(*r);
    RegisterImageNonMaxSuppressionKernels(*r);
    RegisterImagePatchesKernels(*r);
    RegisterImageProjectiveKernels(*r);
    RegisterImageResizeKernels(*r);
    RegisterImageScaleKernels(*r);

    RegisterIoCheckpointKernels(*r);
    RegisterIoCheckpointRemapKernels(*r);
    RegisterIoCheckpointV1Kernels(*r);
    RegisterIoFilesKernels(*r);
    RegisterIoReadersKernels(*r);

    RegisterLinalgBandedKernels(*r);
    RegisterLinalgDecomposeKernels(*r);
    RegisterLinalgDiagonalKernels(*r);
    RegisterLinalgEigenKernels(*r);
    RegisterLinalgEinsumKernels(*r);
    RegisterLinalgFourierKernels(*r);
    RegisterLinalgFunctionsKernels(*r);
    RegisterLinalgSolveKernels(*r);
    RegisterLinalgSvdKernels(*r);

    RegisterListOptionalKernels(*r);
    RegisterListTensorListKernels(*r);
    RegisterListTensorListBulkKernels(*r);

    RegisterLoggingKernels(*r);

    RegisterMathAddNKernels(*r);
    RegisterMathBesselKernels(*r);
    RegisterMathBinaryKernels(*r);
    RegisterMathBitwiseKernels(*r);
    RegisterMathCastKernels(*r);
    RegisterMathClipKernels(*r);
    RegisterMathComparisonKernels(*r);
    RegisterMathComplexKernels(*r);
    RegisterMathCrossKernels(*r);
    RegisterMathLogicalKernels(*r);
    RegisterMathMatmulKernels(*r);
    RegisterMathRangeKernels(*r);
    RegisterMathSelectKernels(*r);
    RegisterMathSpecialKernels(*r);
    RegisterMathUnaryKernels(*r);

    RegisterNnActivationKernels(*r);
    RegisterNnBiasAddKernels(*r);
    RegisterNnConvolutionKernels(*r);
    RegisterNnDepthwiseConvolutionKernels(*r);
    RegisterNnDilationKernels(*r);
    RegisterNnCtcKernels(*r);
    RegisterNnInTopKKernels(*r);
    RegisterNnIsotonicKernels(*r);
    RegisterNnL2LossKernels(*r);
    RegisterNnSoftmaxKernels(*r);
    RegisterNnBatchNormKernels(*r);
    RegisterNnFakeQuantKernels(*r);
    RegisterNnFractionalPoolingKernels(*r);
    RegisterNnLocalResponseKernels(*r);
    RegisterNnPoolingKernels(*r);
    RegisterNnPooling3DKernels(*r);
    RegisterNnPoolingArgmaxKernels(*r);
    RegisterNnQuantizeAndDequantizeKernels(*r);

    RegisterParsingDecodeKernels(*r);
    RegisterParsingExampleKernels(*r);
    RegisterParsingSequenceExampleKernels(*r);
    RegisterParsingTensorKernels(*r);

    RegisterRandomCandidateSamplingKernels(*r);
    RegisterRandomKernels(*r);
    RegisterRandomSamplingKernels(*r);
    RegisterRandomStateKernels(*r);
    RegisterRandomStatelessKernels(*r);

    RegisterReductionArgMaxKernels(*r);
    RegisterReductionHistogramKernels(*r);
    RegisterReductionKernels(*r);
    RegisterReductionScanKernels(*r);
    RegisterReductionSegmentKernels(*r);

    RegisterRnnBasicSequenceKernels(*r);
    RegisterRnnGruKernels(*r);
    RegisterRnnGruSequenceKernels(*r);
    RegisterRnnLstmKernels(*r);

    RegisterSparseCrossKernels(*r);
    RegisterSparseDenseKernels(*r);
    RegisterSparseMathKernels(*r);
    RegisterSparseRaggedKernels(*r);
    RegisterSparseRaggedVariantKernels(*r);
    RegisterSparseSegmentKernels(*r);
    RegisterSparseSetsKernels(*r);
    RegisterSparseStorageKernels(*r);
    RegisterSparseStructureKernels(*r);

    RegisterStateScatterKernels(*r);
    RegisterStateScatterNdKernels(*r);
    RegisterStateSliceKernels(*r);
    RegisterStateKernels(*r);

    RegisterStringFormatKernels(*r);
    RegisterStringHashKernels(*r);
    RegisterStringJoinKernels(*r);
    RegisterStringNumbersKernels(*r);
    RegisterStringRegexKernels(*r);
    RegisterStringSplitKernels(*r);
    RegisterStringKernels(*r);
    RegisterStringUnicodeKernels(*r);

    RegisterSummaryKernels(*r);
    RegisterSummaryWriterKernels(*r);

    RegisterTrainingAdaptiveKernels(*r);
    RegisterTrainingDescentKernels(*r);
    RegisterTrainingHostSumsKernels(*r);
    RegisterTrainingProximalKernels(*r);
    RegisterTrainingReplicaClocksKernels(*r);

    RegisterWireKernels(*r);

    for (const DeviceType& type : DeviceTypes()) {
      if (type.register_kernels != nullptr) type.register_kernels(*r);
    }
    return r;
  }();
  return *registry;
}

}  // namespace tensorbraid
