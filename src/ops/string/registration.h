// Declares the functions that register the string ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_STRING_REGISTRATION_H_
#define TENSORBRAID_OPS_STRING_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterStringFormatOps(OpRegistry& r);   // format.cc
void RegisterStringHashOps(OpRegistry& r);     // hash.cc
void RegisterStringJoinOps(OpRegistry& r);     // join.cc
void RegisterStringNumbersOps(OpRegistry& r);  // numbers.cc
void RegisterStringRegexOps(OpRegistry& r);    // regex.cc
void RegisterStringSplitOps(OpRegistry& r);    // split.cc
void RegisterStringOps(OpRegistry& r);         // string.cc
void RegisterStringUnicodeOps(OpRegistry& r);  // unicode.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_STRING_REGISTRATION_H_
