// Includes the public API for variable scopes, initializers, partitioned variables and embeddings.
#ifndef TENSORBRAID_VARIABLES_H_
#define TENSORBRAID_VARIABLES_H_

#include "tensorbraid/variables/embedding.h"
#include "tensorbraid/variables/embedding_variable.h"
#include "tensorbraid/variables/initializers.h"
#include "tensorbraid/variables/partitioned_variable.h"
#include "tensorbraid/variables/sampled_loss.h"
#include "tensorbraid/variables/variable_scope.h"

#endif  // TENSORBRAID_VARIABLES_H_
