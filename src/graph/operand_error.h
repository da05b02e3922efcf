// The error of an operand that cannot be converted to a tensor. The conversion does not know the op that it is for.
#ifndef TENSORBRAID_GRAPH_OPERAND_ERROR_H_
#define TENSORBRAID_GRAPH_OPERAND_ERROR_H_

namespace tensorbraid {

// A payload of such an error. The next node that should take the operand puts its op's name before the message and
// removes the payload.
inline constexpr char kNeedsOpName[] = "needs_op_name";

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_OPERAND_ERROR_H_
