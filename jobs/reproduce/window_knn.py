"""Each output character by the vote of the nearest windows of the input alone, under a weighted Hamming distance: what
`predict --preimage strings` is compared with. Run by pronunciation.sh.

usage: window_knn.py X.txt Y.txt NEW.txt OUT.txt [WEIGHTS] [NEIGHBORS]
WEIGHTS, one per place of the window, separated by commas: 1,2,4,8,4,2,1. NEIGHBORS: 5."""
import sys

import numpy as np


def lines(path):
    with open(path, encoding="latin-1") as file:
        return file.read().split("\n")[:-1]


def windows(text, length, width):
    """The window about the place of the input that belongs to each of `length` output characters."""
    half = width // 2
    padded = np.frombuffer(("\0" * half + text + "\0" * half).encode("latin-1"), np.uint8)
    places = ((np.arange(length) + 0.5) * len(text) / length).astype(int)
    return padded[places[:, None] + np.arange(width)]


def main():
    X, Y, new = (lines(path) for path in sys.argv[1:4])
    weights = np.array([float(w) for w in (sys.argv[5] if len(sys.argv) > 5 else "1,2,4,8,4,2,1").split(",")], np.float32)
    k = int(sys.argv[6]) if len(sys.argv) > 6 else 5
    longer = np.mean([len(y) - len(x) for x, y in zip(X, Y)])
    train = np.concatenate([windows(x, len(y), len(weights)) for x, y in zip(X, Y) if y])
    says = np.concatenate([np.frombuffer(y.encode("latin-1"), np.uint8) for y in Y if y])
    with open(sys.argv[4], "w", encoding="latin-1") as out:
        for text in new:
            length = max(1, round(len(text) + longer))
            asked = windows(text, length, len(weights))
            distance = np.zeros((length, len(train)), np.float32)
            for place, weight in enumerate(weights):
                distance += weight * (asked[:, place, None] != train[None, :, place])
            nearest = np.argpartition(distance, k - 1, axis=1)[:, :k]
            out.write("".join(chr(np.bincount(says[row]).argmax()) for row in nearest) + "\n")


if __name__ == "__main__":
    main()
