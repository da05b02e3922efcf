// The list of all ops: every file of src/ops registers its own. There is no self-registration by static objects.
#include "ops/array/registration.h"
#include "ops/control_flow/registration.h"
#include "ops/data_flow/registration.h"
#include "ops/dataset/registration.h"
#include "ops/image/registration.h"
#include "ops/io/registration.h"
#include "ops/linalg/registration.h"
#include "ops/list/registration.h"
#include "ops/logging/registration.h"
#include "ops/math/registration.h"
#include "ops/nn/registration.h"
#include "ops/parsing/registration.h"
#include "ops/random/registration.h"
#include "ops/reduction/registration.h"
#include "ops/rnn/registration.h"
#include "ops/sparse/registration.h"
#include "ops/state/registration.h"
#include "ops/string/registration.h"
#include "ops/summary/registration.h"
#include "ops/training/registration.h"
#include "ops/wire/registration.h"

namespace tensorbraid {

const OpRegistry& OpRegistry::Global() {
  static const OpRegistry* registry = [] {
    auto* r = new OpRegistry;
    RegisterArrayOps(*r);
    RegisterArrayBlocksOps(*r);
    RegisterArrayGatherOps(*r);
    RegisterArrayJoinOps(*r);
    RegisterArrayPassOps(*r);
    RegisterArrayRearrangeOps(*r);
    RegisterArrayScatterOps(*r);
    RegisterArraySearchOps(*r);
    RegisterArrayShapeOps(*r);
    RegisterArraySliceOps(*r);

    RegisterControlFlowOps(*r);
    RegisterControlFlowFunctionalOps(*r);
    RegisterControlFlowHostFunctionOps(*r);
    RegisterControlFlowSendRecvOps(*r);

    RegisterDataFlowAccumulatorOps(*r);
    RegisterDataFlowBarrierOps(*r);
    RegisterDataFlowDynamicPartitionOps(*r);
    RegisterDataFlowLookupOps(*r);
    RegisterDataFlowMutexOps(*r);
    RegisterDataFlowQueueOps(*r);
    RegisterDataFlowSessionTensorOps(*r);
    RegisterDataFlowStagingOps(*r);
    RegisterDataFlowTensorArrayOps(*r);

    RegisterDatasetBatchOps(*r);
    RegisterDatasetCacheOps(*r);
    RegisterDatasetExampleOps(*r);
    RegisterDatasetFunctionOps(*r);
    RegisterDatasetIteratorOps(*r);
    RegisterDatasetParallelOps(*r);
    RegisterDatasetShapingOps(*r);
    RegisterDatasetShuffleOps(*r);
    RegisterDatasetSnapshotOps(*r);
    RegisterDatasetSourceOps(*r);
    RegisterDatasetSparseOps(*r);

    RegisterImageBoxesOps(*r);
    RegisterImageCodingOps(*r);
    RegisterImageColorOps(*r);
    RegisterImageCropOps(*r);
    RegisterImageNonMaxSuppressionOps(*r);
    RegisterImagePatchesOps(*r);
    RegisterImageProjectiveOps(*r);
    RegisterImageResizeOps(*r);
    RegisterImageScaleOps(*r);

    RegisterIoCheckpointOps(*r);
    RegisterIoCheckpointRemapOps(*r);
    RegisterIoCheckpointV1Ops(*r);
    RegisterIoFilesOps(*r);
    RegisterIoReadersOps(*r);

    RegisterLinalgBandedOps(*r);
    RegisterLinalgDecomposeOps(*r);
    RegisterLinalgDiagonalOps(*r);
    RegisterLinalgEigenOps(*r);
    RegisterLinalgEinsumOps(*r);
    RegisterLinalgFourierOps(*r);
    RegisterLinalgFunctionsOps(*r);
    RegisterLinalgSolveOps(*r);
    RegisterLinalgSvdOps(*r);

    RegisterListOptionalOps(*r);
    RegisterListTensorListOps(*r);
    RegisterListTensorListBulkOps(*r);

    RegisterLoggingOps(*r);

    RegisterMathAddNOps(*r);
    RegisterMathBesselOps(*r);
    RegisterMathBinaryOps(*r);
    RegisterMathBitwiseOps(*r);
    RegisterMathCastOps(*r);
    RegisterMathClipOps(*r);
    RegisterMathComparisonOps(*r);
    RegisterMathComplexOps(*r);
    RegisterMathCrossOps(*r);
    RegisterMathLogicalOps(*r);
    RegisterMathMatmulOps(*r);
    RegisterMathRangeOps(*r);
    RegisterMathSelectOps(*r);
    RegisterMathSpecialOps(*r);
    RegisterMathUnaryOps(*r);

    RegisterNnActivationOps(*r);
    RegisterNnBiasAddOps(*r);
    RegisterNnConvolutionOps(*r);
    RegisterNnDepthwiseConvolutionOps(*r);
    RegisterNnDilationOps(*r);
    RegisterNnCtcOps(*r);
    RegisterNnInTopKOps(*r);
    RegisterNnIsotonicOps(*r);
    RegisterNnL2LossOps(*r);
    RegisterNnSoftmaxOps(*r);
    RegisterNnBatchNormOps(*r);
    RegisterNnFakeQuantOps(*r);
    RegisterNnFractionalPoolingOps(*r);
    RegisterNnLocalResponseOps(*r);
    RegisterNnPoolingOps(*r);
    RegisterNnPooling3DOps(*r);
    RegisterNnPoolingArgmaxOps(*r);
    RegisterNnQuantizeAndDequantizeOps(*r);

    RegisterParsingDecodeOps(*r);
    RegisterParsingExampleOps(*r);
    RegisterParsingSequenceExampleOps(*r);
    RegisterParsingTensorOps(*r);

    RegisterRandomCandidateSamplingOps(*r);
    RegisterRandomOps(*r);
    RegisterRandomSamplingOps(*r);
    RegisterRandomStateOps(*r);
    RegisterRandomStatelessOps(*r);

    RegisterReductionArgMaxOps(*r);
    RegisterReductionHistogramOps(*r);
    RegisterReductionOps(*r);
    RegisterReductionScanOps(*r);
    RegisterReductionSegmentOps(*r);

    RegisterRnnBasicSequenceOps(*r);
    RegisterRnnGruOps(*r);
    RegisterRnnGruSequenceOps(*r);
    RegisterRnnLstmOps(*r);

    RegisterSparseCrossOps(*r);
    RegisterSparseDenseOps(*r);
    RegisterSparseMathOps(*r);
    RegisterSparseRaggedOps(*r);
    RegisterSparseRaggedVariantOps(*r);
    RegisterSparseSegmentOps(*r);
    RegisterSparseSetsOps(*r);
    RegisterSparseStorageOps(*r);
    RegisterSparseStructureOps(*r);

    RegisterStateScatterOps(*r);
    RegisterStateScatterNdOps(*r);
    RegisterStateSliceOps(*r);
    RegisterStateOps(*r);

    RegisterStringFormatOps(*r);
    RegisterStringHashOps(*r);
    RegisterStringJoinOps(*r);
    RegisterStringNumbersOps(*r);
    RegisterStringRegexOps(*r);
    RegisterStringSplitOps(*r);
    RegisterStringOps(*r);
    RegisterStringUnicodeOps(*r);

    RegisterSummaryOps(*r);
    RegisterSummaryWriterOps(*r);

    RegisterTrainingAdaptiveOps(*r);
    RegisterTrainingDescentOps(*r);
    RegisterTrainingHostSumsOps(*r);
    RegisterTrainingProximalOps(*r);
    RegisterTrainingReplicaClocksOps(*r);

    RegisterWireOps(*r);
    return r;
  }();
  return *registry;
}

}  // namespace tensorbraid
