"""embed lle beside scikit-learn's LocallyLinearEmbedding on a swiss roll; see compare_lle.sh."""
import argparse
import os
import subprocess
import tempfile

import numpy as np
from scipy.linalg import subspace_angles
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import LocallyLinearEmbedding
from sklearn.neighbors import NearestNeighbors


def dkmap(ranks, *arguments):
    """Run dkmap on so many ranks; what it prints is not wanted."""
    command = [*os.environ["DKMAP_LAUNCH"].split(), "-np", str(ranks), os.environ["DKMAP"]]
    subprocess.run([*command, *map(str, arguments), "--quiet"], check=True, stdout=subprocess.DEVNULL)


def embed(folder, points, held, options):
    """Coordinates of the points, and of those held out."""
    names = {name: os.path.join(folder, name) for name in ("x.npy", "new.npy", "y.npy", "z.npy", "m.h5")}
    np.save(names["x.npy"], points)
    np.save(names["new.npy"], held)
    dkmap(options.ranks, "embed", "lle", "--x", names["x.npy"], "--neighbours", options.neighbours,
          "--components", 2, "--embedding", names["y.npy"], "-o", names["m.h5"])
    dkmap(options.ranks, "encode", names["m.h5"], "--x", names["new.npy"], "-o", names["z.npy"])
    return np.load(names["y.npy"]), np.load(names["z.npy"])


def off(known, everything, placed):
    """How far points are from where an embedding of all has them, root mean square: the embedding
    of the known ones is laid on it by the best affine map."""
    design = np.c_[np.ones(len(known)), known]
    fit = np.linalg.lstsq(design, everything[: len(known)], rcond=None)[0]
    where = np.c_[np.ones(len(placed)), placed] @ fit
    return np.sqrt(np.mean(np.sum((where - everything[len(known):]) ** 2, axis=1)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=300)
    parser.add_argument("--held", type=int, default=100)
    parser.add_argument("--neighbours", type=int, default=12)
    parser.add_argument("--ranks", type=int, default=2)
    options = parser.parse_args()
    everything = make_swiss_roll(options.points + options.held, random_state=0)[0]
    points, held = everything[: options.points], everything[options.points:]
    theirs = LocallyLinearEmbedding(n_neighbors=options.neighbours, n_components=2, eigen_solver="dense")
    their_y = theirs.fit_transform(points)
    whole = theirs.__class__(**theirs.get_params()).fit_transform(everything)
    with tempfile.TemporaryDirectory() as folder:
        our_y, our_z = embed(folder, points, held, options)
    nearest = NearestNeighbors(n_neighbors=1).fit(points).kneighbors(held, return_distance=False)[:, 0]
    angle = subspace_angles(our_y, their_y).max()
    print(f"points                   {options.points}, {options.neighbours} neighbours")
    print(f"largest angle            {angle:.2e} between the planes of both embeddings")
    print(f"held out, dkmap          {off(our_y, whole, our_z):.5f} from where an embedding of all has them")
    print(f"held out, scikit-learn   {off(their_y, whole, theirs.transform(held)):.5f}")
    print(f"nearest neighbour        {off(our_y, whole, our_y[nearest]):.5f}")
    raise SystemExit(1 if angle > 1e-6 else 0)


main()
