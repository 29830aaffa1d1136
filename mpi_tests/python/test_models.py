"""Models from files as estimators; label sets by ridge regression; candidates; what help() says."""
import os
import re
import tempfile

import numpy as np
import scipy.sparse

import dkmap
from dkmap import (JointKernelMap, KernelDependencyEstimation, KernelPCA, KernelRidge, KernelRidgeClassifier, KNeighbors,
                   SVC)
from dkmap import _library
from harness import raises
from support import close, comm, joined, mine, regression

X, y = regression(m=60, d=4)
OWN = mine(len(X))
CLASSES = (y > 0).astype(int)
SETS = [{k for k in range(3) if row[k] > 0} for row in X]
INDICATOR = np.array([[int(k in one) for k in range(3)] for one in SETS])
WORDS = ["abcab", "abba", "bbba", "aabb", "cabc", "ccab"] * 10
UPPER = [word.upper() for word in WORDS]


def own(objects):
    return objects[OWN] if hasattr(objects, "shape") else [objects[i] for i in OWN]


def saved_and_loaded(model):
    folder = tempfile.TemporaryDirectory() if comm.rank == 0 else None
    path = os.path.join(comm.bcast(folder and folder.name), "model.h5")
    model.save(path)
    loaded = dkmap.load(path, comm=comm)
    comm.Barrier()
    if folder:
        folder.cleanup()
    return loaded


def results(model, inputs):
    found = model.transform(own(inputs)) if hasattr(model, "transform") else model.predict(own(inputs))
    return found if isinstance(found, list) else list(found)


FORMS = (  # whose parameters are all in the file
    (KernelRidge(alpha=0.1), X, y), (KernelRidge(center=True), X, np.c_[y, -y]),
    (KernelRidge(), scipy.sparse.csr_matrix(X), y), (KernelRidge(kernel="rbf", alpha=[0.1, 1.0]), X, y),
    (KernelRidge(kernel="spectrum(p=2)"), WORDS, y), (KernelRidgeClassifier(), X, CLASSES),
    (KernelRidgeClassifier(kernel="rbf", alpha=0.1), X, SETS), (SVC(), X, CLASSES),
    (KNeighbors(n_neighbors=3), X, y), (KNeighbors(kernel="spectrum(p=2)", n_neighbors=3), WORDS, UPPER),
    (KernelPCA(2, kernel="rbf"), X, None),
    (KernelDependencyEstimation(kernel="spectrum(p=2)", output_kernel="spectrum(p=2)"), WORDS, UPPER),
    (KernelDependencyEstimation(kernel="rbf", output_kernel="labels"), X, SETS),
    (JointKernelMap(kernel="rbf", epsilon=0.1), X, CLASSES),
    (JointKernelMap(outputs="chain", kernel="weighted-degree(degree=1)", window=3), WORDS, UPPER))


def test_every_form_of_model_is_loaded_with_its_parameters():
    for model, inputs, outputs in FORMS:
        model = type(model)(**{**model.get_params(), "comm": comm})
        model.fit(own(inputs), *([] if outputs is None else [own(outputs)]))
        loaded = saved_and_loaded(model)
        expected = results(model, inputs)
        assert all(np.all(a == b) for a, b in zip(results(loaded, inputs), expected)), f"{model}"
        again = type(loaded)(**{**loaded.get_params(), "comm": comm})
        again.fit(own(inputs), *([] if outputs is None else [own(outputs)]))
        for a, b in zip(results(again, inputs), expected):
            assert np.allclose(a, b, atol=1e-9) if isinstance(b, (float, np.ndarray)) else a == b, f"{model}: {a}, {b}"


def test_label_sets_have_thresholds():
    model = KernelRidgeClassifier(kernel="rbf(sigma=2)", alpha=0.1, comm=comm).fit(own(X), own(SETS))
    scores = model.decision_function(own(X))
    assert (model.classes_ == np.arange(3)).all() and scores.shape == (len(OWN), 3)
    assert all(one == set(np.flatnonzero(row >= 0.5)) for one, row in zip(model.predict(own(X)), scores))
    assert model.score(own(X), own(SETS)) > 0.6
    model.threshold = 0.2
    assert all(one == set(np.flatnonzero(row >= 0.2)) for one, row in zip(model.predict(own(X)), scores))
    assert not hasattr(model, "predict_proba")
    rows = KernelRidgeClassifier(kernel="rbf(sigma=2)", alpha=0.1, comm=comm)
    for given in (own(INDICATOR), scipy.sparse.csr_matrix(own(INDICATOR))):
        rows.fit(own(X), given)
        close(joined(rows.decision_function(own(X))), joined(scores), 1e-12)
        assert (rows.predict(own(X)) == (scores >= 0.5)).all()
    wide = np.c_[INDICATOR, np.zeros(len(X), int)]  # a class that no example has
    rows.fit(own(X), own(wide))
    assert rows.predict(own(X)).shape == (len(OWN), 4) and not rows.predict(own(X))[:, 3].any()


def test_a_threshold_is_chosen_by_leave_one_out():
    model = KernelRidgeClassifier(kernel="rbf(sigma=2)", alpha=0.1, loo=True, threshold="auto", comm=comm)
    model.fit(own(X), own(SETS))
    scores, found = model.decision_function(own(X)), model.predict(own(X))
    for one, row in zip(found, scores):  # those down to a share of the greatest
        inside, outside = [row[k] for k in one], [row[k] for k in range(3) if k not in one]
        assert not inside or not outside or min(inside) > max(outside)
    plain = KernelRidgeClassifier(kernel="rbf(sigma=2)", alpha=0.1, threshold="auto", comm=comm).fit(own(X), own(SETS))
    raises(ValueError, lambda: plain.predict(own(X)), "leave-one-out")
    plain.threshold = "most"
    raises(ValueError, lambda: plain.predict(own(X)), "most")


def test_ranks_with_sets_and_ranks_with_classes():
    if comm.size > 1:
        mixed = own(SETS) if comm.rank == comm.size - 1 else own(CLASSES)
        raises(ValueError, lambda: KernelRidgeClassifier(comm=comm).fit(own(X), mixed), "one class per example", "sets of classes")
    raises(ValueError, lambda: KernelRidgeClassifier(comm=comm).fit(own(X), [{-1}] * len(OWN)), "from 0 on")


def test_candidates_are_ranked():
    model = KernelDependencyEstimation(kernel="rbf(sigma=2)", output_kernel="labels", alpha=0.1, comm=comm)
    model.fit(own(X), own(SETS))
    before = model.predict(own(X))
    places, distances = model.top_candidates(own(X), 3)
    scores = model.candidate_scores(own(X))
    assert places.shape == distances.shape == (len(OWN), 3) and scores.shape == (len(OWN), len(X))
    assert (np.diff(distances, axis=1) >= 0).all()
    close(-np.take_along_axis(scores, places, axis=1), distances, 1e-9)
    close(scores.max(axis=1), -distances[:, 0], 1e-9)
    assert [set(SETS[k]) for k in places[:, 0]] == [set(one) for one in before]
    assert model.predict(own(X)) == before
    raises(ValueError, lambda: model.top_candidates(own(X), 0), "number of candidates")
    joint = JointKernelMap(kernel="rbf(sigma=2)", epsilon=0.1, comm=comm).fit(own(X), own(CLASSES))
    assert (joint.candidate_scores(own(X)).argmax(axis=1) == joint.predict(own(X))).all()
    assert (joint.top_candidates(own(X), 1)[0][:, 0] == joint.predict(own(X))).all()
    neighbors = KNeighbors(kernel="rbf(sigma=2)", output_kernel="labels", n_neighbors=1, comm=comm).fit(own(X), own(SETS))
    assert [SETS[k] for k in neighbors.top_candidates(own(X), 1)[0][:, 0]] == own(SETS)


def test_help_has_the_names_of_python():
    for kind in (KernelRidge, KernelRidgeClassifier, KernelPCA, KernelDependencyEstimation, JointKernelMap, KNeighbors, SVC):
        text = kind.__doc__.split("Parameters\n")[1]
        assert not re.search(r"(^|\s)--[a-z]", text), f"{kind.__name__}: {re.search(r'.*--[a-z].*', text)[0]}"
        for name in kind().get_params():
            assert f"\n{name} : default" in text, f"{kind.__name__}: {name}"


def fields_of(struct, headers):
    """The names of the fields of a structure of C, in the order of its declaration."""
    body = re.search(rf"typedef struct {struct} \{{(.*?)\n\}} {struct};", headers, re.S)
    assert body, f"no header declares {struct}"
    names = []
    for line in re.sub(r"/\*.*?\*/", "", body[1], flags=re.S).split(";"):
        pointer = re.search(r"\(\*\s*(\w+)\)", line)
        names += [pointer[1]] if pointer else re.findall(r"(\w+)(?:\[\w*\])?\s*(?:,|$)", line.strip())
    return names


def test_structures_have_the_fields_that_the_headers_declare():
    folder = os.path.join(os.environ["DKMAP_SOURCE"], "include", "dkmap")
    headers = "".join(open(os.path.join(folder, name)).read() for name in sorted(os.listdir(folder)))
    for kind, struct in ((_library.Array, "dkm_array"), (_library.Lists, "dkm_csr"), (_library.Result, "dkm_result"),
                         (_library.PreimageSettings, "dkm_preimage_settings"), (_library.StdInfo, "dkm_std_info"),
                         (_library.ConformalInfo, "dkm_conformal_info"), (_library.LleSettings, "dkm_lle_settings"),
                         (_library.LleInfo, "dkm_lle_info"), (_library.ExtrapolateInfo, "dkm_extrapolate_info"),
                         (_library.ExtrapolateSettings, "dkm_extrapolate_settings"), (_library.Points, "dkm_cv_points"),
                         (_library.CrossValidation, "dkm_cv_request"), (_library.PlanRequest, "dkm_plan_request"),
                         (_library.Listener, "dkm_listener"), (_library.Layout, "dkm_layout"),
                         (_library.KernelCallback, "dkm_kernel_callback")):
        known, declared = [field[0] for field in kind._fields_], fields_of(struct, headers)
        assert known == declared, f"{struct}: the fields {known} in Python, {declared} in C"
