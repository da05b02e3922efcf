// Tests how the protobuf messages of clients are read, and the errors that clients get.
#include "cluster/protobuf/proto_io.h"

#include <gtest/gtest.h>

#include "cluster/client_service/client_errors.h"
#include "cluster/client_service/tensor_message.h"
#include "cluster/protobuf/master_service.pb.h"
#include "core/text/strings.h"
#include "graph/format/graph.pb.h"
#include "graph/model/node_status.h"

namespace tensorbraid {
namespace {

// A payload with these bytes, in pieces of `size` bytes.
Payload InPieces(const std::string& bytes, size_t size) {
  Payload payload = OwnedPayload(bytes);
  const auto whole = payload.pieces[0];
  payload.pieces.clear();
  for (size_t at = 0; at < whole.size(); at += size) {
    payload.pieces.push_back(whole.subspan(at, std::min(size, whole.size() - at)));
  }
  return payload;
}

TEST(TakeFieldsTest, FindsFieldsAndTensorsWhereverPiecesEnd) {
  proto::RunStepRequest request;
  request.set_session_handle("session");
  for (int i = 0; i < 3; ++i) {
    auto* feed = request.add_feed();
    feed->set_name(StrCat("feed", i, ":0"));
    ToProto(Tensor::Vector<int32_t>({i, 2 * i, 300 * i}), feed->mutable_tensor());
  }
  request.add_fetch("y:0");
  for (const size_t size : {1, 2, 3, 7, 64, 1000}) {
    std::string rest;
    const auto feeds = TakeFields(InPieces(request.SerializeAsString(), size), /*field=*/2, &rest);  // the feeds
    ASSERT_TRUE(feeds.ok()) << feeds.status();
    ASSERT_EQ(feeds->size(), 3u);
    for (int i = 0; i < 3; ++i) {
      std::string name;
      const auto tensor = ReadNamedTensor((*feeds)[i], &name);
      ASSERT_TRUE(tensor.ok()) << tensor.status();
      EXPECT_EQ(name, StrCat("feed", i, ":0"));
      EXPECT_EQ(tensor->data<int32_t>()[2], 300 * i);
    }
    proto::RunStepRequest others;
    ASSERT_TRUE(others.ParseFromString(rest));
    EXPECT_EQ(others.session_handle(), "session");
    EXPECT_EQ(others.fetch(0), "y:0");
    EXPECT_EQ(others.feed_size(), 0);
  }
}

TEST(TakeFieldsTest, EveryEncodingOfATensorIsRead) {
  const auto read = [](const proto::TensorProto& proto) { return ReadTensor(OwnedPayload(proto.SerializeAsString())); };
  proto::TensorProto repeated;
  ToProto(Tensor(kFloat32, {0}), &repeated);
  repeated.mutable_tensor_shape()->clear_dim();
  repeated.clear_tensor_content();
  repeated.mutable_tensor_shape()->add_dim()->set_size(4);
  repeated.add_float_val(2.5F);
  EXPECT_EQ(read(repeated)->data<float>()[3], 2.5F);
  repeated.add_float_val(5.0F);
  repeated.mutable_tensor_shape()->mutable_dim(0)->set_size(1);
  EXPECT_EQ(read(repeated)->data<float>()[0], 2.5F) << "surplus values are ignored";
  repeated.mutable_tensor_shape()->mutable_dim(0)->set_size(0);
  EXPECT_EQ(read(repeated)->shape(), Shape({0}));
  proto::TensorProto strings;
  ToProto(Tensor::Vector<std::string>({"a", "", "long enough to matter"}), &strings);
  EXPECT_EQ(read(strings)->data<std::string>()[2], "long enough to matter");
  strings.clear_string_val();
  strings.set_tensor_content(std::string("\1\0\2abc", 6));
  EXPECT_EQ(read(strings)->data<std::string>()[2], "bc");
  proto::TensorProto empty;
  ToProto(Tensor(kFloat32, {0, 3}), &empty);
  EXPECT_EQ(read(empty)->shape(), Shape({0, 3}));
  proto::TensorProto quantized;
  quantized.set_dtype(proto::DT_QINT16);
  quantized.mutable_tensor_shape()->add_dim()->set_size(3);
  quantized.add_int_val(-300);
  quantized.add_int_val(7);
  const auto integers = read(quantized);
  ASSERT_TRUE(integers.ok()) << integers.status();
  EXPECT_EQ(integers->ToString(), "qint16[3] [-300 7 7]");
  EXPECT_EQ(integers->data<int16_t>()[0], -300);
}

TEST(TakeFieldsTest, RefusesMalformedMessages) {
  const auto take = [](const std::string& bytes) {
    std::string rest;
    return TakeFields(OwnedPayload(bytes), /*field=*/2, &rest).status();
  };
  EXPECT_TRUE(take("").ok());
  EXPECT_TRUE(take(std::string("\x12\x00", 2)).ok());
  // Field 2 with more bytes than follow, with 2^32 - 1 bytes, of another type, and without a length; then a tag whose
  // type does not exist.
  for (const std::string& bytes :
       {std::string("\x12\x05"
                    "abc"),
        std::string("\x12\xff\xff\xff\xff\x0f"), std::string("\x10\x01"), std::string("\x12"), std::string("\x0f")}) {
    EXPECT_TRUE(absl::IsInvalidArgument(take(bytes))) << bytes.size();
  }
  proto::TensorProto wrong;
  ToProto(Tensor::Vector<float>({1, 2}), &wrong);
  wrong.set_tensor_content("abc");
  EXPECT_TRUE(absl::IsInvalidArgument(ReadTensor(OwnedPayload(wrong.SerializeAsString())).status()));
  wrong.mutable_tensor_shape()->mutable_dim(0)->set_size(int64_t{1} << 61);
  EXPECT_TRUE(absl::IsInvalidArgument(ReadTensor(OwnedPayload(wrong.SerializeAsString())).status()));
}

TEST(ClientErrorsTest, NameTheNodeForTensorFlowAndSurviveTheRoundTrip) {
  Status status = OutOfRange("ps/0: the queue is closed and has no element");
  NoteNodeName("scope/dequeue", &status);
  const Status sent = ToClientError(status);
  EXPECT_EQ(sent.code(), status.code());
  EXPECT_TRUE(sent.message().find("\n\t [[{{node scope/dequeue}}]]") != absl::string_view::npos) << sent;
  const Status back = FromClientError(Status(sent.code(), sent.message()));
  EXPECT_EQ(back.message(), status.message());
  EXPECT_EQ(NodeNameOf(back), "scope/dequeue");
  const Status plain = Aborted("no node [[{{node");
  EXPECT_EQ(FromClientError(ToClientError(plain)), plain);
  EXPECT_EQ(ToClientError(InvalidArgument("\xff")).message(), "?");
}

TEST(ClientErrorsTest, AnnotatingAnErrorKeepsItsNode) {
  Status status = NotFound("gone");
  NoteNodeName("reader", &status);
  EXPECT_EQ(NodeNameOf(Annotate(status, "worker/1")), "reader");
}

TEST(ClientErrorsTest, TensorFlowsClientsGetItsCodeForAnUninitialisedVariableAndOurClientsGetOurs) {
  const Status status =
      WithTensorFlowCode(FailedPrecondition("Attempting to use uninitialized value v"), absl::StatusCode::kNotFound);
  const Status sent = ToClientError(status);
  EXPECT_EQ(sent.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FromClientError(sent).code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace tensorbraid
