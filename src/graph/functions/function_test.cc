// Tests library functions: their import and export, and the expansion of their calls.
#include "graph/functions/function.h"

#include <gtest/gtest.h>

#include "core/text/strings.h"
#include "graph/format/fingerprint.h"
#include "graph/functions/expand_functions.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

using absl::StatusCode;

// f(x) = op(x, x), with dtype T.
std::string Binary(const std::string& name, const std::string& op) {
  return StrCat("function { signature { name: '", name, R"('
      input_arg { name: 'x' type_attr: 'T' } output_arg { name: 'y' type_attr: 'T' } attr { name: 'T' type: 'type' } }
    node_def { name: 'inner' op: ')",
                op, R"(' input: 'x' input: 'x' attr { key: 'T' value { placeholder: 'T' } } }
    ret { key: 'y' value: 'inner:z:0' } } )");
}

// f(x: float) = g(x).
std::string Caller(const std::string& name, const std::string& callee) {
  return StrCat("function { signature { name: '", name, R"('
      input_arg { name: 'x' type: DT_FLOAT_NUMBER } output_arg { name: 'y' type: DT_FLOAT_NUMBER } }
    node_def { name: 'inner' op: 'PartitionedCall' input: 'x' attr { key: 'Tin' value { list { type: DT_FLOAT_NUMBER } } }
      attr { key: 'Tout' value { list { type: DT_FLOAT_NUMBER } } }
      attr { key: 'f' value { func { name: ')",
                callee, R"(' attr { key: 'T' value { type: DT_FLOAT_NUMBER } } } } } }
    ret { key: 'y' value: 'inner:output:0' } } )");
}

std::string Call(const std::string& name, const std::string& function, const std::string& input,
                 const std::string& more = "") {
  return StrCat("node { name: '", name, "' op: 'PartitionedCall' input: '", input, "' ", more, R"(
      attr { key: 'Tin' value { list { type: DT_FLOAT_NUMBER } } }
      attr { key: 'Tout' value { list { type: DT_FLOAT_NUMBER } } }
      attr { key: 'f' value { func { name: ')",
                function, R"(' attr { key: 'T' value { type: DT_FLOAT_NUMBER } } } } } } )");
}

const char* kPlaceholder =
    "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT_NUMBER } } } ";

// Imports `text` with 1, the number of DT_FLOAT, in place of DT_FLOAT_NUMBER.
Status Import(Graph& g, std::string text) {
  const std::string word = "DT_FLOAT_NUMBER";
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word)) text.replace(at, word.size(), "1");
  return g.ImportGraphDefText(text);
}

std::string Library(const std::string& functions) { return StrCat("library { ", functions, " } "); }

TEST(FunctionTest, ALibrarySurvivesExportAndImport) {
  Graph g;
  ASSERT_TRUE(Import(g, StrCat(kPlaceholder, Call("call", "twice", "x"), Library(Binary("twice", "AddV2")))).ok());
  const auto def = g.ToGraphDef();
  ASSERT_TRUE(def.ok()) << def.status();
  Graph again;
  ASSERT_TRUE(again.ImportGraphDef(*def).ok());
  ASSERT_NE(ImplOf(again).functions()->Find("twice"), nullptr);
  EXPECT_EQ(ImplOf(again).functions()->Find("twice")->definition(), ImplOf(g).functions()->Find("twice")->definition());
}

TEST(FunctionTest, RefusesADifferentDefinitionOfTheSameName) {
  Graph g;
  ASSERT_TRUE(Import(g, Library(Binary("f", "AddV2"))).ok());
  EXPECT_TRUE(Import(g, Library(Binary("f", "AddV2"))).ok());
  const Status s = Import(g, StrCat(kPlaceholder, Library(Binary("g", "Mul") + Binary("f", "Mul"))));
  EXPECT_EQ(s.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(s.message().find("'f'"), absl::string_view::npos) << s;
  // Nothing else of the refused GraphDef was added.
  EXPECT_EQ(ImplOf(g).functions()->Find("g"), nullptr);
  EXPECT_EQ(g.operations().size(), 0u);
  EXPECT_EQ(Import(g, Library(Binary("MatMul", "Mul"))).code(), StatusCode::kInvalidArgument);
}

TEST(FunctionTest, FunctionsThatDifferOnlyInNamesHaveEqualFingerprints) {
  Graph g, other;
  ASSERT_TRUE(Import(g, Library(Binary("twice", "AddV2") + Binary("square", "Mul") + Caller("f", "twice") +
                                Caller("f_of_square", "square")))
                  .ok());
  ASSERT_TRUE(Import(other, Library(Binary("twice_2", "AddV2") + Caller("f_7", "twice_2"))).ok());
  const auto of = [](const Graph& graph, const std::string& name) {
    return FingerprintOf(AttrValue::Function{.name = name, .attrs = {}}, *ImplOf(graph).functions());
  };
  EXPECT_EQ(of(g, "twice"), of(other, "twice_2"));
  EXPECT_EQ(of(g, "f"), of(other, "f_7"));
  EXPECT_NE(of(g, "twice"), of(g, "square"));
  EXPECT_NE(of(g, "f"), of(g, "f_of_square"));
  EXPECT_NE(of(g, "f"), of(g, "twice"));
}

TEST(FunctionTest, BodiesAreNamedAfterTheirCalls) {
  Graph g;
  const Status s = Import(g, StrCat(kPlaceholder, Call("call", "outer", "x"), Call("other", "twice", "call"),
                                    Library(Caller("outer", "twice") + Binary("twice", "AddV2"))));
  ASSERT_TRUE(s.ok()) << s;
  auto expanded = ExpandFunctions(g);
  ASSERT_TRUE(expanded.ok()) << expanded.status();
  ASSERT_NE(*expanded, nullptr);
  EXPECT_TRUE((*expanded)->FindOperation("call/inner/inner").ok());
  const auto other = (*expanded)->FindOperation("other/inner");
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(NodeOf(*other)->inputs()[0].name(), "call/inner/inner:0");
  EXPECT_EQ(other->output(0).dtype(), kFloat32);
}

TEST(FunctionTest, ControlEdgesOfACallApplyToItsBody) {
  Graph g;
  const Status s = Import(
      g, StrCat(kPlaceholder, "node { name: 'before' op: 'NoOp' } ", Call("call", "twice", "x", "input: '^before'"),
                "node { name: 'after' op: 'NoOp' input: '^call' } ", Library(Binary("twice", "AddV2"))));
  ASSERT_TRUE(s.ok()) << s;
  auto expanded = ExpandFunctions(g).value();
  const Node* inner = ImplOf(*expanded).Find("call/inner");
  const Node* after = ImplOf(*expanded).Find("after");
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(inner->control_inputs(), std::vector<Node*>{ImplOf(*expanded).Find("before")});
  EXPECT_EQ(after->control_inputs(), std::vector<Node*>{ImplOf(*expanded).Find("call/inner")});
}

// A client adds no control edge from a node to a call if an input of the call comes from this node. So the nodes with
// state in the body must wait for that input even if they do not use it. (Type 20 is DT_RESOURCE.)
TEST(FunctionTest, NodesWithStateWaitForAllInputsOfTheCall) {
  Graph g;
  const Status s = Import(g, StrCat(kPlaceholder, R"(
      node { name: 'v' op: 'VarHandleOp' attr { key: 'dtype' value { type: DT_FLOAT_NUMBER } } attr { key: 'shape' value { shape {} } } }
      node { name: 'late' op: 'Neg' input: 'x' attr { key: 'T' value { type: DT_FLOAT_NUMBER } } }
      node { name: 'call' op: 'StatefulPartitionedCall' input: 'v' input: 'late'
        attr { key: 'Tin' value { list { type: 20 type: DT_FLOAT_NUMBER } } }
        attr { key: 'Tout' value { list { type: DT_FLOAT_NUMBER } } } attr { key: 'f' value { func { name: 'f' } } } } )",
                                    Library(R"(function { signature { name: 'f'
      input_arg { name: 'v' type: 20 } input_arg { name: 'x' type: DT_FLOAT_NUMBER }
      output_arg { name: 'y' type: DT_FLOAT_NUMBER } }
    node_def { name: 'read' op: 'ReadVariableOp' input: 'v' attr { key: 'dtype' value { type: DT_FLOAT_NUMBER } } }
    node_def { name: 'sum' op: 'Neg' input: 'read:value:0' attr { key: 'T' value { type: DT_FLOAT_NUMBER } } }
    ret { key: 'y' value: 'sum:y:0' } })")));
  ASSERT_TRUE(s.ok()) << s;
  const auto expanded = ExpandFunctions(g).value();
  const auto& impl = ImplOf(*expanded);
  EXPECT_EQ(impl.Find("call/read")->control_inputs(), std::vector<Node*>{impl.Find("late")});
  EXPECT_TRUE(impl.Find("call/sum")->control_inputs().empty());
}

// Type 10 is DT_BOOL.
TEST(FunctionTest, ALoopReadsReferencesAfterAllItsInputsAreComputed) {
  Graph g;
  const std::string arguments =
      "input_arg { name: 'x' type: DT_FLOAT_NUMBER } input_arg { name: 'v' type: DT_FLOAT_NUMBER }";
  const std::string type = " attr { key: 'T' value { type: DT_FLOAT_NUMBER } } ";
  const Status s = Import(g, StrCat(kPlaceholder, R"(
      node { name: 'v' op: 'VariableV2' attr { key: 'dtype' value { type: DT_FLOAT_NUMBER } } attr { key: 'shape' value { shape {} } } }
      node { name: 'read' op: 'Identity' input: 'v')",
                                    type, R"(}
      node { name: 'late' op: 'Neg' input: 'x')",
                                    type, R"(}
      node { name: 'loop' op: 'While' input: 'late' input: 'read'
        attr { key: 'T' value { list { type: DT_FLOAT_NUMBER type: DT_FLOAT_NUMBER } } }
        attr { key: 'cond' value { func { name: 'c' } } } attr { key: 'body' value { func { name: 'b' } } } } )",
                                    Library(StrCat("function { signature { name: 'c' ", arguments, R"(
      output_arg { name: 'y' type: 10 } }
    node_def { name: 'less' op: 'Less' input: 'x' input: 'v')",
                                                   type, R"(} ret { key: 'y' value: 'less:z:0' } }
    function { signature { name: 'b' )",
                                                   arguments, R"( output_arg { name: 'y' type: DT_FLOAT_NUMBER }
      output_arg { name: 'w' type: DT_FLOAT_NUMBER } }
    node_def { name: 'sum' op: 'AddV2' input: 'x' input: 'v')",
                                                   type, R"(}
    ret { key: 'y' value: 'sum:z:0' } ret { key: 'w' value: 'v' } })"))));
  ASSERT_TRUE(s.ok()) << s;
  const auto expanded = ExpandFunctions(g).value();
  const auto& impl = ImplOf(*expanded);
  const std::vector<Node*> inputs = {impl.Find("late"), impl.Find("read")};
  EXPECT_EQ(impl.Find("loop/_ready")->control_inputs(), inputs);
  EXPECT_EQ(impl.Find("loop/_enter_1")->control_inputs(), std::vector<Node*>{impl.Find("loop/_ready")});
  EXPECT_TRUE(impl.Find("loop/_enter_0")->control_inputs().empty());
}

TEST(FunctionTest, ABranchReadsReferencesAfterAllItsInputsAreComputed) {
  Graph g;
  const std::string arguments =
      "input_arg { name: 'x' type: DT_FLOAT_NUMBER } input_arg { name: 'v' type: DT_FLOAT_NUMBER }";
  const std::string type = " attr { key: 'T' value { type: DT_FLOAT_NUMBER } } ";
  const auto branch = [&](const std::string& name, const std::string& op) {
    return StrCat("function { signature { name: '", name, "' ", arguments,
                  " output_arg { name: 'y' type: DT_FLOAT_NUMBER } } node_def { name: 'result' op: '", op,
                  "' input: 'x' input: 'v'", type, "} ret { key: 'y' value: 'result:z:0' } }");
  };
  const Status s = Import(g, StrCat(kPlaceholder, R"(
      node { name: 'v' op: 'VariableV2' attr { key: 'dtype' value { type: DT_FLOAT_NUMBER } } attr { key: 'shape' value { shape {} } } }
      node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_BOOL } } }
      node { name: 'read' op: 'Identity' input: 'v')",
                                    type, R"(}
      node { name: 'late' op: 'Neg' input: 'x')",
                                    type, R"(}
      node { name: 'cond' op: 'If' input: 'p' input: 'late' input: 'read'
        attr { key: 'Tin' value { list { type: DT_FLOAT_NUMBER type: DT_FLOAT_NUMBER } } }
        attr { key: 'Tout' value { list { type: DT_FLOAT_NUMBER } } }
        attr { key: 'then_branch' value { func { name: 'then' } } }
        attr { key: 'else_branch' value { func { name: 'else' } } } } )",
                                    Library(branch("then", "AddV2") + branch("else", "Mul"))));
  ASSERT_TRUE(s.ok()) << s;
  const auto expanded = ExpandFunctions(g).value();
  const auto& impl = ImplOf(*expanded);
  const std::vector<Node*> inputs = {impl.Find("late"), impl.Find("read")};
  EXPECT_EQ(impl.Find("cond/_ready")->control_inputs(), inputs);
  EXPECT_EQ(impl.Find("cond/_switch_1")->control_inputs(), std::vector<Node*>{impl.Find("cond/_ready")});
  EXPECT_TRUE(impl.Find("cond/_switch_0")->control_inputs().empty());
}

TEST(FunctionTest, ABodyGetsTheDeviceOfItsCall) {
  Graph g;
  ASSERT_TRUE(Import(g, StrCat(kPlaceholder, Call("call", "twice", "x", "device: '/job:ps/task:1'"),
                               Library(Binary("twice", "AddV2"))))
                  .ok());
  EXPECT_EQ(ImplOf(*ExpandFunctions(g).value()).Find("call/inner")->device(), "/job:ps/task:1");
}

TEST(FunctionTest, RefusesRecursiveFunctions) {
  for (const std::string& library : {Caller("f", "f"), Caller("f", "g") + Caller("g", "h") + Caller("h", "f")}) {
    Graph g;
    ASSERT_TRUE(Import(g, StrCat(kPlaceholder, Call("call", "f", "x"), Library(library))).ok());
    const Status s = ExpandFunctions(g).status();
    EXPECT_EQ(s.code(), StatusCode::kInvalidArgument) << s;
    EXPECT_NE(s.message().find("'f' calls itself"), absl::string_view::npos) << s;
  }
}

// Each of 40 functions calls the one before twice, which makes 2^40 calls.
TEST(FunctionTest, AnExpansionToTooManyNodesIsRefusedAndEndsWhenItIsNoLongerWanted) {
  std::string library = Binary("f0", "AddV2");
  for (int i = 1; i <= 40; ++i) {
    library += StrCat("function { signature { name: 'f", i, R"('
        input_arg { name: 'x' type: DT_FLOAT_NUMBER } output_arg { name: 'y' type: DT_FLOAT_NUMBER } } )");
    for (const char* call : {"a", "b"}) {
      library +=
          StrCat("node_def { name: '", call, "' op: 'f", i - 1, "' input: '", call[0] == 'a' ? "x" : "a:y:0", "' ");
      if (i == 1) library += "attr { key: 'T' value { type: DT_FLOAT_NUMBER } } ";
      library += "} ";
    }
    library += "ret { key: 'y' value: 'b:y:0' } } ";
  }
  Graph g;
  const Status s = Import(g, StrCat(kPlaceholder, "node { name: 'call' op: 'f40' input: 'x' } ", Library(library)));
  ASSERT_TRUE(s.ok()) << s;
  EXPECT_EQ(ExpandFunctions(g).status().code(), StatusCode::kResourceExhausted);
  int asked = 0;
  const auto still_wanted = [&asked] { return ++asked < 100 ? OkStatus() : Cancelled("the session is closed"); };
  EXPECT_EQ(ExpandFunctions(g, still_wanted).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(asked, 100);
}

TEST(FunctionTest, ErrorsNameTheCause) {
  const auto refused = [](const std::string& text, const char* word) {
    Graph g;
    Status s = Import(g, text);
    if (s.ok()) s = ExpandFunctions(g).status();
    EXPECT_FALSE(s.ok());
    EXPECT_NE(s.message().find(word), absl::string_view::npos) << s;
  };
  refused(StrCat(kPlaceholder, Call("call", "none", "x")), "'none'");
  // A body that reads a tensor that does not exist, and one without a value for its output.
  refused(StrCat(kPlaceholder, Call("call", "f", "x"), Library(R"(function { signature { name: 'f'
      input_arg { name: 'x' type: DT_FLOAT_NUMBER } output_arg { name: 'y' type: DT_FLOAT_NUMBER } }
      ret { key: 'y' value: 'lost:z:0' } })")),
          "'lost:z:0'");
  refused(StrCat(kPlaceholder, Call("call", "f", "x"), Library(R"(function { signature { name: 'f'
      input_arg { name: 'x' type: DT_FLOAT_NUMBER } output_arg { name: 'y' type: DT_FLOAT_NUMBER } } })")),
          "'y'");
  refused(StrCat(kPlaceholder, Call("call", "f", "x"), Library(R"(function { signature { name: 'f' }
      node_def { name: 'n' op: 'NoSuchOp' } })")),
          "NoSuchOp");
  refused(Library("function { signature { name: 'f' input_arg { name: 'x' type_attr: 'T' } } }"), "'T'");
}

TEST(FunctionTest, ReachableFromKeepsOnlyTheFunctionsThatAGraphNeeds) {
  Graph g;
  ASSERT_TRUE(Import(g, StrCat(kPlaceholder, Call("call", "outer", "x"),
                               Library(Caller("outer", "twice") + Binary("twice", "AddV2") + Binary("other", "Mul"))))
                  .ok());
  const FunctionLibrary needed = ImplOf(g).functions()->ReachableFrom(ImplOf(g));
  EXPECT_EQ(needed.size(), 2u);
  EXPECT_EQ(needed.Find("other"), nullptr);
}

}  // namespace
}  // namespace tensorbraid
