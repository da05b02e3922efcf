// Errors of operations that the end of their step has interrupted. They tell what the operation was waiting for and why
// it no longer does, and the two can be told apart, also after the error has been annotated or sent to another task.
#ifndef TENSORBRAID_CORE_ERRORS_INTERRUPTION_H_
#define TENSORBRAID_CORE_ERRORS_INTERRUPTION_H_

#include <string>
#include <string_view>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Returns Cancelled("wait: reason"): "queue 'tokens': the step was cancelled while it waited".
Status Interrupted(std::string_view wait, std::string_view reason);

// Marks the message of `why`, an error that ends a step, as a reason: an operation that returns it, annotated, was
// interrupted. Use it for every error with which a step is ended while its operations may wait.
Status AsReason(Status why);

// Returns the message of an error without the reason of the interruption: "Dequeue 'next': queue 'tokens'". Returns
// the whole message if no operation was interrupted.
std::string WithoutReason(const Status& error);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_ERRORS_INTERRUPTION_H_
