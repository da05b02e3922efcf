// Marks the error of an operand that cannot be converted to a tensor. The conversion does not know which op the operand
// is for, so the op's name is added later.
#ifndef TENSORBRAID_GRAPH_MODEL_OPERAND_ERROR_H_
#define TENSORBRAID_GRAPH_MODEL_OPERAND_ERROR_H_

namespace tensorbraid {

// The payload of such a Status. When the invalid operand becomes the input of a NodeBuilder, the name of the builder's
// op is put before the message, and the payload is removed.
inline constexpr char kNeedsOpName[] = "needs_op_name";

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_MODEL_OPERAND_ERROR_H_
