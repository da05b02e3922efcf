// Makes variations of protobuf messages that are still valid messages. Random changes of bytes rarely get past the
// parser.
#ifndef TENSORBRAID_FUZZ_PROTO_MUTATOR_H_
#define TENSORBRAID_FUZZ_PROTO_MUTATOR_H_

#include <google/protobuf/message.h>

#include <random>

namespace tensorbraid {

// Changes one field of the message or of a message within it: sets another number, a text from elsewhere in the
// message, or adds or removes an element. The same state of `random` gives the same change.
void MutateMessage(google::protobuf::Message* message, std::mt19937& random);

}  // namespace tensorbraid

#endif  // TENSORBRAID_FUZZ_PROTO_MUTATOR_H_
