"""Objects of every type, all methods, files: the same on any number of ranks."""
import os
import pickle
import tempfile

import numpy as np
import scipy.sparse

import dkmap
from dkmap import (JointKernelMap, KernelDependencyEstimation, KernelExtension, KernelPCA, KernelRidge,
                   KernelRidgeClassifier, KNeighbors, LocallyLinearEmbedding, SVC)
from support import close, comm, joined, mine, rbf, regression

X, y = regression()
OWN = mine(len(X))
WORDS = ["abcab", "abba", "bbba", "aabb", "cabc", "ccab"] * 3
UPPER = [word.upper() for word in WORDS]


def own_list(objects):
    return [objects[i] for i in mine(len(objects))]


def all_of(part):
    return [one for some in comm.allgather(part) for one in some]


def test_kernel_pca_gives_the_eigenpairs_of_the_centered_matrix():
    K = rbf(X, X, 2.0)
    H = np.eye(len(X)) - 1 / len(X)
    values, vectors = np.linalg.eigh(H @ K @ H)
    model = KernelPCA(4, kernel="rbf(sigma=2)", comm=comm).fit(X[OWN])
    close(model.eigenvalues_, values[::-1][:4], 1e-10)
    close(np.abs(joined(model.eigenvectors_)), np.abs(vectors[:, ::-1][:, :4]), 1e-9)
    coordinates = joined(model.transform(X[OWN]))
    close(np.abs(coordinates), np.abs(vectors[:, ::-1][:, :4] * np.sqrt(values[::-1][:4])), 1e-9)


def test_pre_images_of_principal_components():
    model = KernelPCA(3, kernel="linear", preimage="linear", comm=comm).fit(X[OWN])
    close(joined(model.inverse_transform(model.transform(X[OWN]))), X, 1e-9)
    model.set_params(preimage="candidates")
    found = joined(model.inverse_transform(model.transform(X[OWN])))
    close(found, X, 1e-12)
    model.set_params(preimage="learned", kz="rbf(sigma=2)", gamma_z=1e-8)
    close(joined(model.inverse_transform(model.transform(X[OWN]))), X, 0.1)


def test_strings_to_strings():
    model = KernelDependencyEstimation(kernel="spectrum(p=2)", output_kernel="spectrum(p=2)", alpha=1e-6,
                                       comm=comm)
    model.fit(own_list(WORDS), own_list(UPPER))
    assert all_of(model.predict(own_list(WORDS))) == UPPER
    assert model.score(own_list(WORDS), own_list(UPPER)) == 1.0


def test_graphs_are_matrices_with_labels():
    path = scipy.sparse.csr_matrix([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    ring = scipy.sparse.coo_matrix([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    graphs = [(path, ["C", "C", "O"]), (path, ["O", "C", "C"]), (ring, ["C", "C", "O"]), (path, "NNN")]
    texts = ["C C O | 0-1 1-2", "O C C | 0-1 1-2", "C C O | 0-1 1-2 0-2", "N N N | 0-1 1-2"]
    K = dkmap.gram(graphs, kernel="weisfeiler-lehman(h=2)", comm=comm, replicated=True)
    close(K[:2, :2], np.full((2, 2), 11.0), 0)
    close(K[3], [0, 0, 0, 9 + 5 + 5], 0)
    close(dkmap.gram(texts, kernel="weisfeiler-lehman(h=2)", x_type="graphs", comm=comm, replicated=True), K, 0)
    plain = dkmap.gram([path, ring], kernel="weisfeiler-lehman(h=1)", comm=comm, replicated=True)
    close(plain, [[9 + 5, 9 + 3], [9 + 3, 9 + 9]], 0)
    labels = np.array([0, 0, 1, 1] * 3)
    model = KernelRidgeClassifier(kernel="normalize(weisfeiler-lehman)", alpha=1e-3, comm=comm)
    model.fit(own_list(graphs * 3), labels[mine(12)])
    assert (joined(model.predict(own_list(graphs * 3))) == labels).all()
    for wrong in [(path, "CC"), (path, ["C", "C", "a b"]), scipy.sparse.csr_matrix((2, 3))]:
        try:
            dkmap.gram([wrong], kernel="weisfeiler-lehman", comm=comm, replicated=True)
            raise AssertionError("not refused")
        except ValueError:
            pass


def test_kernels_that_scikit_learn_has_agree():
    try:
        from sklearn.gaussian_process.kernels import Matern, RationalQuadratic
        from sklearn.metrics import pairwise_distances
    except ImportError:
        return
    for nu in (0.5, 1.5, 2.5):
        close(dkmap.gram(X, kernel=f"matern(nu={nu}, sigma=1.7)", comm=comm, replicated=True),
              Matern(length_scale=1.7, nu=nu)(X), 1e-12)
        widths = [0.7 + 0.3 * k for k in range(X.shape[1])]
        text = ";".join(str(width) for width in widths)
        close(dkmap.gram(X, kernel=f"matern(nu={nu}, sigma={text})", comm=comm, replicated=True),
              Matern(length_scale=widths, nu=nu)(X), 1e-12)
    close(dkmap.gram(X, kernel="rq(alpha=0.8, sigma=1.3)", comm=comm, replicated=True),
          RationalQuadratic(length_scale=1.3, alpha=0.8)(X), 1e-12)
    bits = X > 0
    close(dkmap.gram(bits.astype(float), kernel="tanimoto", comm=comm, replicated=True),
          1 - pairwise_distances(bits, metric="jaccard"), 1e-12)


def test_bytes_are_strings():
    words = [word.encode() for word in WORDS]
    close(dkmap.gram(words, kernel="spectrum(p=2)", comm=comm, replicated=True),
          dkmap.gram(WORDS, kernel="spectrum(p=2)", comm=comm, replicated=True), 0)


def test_sets_to_label_sets():
    sets = [{"a", "b"}, {"b"}, {"c", "a"}, {"a"}] * 4
    labels = [{1, 2}, {2}, {3, 1}, {1}] * 4
    model = KernelDependencyEstimation(kernel="set", output_kernel="labels", alpha=1e-6, comm=comm)
    model.fit(own_list(sets), own_list(labels))
    assert all_of(model.predict(own_list(sets))) == labels


def test_a_graph_of_the_examples():
    m = 12
    ring = scipy.sparse.csr_matrix((np.ones(2 * m), (np.r_[0:m, 0:m], np.r_[1:m + 1, -1:m - 1] % m)))
    degrees = np.asarray(ring.sum(axis=1)).ravel()
    laplacian = np.eye(m) - ring.toarray() / np.sqrt(np.outer(degrees, degrees))
    values, vectors = np.linalg.eigh(laplacian)
    expected = vectors @ np.diag(np.exp(-values)) @ vectors.T
    G = dkmap.gram(ring, kernel="diffusion(tau=1)", x_type="graph", comm=comm, replicated=True)
    close(G, expected, 1e-10)
    outputs = np.cos(np.arange(m))
    model = KernelRidge(kernel="diffusion(tau=1)", alpha=0.1, x_type="graph", comm=comm, replicated=True)
    model.fit(ring, outputs)
    close(model.dual_coef_, np.linalg.solve(expected + 0.1 * np.eye(m), outputs), 1e-9)


def test_kernel_matrices():
    close(joined(dkmap.gram(X[OWN], kernel="rbf(sigma=2)", comm=comm)), rbf(X, X, 2.0), 1e-13)
    other = regression(m=17, seed=5)[0]
    part = mine(17)
    G = dkmap.gram(other[part], X[OWN], kernel="rbf(sigma=2)", comm=comm)
    close(joined(G), rbf(other, X, 2.0), 1e-13)
    H = np.eye(len(X)) - 1 / len(X)
    close(joined(dkmap.gram(X[OWN], kernel="rbf(sigma=2)", center=True, comm=comm)),
          H @ rbf(X, X, 2.0) @ H, 1e-13)
    close(joined(dkmap.gram(X[OWN], kernel="rbf", gamma=0.125, comm=comm)), rbf(X, X, 2.0), 1e-13)
    close(joined(dkmap.gram(X[OWN], kernel="poly", gamma=0.5, degree=2, coef0=3, comm=comm)),
          (0.5 * X @ X.T + 3) ** 2, 1e-11)
    close(joined(dkmap.gram(X[OWN], kernel="laplacian", gamma=0.5, comm=comm)),
          np.exp(-0.5 * np.abs(X[:, None] - X[None]).sum(axis=-1)), 1e-13)


def test_nearest_neighbors():
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    nearest = np.argsort(squares, axis=1)[:, :3]
    model = KNeighbors(n_neighbors=3, comm=comm).fit(X[OWN], y[OWN])
    close(joined(model.predict(X[OWN])), y[nearest].mean(axis=1), 1e-12)
    classes = (y > 0).astype(int)
    model.fit(X[OWN], classes[OWN])
    votes = (classes[nearest].mean(axis=1) > 0.5).astype(int)
    assert (joined(model.predict(X[OWN])) == votes).all()


def test_support_vectors_and_joint_maps_tell_classes():
    classes = np.array(["no", "yes"])[(y > 0).astype(int)]
    model = SVC(C=100.0, kernel="rbf(sigma=1)", comm=comm).fit(X[OWN], classes[OWN])
    assert model.score(X[OWN], classes[OWN]) > 0.95
    joint = JointKernelMap(kernel="rbf(sigma=1)", C=10.0, comm=comm).fit(X[OWN], (y[OWN] > 0).astype(int))
    assert joint.score(X[OWN], (y[OWN] > 0).astype(int)) > 0.95
    lists = [[0] if i % 3 == 0 else [0, 1] for i in OWN]
    free, bound = joined(joint.predict(X[OWN])), joined(joint.predict(X[OWN], candidate_lists=lists))
    assert (bound == np.where(np.arange(len(X)) % 3 == 0, 0, free)).all()
    assert (joined(joint.predict(X[OWN])) == free).all()


def test_embedding_a_plane():
    grid = np.array([[a, b, 0.2 * a] for a in range(8) for b in range(8)], float)
    model = LocallyLinearEmbedding(n_neighbors=8, n_components=2, comm=comm, replicated=True).fit(grid)
    assert model.embedding_.shape == (64, 2)
    basis = np.column_stack([grid[:, :2], np.ones(64)])
    fit = basis @ np.linalg.lstsq(basis, model.embedding_, rcond=None)[0]
    assert np.linalg.norm(fit - model.embedding_) / np.linalg.norm(model.embedding_) < 0.2
    assert model.transform(grid[:5]).shape == (5, 2)


def test_extension_by_all_landmarks_gives_the_kernel_back():
    model = KernelExtension(kernel="rbf(sigma=1)", landmarks=len(X), comm=comm).fit(X[OWN])
    close(joined(model.gram(X[OWN])), rbf(X, X, 1.0), 1e-7)
    Z = joined(model.transform(X[OWN]))
    close(Z @ Z.T, rbf(X, X, 1.0), 1e-7)


def test_extension_of_a_given_matrix():
    Q = np.array([[2.0, 0.5, 0], [0.5, 1.0, 0], [0, 0, 3.0]])
    K = X @ Q @ X.T
    model = KernelExtension(comm=comm, shear=False).fit(X[OWN], gram=K[OWN])
    new = regression(m=9, seed=2)[0]
    close(model.gram(new), new @ Q @ X.T, 1e-8)


def models():
    classes = (y > 0).astype(int) * 3 + 1
    return [KernelRidge(kernel="rbf(sigma=2)", alpha=1e-3, center=True).set_params(comm=comm, replicated=True).fit(X, y),
            KernelRidgeClassifier(kernel="rbf(sigma=2)", comm=comm, replicated=True).fit(X, classes),
            KernelPCA(2, kernel="rbf(sigma=2)", comm=comm, replicated=True).fit(X),
            KNeighbors(2, comm=comm, replicated=True).fit(X, y),
            SVC(kernel="rbf(sigma=2)", comm=comm, replicated=True).fit(X, classes),
            LocallyLinearEmbedding(comm=comm, replicated=True).fit(X),
            KernelExtension(kernel="rbf(sigma=1)", landmarks=20, comm=comm, replicated=True).fit(X)]


def outputs_of(model):
    return model.predict(X) if hasattr(model, "predict") else model.transform(X)


def test_files_and_pickles_hold_the_model():
    folder = comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None)
    for model in models():
        path = os.path.join(folder, f"{type(model).__name__}.h5")
        model.save(path)
        loaded = dkmap.load(path, comm=comm, replicated=True)
        assert type(loaded) is type(model)
        close(outputs_of(loaded), outputs_of(model), 1e-12)
        close(outputs_of(pickle.loads(pickle.dumps(model))), outputs_of(model), 1e-12)
        comm.Barrier()
        if comm.rank == 0:
            os.remove(path)
    if comm.rank == 0:
        os.rmdir(folder)


def test_scikit_learn_finds_what_it_needs():
    try:
        from sklearn.base import clone
        from sklearn.model_selection import GridSearchCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
    except ImportError:
        return
    model = KernelRidge(kernel="rbf(sigma=2)", comm=comm, replicated=True)
    copy = clone(model)
    assert copy.comm is comm and copy.get_params()["kernel"] == "rbf(sigma=2)"
    pipeline = make_pipeline(StandardScaler(), model)
    search = GridSearchCV(pipeline, {"kernelridge__alpha": [1e-4, 1e-2, 10.0]}, cv=3).fit(X, y)
    assert search.best_params_["kernelridge__alpha"] < 1 and search.score(X, y) > 0.9
    K = rbf(X, X, 2.0)
    search = GridSearchCV(KernelRidge(kernel="precomputed", comm=comm, replicated=True), {"alpha": [1e-3, 1.0]},
                          cv=3).fit(K, y)
    assert search.best_params_["alpha"] == 1e-3


def test_parameters_carry_the_names_of_the_command_too():
    assert KernelPCA(components=3).n_components == 3 and KNeighbors(k=4).n_neighbors == 4
    assert KernelRidge(ridge=2.0).alpha == 2.0 and KernelRidge(seed=3).random_state == 3
    assert KernelRidge().set_params(kx="linear").kernel == "linear"
