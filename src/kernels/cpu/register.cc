// The list of all kernels of the CPU: every file registers its own. There is no self-registration by static objects.
#include "kernels/cpu/array/parts.h"
#include "kernels/cpu/control_flow/parts.h"
#include "kernels/cpu/data_flow/parts.h"
#include "kernels/cpu/dataset/parts.h"
#include "kernels/cpu/image/parts.h"
#include "kernels/cpu/io/parts.h"
#include "kernels/cpu/linalg/parts.h"
#include "kernels/cpu/list/parts.h"
#include "kernels/cpu/logging/parts.h"
#include "kernels/cpu/math/parts.h"
#include "kernels/cpu/nn/parts.h"
#include "kernels/cpu/parsing/parts.h"
#include "kernels/cpu/random/parts.h"
#include "kernels/cpu/reduction/parts.h"
#include "kernels/cpu/rnn/parts.h"
#include "kernels/cpu/sparse/parts.h"
#include "kernels/cpu/state/parts.h"
#include "kernels/cpu/string/parts.h"
#include "kernels/cpu/summary/parts.h"
#include "kernels/cpu/training/parts.h"
#include "kernels/cpu/wire/parts.h"

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
    RegisterDatasetFunctionKernels(*r);
    RegisterDatasetIteratorKernels(*r);
    RegisterDatasetParallelKernels(*r);
    RegisterDatasetShapingKernels(*r);
    RegisterDatasetShuffleKernels(*r);
    RegisterDatasetSourceKernels(*r);

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
    RegisterTrainingProximalKernels(*r);
    RegisterTrainingStalenessKernels(*r);

    RegisterWireKernels(*r);

    for (const DeviceType& type : DeviceTypes()) {
      if (type.register_kernels != nullptr) type.register_kernels(*r);
    }
    return r;
  }();
  return *registry;
}

}  // namespace tensorbraid
