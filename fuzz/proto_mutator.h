// Variations of protobuf messages that stay messages: what changes bytes at random rarely gets past the parser.
#ifndef TENSORBRAID_FUZZ_PROTO_MUTATOR_H_
#define TENSORBRAID_FUZZ_PROTO_MUTATOR_H_

#include <google/protobuf/message.h>

#include <random>

namespace tensorbraid {

// Changes one field of the message, or of one within it: another number, a text that stands elsewhere in the message,
// an element more or less. The same `random` gives the same change.
void MutateMessage(google::protobuf::Message* message, std::mt19937& random);

}  // namespace tensorbraid

#endif  // TENSORBRAID_FUZZ_PROTO_MUTATOR_H_
