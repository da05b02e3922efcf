// The ops that the host computes, although TensorFlow compiles them for accelerators. The log, the messages about
// placement and docs/ops.md have these reasons. Other ops without an emitter are those that TensorFlow does not
// compile, either.
#include "pjrt/emitter.h"

namespace tensorbraid::pjrt {
namespace {

constexpr char kChooses[] = "the host chooses the generator of random numbers";
constexpr char kDraws[] = "it draws numbers one after the other, as many as it needs";
constexpr char kExecutor[] = "control flow and calls of functions run in the executor";
constexpr char kGenerator[] = "it uses the state of a generator, which the host keeps";
constexpr char kImages[] = "the host prepares images";
constexpr char kQuantization[] = "programs are not quantized";
constexpr char kReadsVariable[] = "it only reads what the host keeps of a variable";
constexpr char kSeries[] = "StableHLO has no such function, and its series has as many terms as an element needs";
constexpr char kShape[] = "the shape of its output depends on the elements of its inputs";
constexpr char kSteps[] = "StableHLO has no such algorithm, and a matrix without a result is an error";

constexpr struct {
  const char* op;
  const char* reason;
} kHostOps[] = {
    {"AdjustContrastv2", kImages},
    {"AdjustHue", kImages},
    {"AdjustSaturation", kImages},
    {"BesselI0e", kSeries},
    {"BesselI1e", kSeries},
    {"Betainc", kSeries},
    {"Case", kExecutor},
    {"DynamicPartition", kShape},
    {"ExtractImagePatches", kImages},
    {"FakeParam", kExecutor},
    {"FakeQuantWithMinMaxArgs", kQuantization},
    {"FakeQuantWithMinMaxArgsGradient", kQuantization},
    {"FakeQuantWithMinMaxVars", kQuantization},
    {"FakeQuantWithMinMaxVarsGradient", kQuantization},
    {"FakeQuantWithMinMaxVarsPerChannel", kQuantization},
    {"FakeQuantWithMinMaxVarsPerChannelGradient", kQuantization},
    {"HSVToRGB", kImages},
    {"If", kExecutor},
    {"Igamma", kSeries},
    {"IgammaGradA", kSeries},
    {"Igammac", kSeries},
    {"ListDiff", kShape},
    {"MatrixInverse", kSteps},
    {"MatrixSolve", kSteps},
    {"Multinomial", kDraws},
    {"NonMaxSuppressionV3", kShape},
    {"NonMaxSuppressionV4", kShape},
    {"ParameterizedTruncatedNormal", kDraws},
    {"PartitionedCall", kExecutor},
    {"PlaceholderWithDefault", kExecutor},
    {"Polygamma", kSeries},
    {"Qr", kSteps},
    {"QuantizeAndDequantizeV2", kQuantization},
    {"QuantizeAndDequantizeV3", kQuantization},
    {"QuantizeAndDequantizeV4", kQuantization},
    {"RGBToHSV", kImages},
    {"RandomGammaGrad", kSeries},
    {"RandomShuffle", kDraws},
    {"ResizeBilinear", kImages},
    {"ResizeBilinearGrad", kImages},
    {"ResizeNearestNeighbor", kImages},
    {"RngReadAndSkip", kGenerator},
    {"RngSkip", kGenerator},
    {"SelfAdjointEigV2", kSteps},
    {"StatefulPartitionedCall", kExecutor},
    {"StatelessCase", kExecutor},
    {"StatelessIf", kExecutor},
    {"StatelessMultinomial", kDraws},
    {"StatelessRandomGetAlg", kChooses},
    {"StatelessWhile", kExecutor},
    {"Svd", kSteps},
    {"SymbolicGradient", kExecutor},
    {"ToBool", kExecutor},
    {"TridiagonalSolve", kSteps},
    {"Unique", kShape},
    {"UniqueV2", kShape},
    {"VariableShape", kReadsVariable},
    {"Where", kShape},
    {"While", kExecutor},
    {"Zeta", kSeries},
};

}  // namespace

void LeaveOpsToHost(EmitterRegistry& r) {
  for (const auto& [op, reason] : kHostOps) r.LeaveToHost(op, reason);
}

}  // namespace tensorbraid::pjrt
