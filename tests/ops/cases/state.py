"""Rows of the ops that read and change variables, by reference and by handle."""
import numpy as np
import tensorflow as tf

REAL = [np.float32, np.float64, np.float16, tf.bfloat16.as_numpy_dtype]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
COMPLEX = [np.complex64, np.complex128]


def both(t, op, *inputs, **attrs):
    """Adds a row for an op by reference, and one for the op by handle that does the same."""
    t.state(op, *inputs, **attrs)
    t.state("Resource" + op, *inputs, **attrs)


def assignments(t):
    for dtype in REAL + INTEGERS + COMPLEX:
        v, d = np.array([[9, 7], [5, 3]], dtype), np.array([[1, 2], [3, 2]], dtype)
        for op in ("AssignAdd", "AssignSub"):
            t.state(op, v, d)
            t.state(op + "VariableOp", v, d)
    x = np.array([1, 2, 3], np.float32)
    for op in ("Assign", "AssignAdd", "AssignSubVariableOp"):
        t.state(op, x, x[:2])
    t.state("AssignVariableOp", x, x[:2], validate_shape=True)
    for value in (np.array([b"a", b"bc"], object), np.array([True, False]), np.array([1 + 2j, 3j], np.complex64)):
        t.state("Assign", value, value[::-1].copy())
        t.state("AssignVariableOp", value, value[::-1].copy())
        t.state("IsVariableInitialized", value)
    t.state("VarIsInitializedOp", x)
    t.state("ReadVariableOp", x)
    t.state("VariableShape", np.zeros([2, 0, 3], np.int8))
    t.state("VariableShape", np.float32(1), out_type=tf.int64)
    t.state("DisableCopyOnRead", x)
    for dtype in (np.int32, np.int64):
        both(t, "CountUpTo", dtype(2), limit=3)
        both(t, "CountUpTo", dtype(3), limit=3)
        both(t, "CountUpTo", np.array([1], dtype), limit=3)


def scatters(t):
    for dtype in REAL + INTEGERS + COMPLEX:
        v = np.array([[1, 2], [3, 4], [5, 6], [7, 8]], dtype)
        for op in ("Add", "Sub", "Mul", "Div", "Min", "Max"):
            if op in ("Min", "Max") and dtype in COMPLEX:
                continue
            updates = np.array([[2, 1], [1, 4], [3, 2]], dtype)
            for index in (np.int32, np.int64):
                indices = np.array([3, 0, 3], index)
                if op not in ("Min", "Max") or dtype in REAL + [np.int32, np.int64]:
                    t.state("Scatter" + op, v, indices, updates)
                t.state("ResourceScatter" + op, v, indices, updates)
    for v in (np.arange(6).reshape(3, 2).astype(np.float32), np.array([b"a", b"b", b"c"], object), np.array([1, 0, 1], bool),
              np.arange(3).astype(np.complex64)):
        both(t, "ScatterUpdate", v, np.array([2, 0], np.int32), v[[1, 1]])
        both(t, "ScatterUpdate", v, np.zeros([0], np.int64), v[:0])
    v = np.arange(6).reshape(3, 2).astype(np.float32)
    both(t, "ScatterAdd", v, np.int32(1), v[0])
    both(t, "ScatterAdd", v, np.array([[0], [2]], np.int32), v[:2].reshape(2, 1, 2))
    both(t, "ScatterMul", v, np.array([0, 2], np.int32), np.float32(10))  # a scalar updates all elements of the rows
    both(t, "ScatterUpdate", v, np.array([0, 2], np.int32), np.float32(10))
    both(t, "ScatterAdd", v, np.array([0, 3], np.int32), v[:2])
    both(t, "ScatterAdd", v, np.array([-1], np.int64), v[:1])
    both(t, "ScatterAdd", v, np.array([0, 1], np.int32), v)
    both(t, "ScatterAdd", np.float32(1), np.array([0], np.int32), np.array([1], np.float32))


def scatters_nd(t):
    for dtype in REAL + INTEGERS + COMPLEX:
        v = np.array([[1, 2], [3, 4], [5, 6]], dtype)
        for op in ("Add", "Sub", "Min", "Max"):
            if op in ("Min", "Max") and dtype in COMPLEX:
                continue
            both(t, "ScatterNd" + op, v, np.array([[2], [0], [2]], np.int32), np.array([[1, 9], [1, 1], [2, 2]], dtype))
    t.state("ResourceScatterNdAdd", np.array([1, 0, 1, 0], bool), np.array([[0], [1], [2], [3]], np.int32),
            np.array([1, 1, 0, 0], bool))
    for v in (np.array([b"a", b"b", b"c"], object), np.array([1, 0, 1], bool), np.arange(3).astype(np.int64)):
        both(t, "ScatterNdUpdate", v, np.array([[2], [0]], np.int64), v[[1, 1]])
    v = np.arange(12).reshape(3, 2, 2).astype(np.float32)
    both(t, "ScatterNdUpdate", v, np.array([[2, 1, 0], [0, 0, 1]], np.int32), np.array([70, 80], np.float32))
    both(t, "ScatterNdUpdate", v, np.array([[[2, 1]], [[0, 0]]], np.int32), 10 * v[0].reshape(2, 1, 2))
    both(t, "ScatterNdUpdate", v, np.array([[2, 2]], np.int32), v[0, :1])
    both(t, "ScatterNdUpdate", v, np.array([[0, 0, 0, 0]], np.int32), np.array([1], np.float32))
    both(t, "ScatterNdUpdate", v, np.array([[0], [1]], np.int32), v[:1])
    both(t, "ScatterNdUpdate", v, np.zeros([0, 1], np.int32), v[:0])
    both(t, "ScatterNdUpdate", v, np.array([[7], [1]], np.int32), v[:2], bad_indices_policy="IGNORE")
    both(t, "ScatterNdUpdate", v, np.array([[0]], np.int32), v[:1], bad_indices_policy="NONE")


def parts(t):
    v = np.arange(12).reshape(3, 4).astype(np.float32)
    i32 = lambda *x: np.array(x, np.int32)
    for value in (np.float32(7), v[:2, :2] * 10, v[:1, :2] * 10, v[:2, :1] * 10, v[0, :2] * 10, v[:2] * 10):
        both(t, "StridedSliceAssign", v, i32(0, 1), i32(3, 4), i32(2, 2), value)
    both(t, "StridedSliceAssign", v, i32(-1), i32(0), i32(1), v[0] * 10, shrink_axis_mask=1)
    both(t, "StridedSliceAssign", v, i32(5), i32(6), i32(1), v[0] * 10, shrink_axis_mask=1)
    both(t, "StridedSliceAssign", v, i32(0, 3), i32(0, 0), i32(1, -1), v[:, :3], begin_mask=1, end_mask=1)
    both(t, "StridedSliceAssign", v, i32(2), i32(1), i32(1), v)  # an empty slice takes anything
    both(t, "StridedSliceAssign", np.float32(1), i32(), i32(), i32(), np.float32(5))
    both(t, "StridedSliceAssign", np.array([b"a", b"b"], object), i32(1), i32(2), i32(1), np.array([b"x"], object))
    for indices in (i32(2, 0, 2), np.int64(1), np.array([[1], [0]]), np.zeros([0], np.int32), i32(3), i32(-1)):
        t.state("ResourceGather", v, indices)
    t.state("ResourceGather", v, np.array([[0, 1], [2, 3], [0, 0]], np.int32), batch_dims=1)
    t.state("ResourceGather", np.array([b"a", b"b"], object), i32(1))
    t.state("ResourceGather", np.float32(1), i32(0))
    for indices in ([[2, 3], [0, 0]], [[1]], [[3, 0]], [[0, 0, 0]], np.zeros([2, 0])):
        t.state("ResourceGatherNd", v, np.array(indices, np.int32))


SCALARS = dict(lr=.1, alpha=.1, l1=.05, l2=.1, l2_shrinkage=.02, lr_power=-.5, rho=.9, epsilon=.01, momentum=.9,
               beta1=.8, beta2=.9, beta1_power=.64, beta2_power=.81, sign_decay=.9, logbase=1.1, beta=.9, global_step=3)
VAR = np.array([[1, -2, .5], [0, .75, -1.5], [2, 3, -.25], [-1, .125, 4]])
GRAD = np.array([[.5, -.25, 1], [-1.5, .02, 0], [.3, 2, -.01], [1, 1, -1]])
SLOTS = dict(accum=VAR ** 2 + .1, accum_update=VAR ** 2 / 4 + .2, linear=-VAR / 3 + .5, m=GRAD / 2 - .1, v=GRAD ** 2 + .3,
             vhat=GRAD ** 2 + .25, ms=GRAD ** 2 + .5, mg=GRAD / 3, mom=VAR / 10, gradient_accumulator=VAR / 2 - .3,
             gradient_squared_accumulator=VAR ** 2 + .4)


def arguments(op, dtype, **given):
    """The inputs of an update rule. `given` has some of them by their names; the others have defaults."""
    from tensorflow.python.framework import op_def_registry
    values = dict(var=VAR, grad=GRAD, delta=GRAD, **SLOTS)
    indices = given.get("indices")
    if indices is not None and "Sparse" in op:
        values["grad"] = GRAD[:len(indices)]
    inputs = []
    for a in op_def_registry.get(op).input_arg:
        if a.name in given:
            x = given[a.name]
            inputs.append(x if a.name == "indices" else np.array(x, dtype))
        elif a.name == "global_step":
            inputs.append(np.int64(SCALARS["global_step"]))
        elif a.name in values:
            inputs.append(np.array(values[a.name], dtype))
        else:
            inputs.append(np.array(SCALARS[a.name], dtype))
    return inputs


def training(t):
    f32 = np.float32
    plain = ["GradientDescent", "ProximalGradientDescent", "Adadelta", "ProximalAdagrad", "AdagradDA", "AdaMax", "RMSProp",
             "CenteredRMSProp", "AddSign", "PowerSign", "AdamWithAmsgrad"]
    with_attr = {"Momentum": "use_nesterov", "KerasMomentum": "use_nesterov", "Adam": "use_nesterov",
                 "Adagrad": "update_slots", "AdagradV2": "update_slots", "Ftrl": "multiply_linear_by_lr",
                 "FtrlV2": "multiply_linear_by_lr"}
    rules = [(name, {}) for name in plain] + [(n, {a: v}) for n, a in with_attr.items() for v in (False, True)]
    resource_only = ("KerasMomentum", "AdamWithAmsgrad")
    only_dense = ("GradientDescent", "Adam", "AdaMax", "AddSign", "PowerSign", "AdamWithAmsgrad")
    single = ("ProximalGradientDescent", "ProximalAdagrad", "AdagradDA")  # in TensorFlow only float32 and float64
    for name, attrs in rules:
        for prefix in ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply"):
            sparse = "Sparse" in prefix
            if (sparse and name in only_dense) or ("Resource" not in prefix and name in resource_only):
                continue
            op = prefix + name
            half = [] if name in single else [np.float16]
            if not (name in single or name == "AdaMax" or (sparse and "RMSProp" in name)):
                half.append(tf.bfloat16.as_numpy_dtype)
            for dtype in [f32, np.float64] + half:
                tolerance = None
                if dtype in half:  # TensorFlow rounds in between, which follow-the-leader amplifies
                    tolerance = (.03 if dtype == np.float16 else .25) if "Ftrl" in name else .01 if dtype == np.float16 else .06
                given = {"indices": np.array([2, 0, 2], np.int32 if dtype == f32 else np.int64)} if sparse else {}
                t.state(op, *arguments(op, dtype, **given), tolerance=tolerance, **attrs)
    for op in ("ApplyFtrl", "ResourceSparseApplyFtrlV2"):
        t.state(op, *arguments(op, f32, lr_power=-.7, indices=np.array([1, 3], np.int64)))
        t.state(op, *arguments(op, f32, l1=0., l2=0., indices=np.array([1, 3], np.int64)))
    for name in ("GradientDescent", "Momentum", "Adam", "Adagrad", "RMSProp", "CenteredRMSProp", "Adadelta"):
        op = "ResourceApply" + name
        turned = {a: np.array(x) * (1 + .5j) for a, x in dict(var=VAR, grad=GRAD, delta=GRAD).items()}
        t.state(op, *arguments(op, np.complex64, **turned))
    # Arguments that must be refused.
    for op in ("ApplyMomentum", "ResourceApplyMomentum", "ResourceApplyAdam"):
        t.state(op, *arguments(op, f32, grad=GRAD[:2]))
        t.state(op, *arguments(op, f32, lr=[.1]))
    for op in ("SparseApplyAdagrad", "ResourceSparseApplyMomentum", "ResourceSparseApplyRMSProp"):
        for indices in ([0, 4], [-1, 0]):
            t.state(op, *arguments(op, f32, indices=np.array(indices, np.int32)))
        two = np.array([0, 1], np.int32)
        t.state(op, *arguments(op, f32, indices=two, grad=GRAD[:3]))
        t.state(op, *arguments(op, f32, indices=two, grad=GRAD[:2, :2]))
        t.state(op, *arguments(op, f32, indices=two.reshape(2, 1), grad=GRAD[:2]))
        t.state(op, *arguments(op, f32, indices=two[:0], grad=GRAD[:0]))
    for given in (dict(lr=0.), dict(l1=-1.), dict(l2=-1.), dict(lr_power=.5)):
        for op in ("ResourceApplyFtrl", "SparseApplyFtrl", "ResourceSparseApplyFtrlV2"):
            if op != "ResourceApplyFtrl" or "lr" not in given:  # ResourceApplyFtrl divides by 0 if lr is 0
                t.state(op, *arguments(op, f32, indices=np.array([1], np.int32), **given))


def add_cases(t):
    assignments(t)
    scatters(t)
    scatters_nd(t)
    parts(t)
    training(t)
