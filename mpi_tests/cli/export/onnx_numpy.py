"""Evaluate graphs that `dkmap export --onnx` wrote, by the definitions of their operators, and compare.

onnx_numpy.py NAME...                         NAME.onnx on its inputs against NAME.truth.csv
onnx_numpy.py --classes NAME SCORES PROBA LABELS
"""
import sys

import numpy as np
import onnx
from onnx import numpy_helper


def softmax(a, axis):
    e = np.exp(a - a.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def axes(attributes, inputs):
    return tuple(attributes["axes"] if "axes" in attributes else inputs[1])


TYPES = {onnx.TensorProto.INT64: np.int64, onnx.TensorProto.DOUBLE: np.float64}
REDUCE = {"ReduceSumSquare": lambda a, **k: (a * a).sum(**k), "ReduceSum": np.sum, "ReduceMean": np.mean,
          "ReduceMin": np.min}
PLAIN = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Pow": np.power,
         "MatMul": np.matmul, "Exp": np.exp, "Sqrt": np.sqrt, "Neg": np.negative, "Abs": np.abs,
         "Greater": np.greater, "GreaterOrEqual": np.greater_equal, "Equal": np.equal,
         "And": np.logical_and, "Where": np.where, "IsNaN": np.isnan, "Transpose": np.transpose,
         "Identity": lambda a: a, "Relu": lambda a: np.maximum(a, 0)}


def evaluate(op, a, inputs):
    """One operator: its name, attributes and inputs."""
    if op in PLAIN:
        return PLAIN[op](*inputs)
    if op in REDUCE:
        return REDUCE[op](inputs[0], axis=axes(a, inputs), keepdims=bool(a["keepdims"]))
    if op == "Gemm":
        return inputs[0] @ (inputs[1].T if a["transB"] else inputs[1])
    if op == "Gather":
        return np.take(inputs[0], inputs[1], axis=a["axis"])
    if op in ("ArgMin", "ArgMax"):
        return getattr(np, op.lower())(inputs[0], axis=a["axis"])
    if op == "Cast":
        return inputs[0].astype(TYPES[a["to"]])
    if op == "Unsqueeze":
        return np.expand_dims(inputs[0], tuple(inputs[1]))
    if op == "Softmax":
        return softmax(inputs[0], a["axis"])
    raise ValueError(op)


def run(path, x):
    """The outputs of a graph by name."""
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    known = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    known["inputs"] = x
    for node in model.graph.node:
        a = {t.name: onnx.helper.get_attribute_value(t) for t in node.attribute}
        known[node.output[0]] = evaluate(node.op_type, a, [known[name] for name in node.input])
    return {o.name: known[o.name] for o in model.graph.output}


def read(path):
    return np.genfromtxt(path, delimiter=",", ndmin=2)


def compare(name, found, truth):
    """Equal to 1e-12, relative to the larger of 1 and a number."""
    error = np.max(np.abs(found.reshape(truth.shape) - truth) / np.maximum(1, np.abs(truth)))
    if not error <= 1e-12:
        sys.exit(f"{name}: differs by {error:.1e}")


def main(arguments):
    if arguments[0] == "--classes":
        name, scores, proba, labels = arguments[1:]
        found = run(name + ".onnx", read("new.csv"))
        compare(name, found["scores"], read(scores))
        compare(name, found["probabilities"], read(proba))
        text = [v.decode() if isinstance(v, bytes) else v for v in found["label"]]
        if text != open(labels).read().splitlines():
            sys.exit(f"{name}: other labels: {text}")
        return
    for name in arguments:
        found = run(name + ".onnx", read("new_holes.csv" if name == "table" else "new.csv"))
        compare(name, found["outputs" if "outputs" in found else "coordinates"], read(name + ".truth.csv"))


main(sys.argv[1:])
