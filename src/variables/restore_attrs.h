// Attributes of the handle of a growing table that each restore gives the rows of a chosen checkpoint.
#ifndef TENSORBRAID_VARIABLES_RESTORE_ATTRS_H_
#define TENSORBRAID_VARIABLES_RESTORE_ATTRS_H_

namespace tensorbraid {

// EmbeddingVariableOptions::restore_from and restored_name. Savers that are built later read them.
inline constexpr const char* kRestoreFromAttr = "_restore_from";
inline constexpr const char* kRestoredNameAttr = "_restored_name";

}  // namespace tensorbraid

#endif  // TENSORBRAID_VARIABLES_RESTORE_ATTRS_H_
