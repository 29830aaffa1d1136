"""Kernel ridge regression and classification from Python."""
import os
import pickle
import shutil
import subprocess
import tempfile

import numpy as np
import scipy.sparse

import dkmap
from dkmap import KernelRidge, KernelRidgeClassifier
from support import close, comm, joined, mine, rbf, regression

SIGMA, ALPHA = 2.0, 1e-3


def closed_form(X, y, new=None):
    K = rbf(X, X, SIGMA)
    coefficients = np.linalg.solve(K + ALPHA * np.eye(len(X)), y)
    return rbf(X if new is None else new, X, SIGMA) @ coefficients, coefficients


def ridge(**parameters):
    return KernelRidge(kernel=f"rbf(sigma={SIGMA})", alpha=ALPHA, comm=comm, **parameters)


def test_own_rows_give_the_closed_form():
    X, y = regression()
    own = mine(len(X))
    model = ridge().fit(X[own], y[own])
    expected, coefficients = closed_form(X, y)
    close(joined(model.predict(X[own])), expected, 1e-12)
    close(joined(model.dual_coef_), coefficients, 1e-9)
    assert model.report_["m"] == len(X) and model.residual_ < 1e-10 and model.alpha_ == ALPHA


def test_rank_0_may_have_all_rows():
    X, y = regression()
    here = comm.rank == 0
    model = ridge().fit(X if here else None, y if here else None)
    predicted = model.predict(X if here else None)
    assert len(predicted) == (len(X) if here else 0)
    if here:
        close(predicted, closed_form(X, y)[0], 1e-12)


def test_replicated_rows_give_all_predictions_on_all_ranks():
    X, y = regression()
    model = ridge(replicated=True).fit(X, y)
    close(model.predict(X), closed_form(X, y)[0], 1e-12)
    close(model.dual_coef_, closed_form(X, y)[1], 1e-9)


def test_many_rows_are_predicted_in_batches():
    X, y = regression(m=40)
    new = regression(m=9000, seed=1)[0]
    model = ridge(replicated=True).fit(X, y)
    close(model.predict(new), closed_form(X, y, new)[0], 1e-11)


def test_layouts_and_number_types_agree():
    X, y = regression()
    own = mine(len(X))
    expected = closed_form(X, y)[0]
    for part in (np.asfortranarray(X[own]), np.repeat(X[own], 2, axis=1)[:, ::2], X[own][:, ::-1][:, ::-1],
                 X[own].tolist() if len(own) else X[own]):
        close(joined(ridge().fit(part, y[own]).predict(part)), expected, 1e-12)
    narrow = X[own].astype(np.float32)
    expected = closed_form(X.astype(np.float32).astype(float), y)[0]
    close(joined(ridge().fit(narrow, y[own]).predict(narrow)), expected, 1e-12)


def test_sparse_rows_are_those_of_the_dense_array():
    X, y = regression()
    X[X < 0] = 0
    own = mine(len(X))
    expected = closed_form(X, y)[0]
    for form in (scipy.sparse.csr_matrix, scipy.sparse.csc_matrix):
        part = form(X[own])
        close(joined(ridge().fit(part, y[own]).predict(part)), expected, 1e-11)


def test_no_copy_of_rows_that_lie_where_they_belong():
    X, y = regression(m=120, d=2000)
    own = np.array_split(np.arange(len(X)), comm.size)[comm.rank]
    part = X[own]
    held = lambda: dkmap._lib.dkm_ctx_live_bytes(dkmap._context.context(comm).pointer)
    before = held()
    model = ridge().fit(part, y[own])
    assert held() - before < part.nbytes / 2, "the rows were copied"
    copied = ridge().fit(np.asfortranarray(part), y[own])
    assert held() - before > part.nbytes, "what is measured does not tell copies"
    close(model.predict(part), copied.predict(part), 1e-12)


def test_several_outputs_keep_their_shape():
    X, y = regression()
    Y = np.column_stack([y, y**2])
    model = ridge(replicated=True).fit(X, Y)
    assert model.predict(X).shape == Y.shape and model.dual_coef_.shape == Y.shape
    close(model.predict(X), closed_form(X, Y)[0], 1e-11)
    close(model.score(X, Y), np.mean(1 - ((Y - model.predict(X)) ** 2).sum(0) /
                                     ((Y - Y.mean(0)) ** 2).sum(0)), 1e-12)


def test_a_list_of_ridges_is_chosen_from():
    X, y = regression()
    own = mine(len(X))
    model = KernelRidge(kernel="rbf(sigma=2)", alpha=[1e-6, 1e-3, 10.0], comm=comm).fit(X[own], y[own])
    assert model.alphas_.tolist() == [1e-6, 1e-3, 10.0] and model.alpha_ in model.alphas_
    assert model.loo_ == model.report_["path.loo"].min()


def test_precomputed_matrices():
    X, y = regression()
    own = mine(len(X))
    K = rbf(X, X, SIGMA)
    model = KernelRidge(kernel="precomputed", alpha=ALPHA, comm=comm).fit(K[own], y[own])
    close(joined(model.predict(K[own])), closed_form(X, y)[0], 1e-11)


def test_functions_are_kernels():
    X, y = regression()
    own = mine(len(X))
    blocks = KernelRidge(kernel=rbf, kernel_params={"sigma": SIGMA}, alpha=ALPHA, comm=comm)
    close(joined(blocks.fit(X[own], y[own]).predict(X[own])), closed_form(X, y)[0], 1e-11)
    pairs = dkmap.pairwise(lambda a, b: np.exp(-((a - b) ** 2).sum() / (2 * SIGMA**2)))
    model = KernelRidge(kernel=pairs, alpha=ALPHA, comm=comm).fit(X[own], y[own])
    close(joined(model.predict(X[own])), closed_form(X, y)[0], 1e-11)


def test_classes_of_any_type():
    X, y = regression()
    own = mine(len(X))
    for classes in (np.array(["low", "high"])[(y > 0).astype(int)], (y > 0).astype(int) * 7 - 3, y > 0):
        model = KernelRidgeClassifier(kernel="rbf(sigma=1)", alpha=1e-3, comm=comm).fit(X[own], classes[own])
        predicted = model.predict(X[own])
        assert predicted.dtype == classes.dtype and set(model.classes_) == set(classes)
        assert (joined(predicted) == classes).all() and model.score(X[own], classes[own]) == 1.0


def softmax(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def test_decision_values_are_those_of_one_hot_regression():
    X, y = regression()
    own, classes = mine(len(X)), np.digitize(y, [-0.5, 0.5])
    model = KernelRidgeClassifier(kernel=f"rbf(sigma={SIGMA})", alpha=ALPHA, comm=comm).fit(X[own], classes[own])
    scores = joined(model.decision_function(X[own]))
    close(scores, closed_form(X, np.eye(3)[classes])[0], 1e-10)
    assert (joined(model.predict(X[own])) == scores.argmax(axis=1)).all()
    two = KernelRidgeClassifier(kernel=f"rbf(sigma={SIGMA})", alpha=ALPHA, comm=comm).fit(X[own], y[own] > 0)
    margin = joined(two.decision_function(X[own]))
    assert margin.shape == (60,) and ((margin > 0) == joined(two.predict(X[own]))).all()


def test_probabilities_have_the_least_leave_one_out_log_loss():
    X, y = regression()
    own, classes = mine(len(X)), np.digitize(y + np.sin(40 * X[:, 0]), [-0.5, 0.5])
    model = KernelRidgeClassifier(kernel=f"rbf(sigma={SIGMA})", alpha=[ALPHA], loo=True, comm=comm)
    assert hasattr(model, "predict_proba")
    model.fit(X[own], classes[own])
    P, scores = joined(model.predict_proba(X[own])), joined(model.decision_function(X[own]))
    close(P.sum(axis=1), 1, 1e-12)
    close(np.exp(joined(model.predict_log_proba(X[own]))), P, 1e-12)
    # leave-one-out predictions by the closed form, and the slopes that are tried: 1 to 4096
    inverse = np.linalg.inv(rbf(X, X, SIGMA) + ALPHA * np.eye(60))
    left_out = np.eye(3)[classes] - inverse @ np.eye(3)[classes] / np.diag(inverse)[:, None]
    loss = lambda t: -np.log(softmax(t * left_out)[np.arange(60), classes]).mean()
    slope = np.log(P[0, 0] / P[0, 1]) / (scores[0, 0] - scores[0, 1])
    close(softmax(slope * scores), P, 1e-9)
    assert loss(slope) <= min(loss(t) for t in np.geomspace(1, 4096, 49)) + 1e-9
    plain = KernelRidgeClassifier(alpha=ALPHA, comm=comm).fit(X[own], classes[own])
    assert not hasattr(plain, "predict_proba")


def test_models_are_exported():
    X, y = regression()
    own = mine(len(X))
    model = ridge().fit(X[own], y[own])
    folder = comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None)
    source, graph = os.path.join(folder, "house.c"), os.path.join(folder, "house.onnx")
    model.export(source).export(graph)
    try:
        model.export(os.path.join(folder, "house.txt"))
        raise AssertionError("a format that there is not")
    except ValueError as problem:
        assert "onnx" in str(problem)
    predicted, cc = joined(model.predict(X[own])), shutil.which("cc")
    if comm.rank == 0:
        assert os.path.getsize(graph) > 8 * X.size
        if cc:
            program = os.path.join(folder, "house")
            subprocess.run([cc, "-std=c99", "-DDKMAP_MAIN", source, "-o", program, "-lm"], check=True)
            rows = "\n".join(",".join(repr(float(v)) for v in row) for row in X)
            out = subprocess.run([program], input=rows, capture_output=True, text=True, check=True).stdout
            close(np.array(out.split(), float), predicted, 1e-12)
        shutil.rmtree(folder)


def test_tuning_lowers_the_leave_one_out_error():
    X, y = regression(m=40)
    own = mine(len(X))
    model = KernelRidge(kernel="rbf(sigma=5)", alpha=0.1, tune=True, tune_fits=20, tune_starts=1, comm=comm)
    try:
        report = model.fit(X[own], y[own]).report_
    except dkmap.Error as error:
        assert "built without" in str(error)
        return
    sigma = float(report["kernel"].split("sigma=")[1].rstrip(")"))
    G = np.linalg.inv(rbf(X, X, sigma) + model.alpha_ * np.eye(len(X)))
    loo = np.mean((G @ y / np.diag(G)) ** 2)
    close(report["loo"] / loo, 1, 1e-6)
    assert loo < 0.9 * report["start_loo"] and report["tune_fits"] <= 20


def test_pickled_models_predict_the_same():
    X, y = regression()
    model = ridge(replicated=True).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    close(again.predict(X), model.predict(X), 0)
    assert again.get_params()["alpha"] == ALPHA and again.comm is comm


def test_models_and_data_are_freed():
    X, y = regression()
    ctx = dkmap._context.context(comm)
    before = dkmap._lib.dkm_ctx_live_blocks(ctx.pointer)
    for _ in range(3):
        model = ridge(replicated=True).fit(X, y)
        model.predict(X)
        del model
    assert dkmap._lib.dkm_ctx_live_blocks(ctx.pointer) <= before
