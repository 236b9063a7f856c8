"""Reference values for tests of statistics code, computed with numpy, scipy and statsmodels.

Makes one JSON object (one case per line; floats in shortest round-trip form;
"made_with" holds the library versions) with Wilson intervals, percentile and
BCa bootstrap intervals, Wilcoxon signed-rank, exact McNemar and sign tests,
Holm adjustment, correlations, the normal distribution, Fisher z intervals,
chi-squared tests, paired effect sizes and competition ranks. Run:
`pip install numpy scipy statsmodels; python make_statistics.py > statistics.json`.
Differences are a - b, with zeros dropped and midranks for ties. BCa follows
scipy.stats.bootstrap given the stored replicates (called with n_resamples=0):
z0 = ppf((#(rep < mean) + #(rep <= mean)) / 2B), so replicates equal to the mean
count half; acceleration a = sum(u^3) / (6 sum(u^2)^1.5) with u = mean of the
leave-one-out means minus each of them; with t = z0 + ppf(tail or 1 - tail)
the level is cdf(z0 + t / (1 - a t)), read off the sorted replicates by linear
interpolation at level * (B - 1) (numpy.percentile); the bounds stored are scipy's
and are checked below against these formulas. The samples are chosen so that no
summation order can change which replicates are below, at or above the mean.
The exact Wilcoxon p counts all sign flips of the observed midranks:
min(1, 2 min(P(W <= w), P(W >= w))); it is null where there are too many.
"""

import json
import platform
import sys
from types import SimpleNamespace

import numpy as np
import scipy
import statsmodels
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint


def close(x, y, tolerance=1e-12):
    assert np.allclose(x, y, rtol=tolerance, atol=1e-15), (x, y)


def wilson():
    cases = []
    counts = [(0, 25), (25, 25), (0, 1), (1, 1), (7, 10), (1, 30), (29, 30), (450, 1000)]
    for confidence in (0.9, 0.95, 0.99):
        for k, n in counts:
            low, high = proportion_confint(k, n, alpha=1 - confidence, method="wilson")
            cases.append({"k": k, "n": n, "confidence": confidence, "low": low, "high": high})
    return cases


def bca():
    rng = np.random.default_rng(7)
    skewed = np.round(rng.lognormal(0.0, 1.0, 20), 3)
    # Multiples of 1/64, so that sums are exact; mirrored about 2.
    offsets = np.round(64 * np.abs(rng.normal(0.0, 1.0, 8))) / 64
    symmetric = rng.permutation(np.concatenate([2 - offsets, 2 + offsets]))
    tied = rng.choice([1.0, 2.0, 3.0, 4.0, 5.0], 30, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    cases = []
    for name, sample, confidence in [
        ("skewed", skewed, 0.95), ("symmetric", symmetric, 0.9), ("tied", tied, 0.99),
    ]:
        mean = np.mean(sample)
        replicates = sample[rng.integers(0, len(sample), (1999, len(sample)))].mean(axis=1)
        gap = np.abs(replicates - mean)
        assert np.all((gap == 0) | (gap > 1e-9))
        assert name != "skewed" or np.all(gap > 0)

        given = SimpleNamespace(bootstrap_distribution=replicates)
        bounds = {
            method: stats.bootstrap(
                (sample,), np.mean, n_resamples=0, confidence_level=confidence,
                method=method, bootstrap_result=given,
            ).confidence_interval
            for method in ("percentile", "BCa")
        }
        tail = (1 - confidence) / 2
        low, high = np.percentile(replicates, [100 * tail, 100 * (1 - tail)])
        close([low, high], bounds["percentile"])
        z0 = stats.norm.ppf((np.mean(replicates < mean) + np.mean(replicates <= mean)) / 2)
        left_out = np.array([np.delete(sample, i).mean() for i in range(len(sample))])
        u = left_out.mean() - left_out
        a = np.sum(u**3) / (6 * np.sum(u**2) ** 1.5)
        t = z0 + stats.norm.ppf([tail, 1 - tail])
        levels = stats.norm.cdf(z0 + t / (1 - a * t))
        close(np.percentile(replicates, 100 * levels), bounds["BCa"])
        cases.append({
            "name": name, "sample": sample, "confidence": confidence,
            "percentile_low": low, "percentile_high": high,
            "bca_low": bounds["BCa"].low, "bca_high": bounds["BCa"].high,
            "replicates": replicates,
        })
    return cases


def signed_ranks(differences):
    d = np.asarray(differences, dtype=float)
    d = d[d != 0]
    return d, stats.rankdata(np.abs(d))


def exact_wilcoxon(differences):
    d, ranks = signed_ranks(differences)
    doubled = np.round(2 * ranks).astype(int)  # midranks are multiples of 1/2
    sums = np.zeros(1, dtype=int)
    for r in doubled:
        sums = np.concatenate([sums, sums + r])
    w = doubled[d > 0].sum()
    return min(1.0, 2 * min(np.mean(sums <= w), np.mean(sums >= w)))


def wilcoxon():
    rng = np.random.default_rng(7)
    many = np.round(rng.normal(0.25, 1.0, 80), 1) + 0.0
    lists = [
        [1.5],
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        [0.3, -1.1, 2.4, 0.7, 1.9, -0.2, 3.1, 1.3],
        np.round(rng.normal(0.5, 1.0, 16), 3),
        [1, 1, 1, -1, 1, 1, -1, 1, 1, 1],
        [2, -1, 1, 3, 2, -2, 1, 3, -1, 2, 1, 3],
        [0, 0.5, -0.5, 0, 1.0, 1.5, 0.5, 0, 2.0, -1.0, 1.0],
        [0, 1, 0, -1, 2, -2, 3, -3, 0],
        [0, -1, -2, -2, -3, 1, -1, -4, -4, 2, -5, -1, -3, 1, -2, -1, -2, 0],
        many,
    ]
    cases = []
    for values in lists:
        values = np.asarray(values, dtype=float)
        d, ranks = signed_ranks(values)
        n = len(d)
        exact = exact_wilcoxon(values) if n <= 16 else None
        if exact is not None and len(set(np.abs(d))) == n:
            close(exact, stats.wilcoxon(d, method="exact").pvalue)
        approx = stats.wilcoxon(
            values, method="approx", correction=False, zero_method="wilcox"
        ).pvalue
        cases.append({
            "differences": values, "w_plus": ranks[d > 0].sum(), "n_nonzero": n,
            "exact_p": exact, "approx_p": approx,
        })
    return cases


def mcnemar_exact():
    pairs = [(8, 0), (0, 8), (5, 5), (1, 9), (30, 12), (0, 1), (2, 3), (6, 17), (120, 90)]
    return [
        {"b": b, "c": c, "p": mcnemar([[10, b], [c, 10]], exact=True).pvalue} for b, c in pairs
    ]


def sign():
    pairs = [(1, 0), (0, 6), (4, 4), (7, 2), (3, 12), (15, 14), (40, 20), (550, 480)]
    return [
        {"better": b, "worse": w, "p": stats.binomtest(b, b + w, 0.5).pvalue} for b, w in pairs
    ]


def holm():
    lists = [
        [0.01, 0.04, 0.03, 0.005],
        [0.02, 0.02, 0.001, 0.02, 0.2, 0.001, 0.049],
        [0.9, 0.5, 0.5, 0.3, 1.0, 0.012],
    ]
    return [{"p": p, "adjusted": multipletests(p, method="holm")[1]} for p in lists]


def correlation():
    rng = np.random.default_rng(7)
    x = rng.integers(1, 6, 25)
    y = np.clip(x + rng.integers(-2, 3, 25), 1, 5)
    u = np.round(rng.normal(0.0, 1.0, 18), 1)
    v = np.round(-0.5 * u + rng.normal(0.0, 1.0, 18), 1)
    pairs = [
        ([1, 2, 2, 3, 4, 4, 5], [2, 1, 3, 3, 5, 4, 5]),
        ([0, 0, 0, 1, 1, 1, 0, 1], [0.2, 0.4, 0.4, 0.9, 0.7, 0.4, 0.1, 0.9]),
        ([5, 4, 4, 3, 2, 2, 1, 1, 1], [1, 1, 2, 3, 3, 3, 4, 6, 5]),
        (x, y),
        (u + 0.0, v + 0.0),
    ]
    return [
        {
            "x": a, "y": b,
            "spearman": stats.spearmanr(a, b).statistic,
            "kendall_b": stats.kendalltau(a, b, variant="b").statistic,
            "pearson": stats.pearsonr(a, b).statistic,
        }
        for a, b in pairs
    ]


def normal():
    xs = [-37, -30, -20, -15, -10, -8, -6, -5, -4, -3, -2.5, -2, -1.96, -1.5, -1, -0.5, -0.1,
          -1e-8, 0, 1e-8, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 1.96, 2, 2.5, 3, 4, 5, 6, 7, 8]
    ps = [1e-300, 1e-200, 1e-100, 1e-50, 1e-30, 1e-20, 1e-16, 1e-12, 1e-10, 1e-8, 1e-6, 1e-5,
          1e-4, 1e-3, 0.005, 0.01, 0.02425, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.49, 0.5, 0.51,
          0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.97575, 0.99, 0.995, 0.999, 0.9999, 1 - 1e-5,
          1 - 1e-6, 1 - 1e-8, 1 - 1e-10, 1 - 1e-12, 1 - 1e-14, 1 - 1e-15, 1 - 1e-16]
    return {
        "cdf": [[float(x), stats.norm.cdf(x)] for x in xs],
        "ppf": [[p, stats.norm.ppf(p)] for p in ps],
    }


def fisher():
    rng = np.random.default_rng(7)
    cases = []
    for n, slope, confidence in [
        (4, 0.5, 0.95), (10, 0.8, 0.9), (25, -0.6, 0.95), (50, 0.0, 0.99), (200, 0.3, 0.95),
        (30, 20.0, 0.99), (30, -5.0, 0.9),
    ]:
        x = rng.normal(size=n)
        result = stats.pearsonr(x, slope * x + rng.normal(size=n))
        r, (low, high) = result.statistic, result.confidence_interval(confidence)
        half = stats.norm.ppf(0.5 + confidence / 2) / np.sqrt(n - 3)
        close(np.tanh([np.arctanh(r) - half, np.arctanh(r) + half]), [low, high])
        cases.append({"r": r, "n": n, "confidence": confidence, "low": low, "high": high})
    return cases


def chi2():
    tables = [
        ([10, 20, 30], [20, 20, 20]),
        ([5, 0, 12], [3, 4, 9]),
        ([100, 50, 25], [200, 100, 50]),
        ([300, 10, 2], [250, 60, 15]),
        ([12, 7, 9, 3], [5, 14, 8, 10]),
        ([0, 3, 1, 6], [4, 2, 2, 1]),
        ([400, 300, 200, 100], [100, 200, 300, 400]),
    ]
    cases = []
    for a, b in tables:
        result = stats.chi2_contingency([a, b], correction=False)
        cases.append({"a": a, "b": b, "statistic": result.statistic, "p": result.pvalue})
    return cases


def paired():
    rng = np.random.default_rng(7)
    # Multiples of 1/8, so that differences and their ties are exact.
    u = np.round(8 * rng.normal(5.0, 1.0, 20)) / 8
    v = np.round(8 * (u - 0.25 + rng.normal(0.0, 0.5, 20))) / 8
    pairs = [
        ([3, 5, 4, 6, 7, 5], [2, 5, 1, 4, 7, 6]),
        ([0.5, 0.25, 0.75, 1.0, 0.5, 0.0, 0.25, 0.5], [0.75, 0.5, 0.75, 1.25, 1.0, 0.25, 0.0, 1.5]),
        (u, v),
    ]
    cases = []
    for a, b in pairs:
        difference = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
        d, ranks = signed_ranks(difference)
        plus, minus = ranks[d > 0].sum(), ranks[d < 0].sum()
        cases.append({
            "a": a, "b": b, "mean_difference": difference.mean(),
            "cohen_dz": difference.mean() / difference.std(ddof=1),
            "rank_biserial": (plus - minus) / (plus + minus),
        })
    return cases


def ranks():
    lists = [
        [0.5], [3, 1, 2], [0.9, 0.7, 0.9, 0.4, 0.7, 0.7, 0.1], [1, 1, 1, 1],
        [-1.5, 0, -1.5, 2.25, 0, -3],
    ]
    return [
        {"scores": s, "rank": stats.rankdata(-np.asarray(s, dtype=float), method="min").astype(int)}
        for s in lists
    ]


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value


def write(value, out, depth=0):
    """One case (or pair) per line, the keys above them indented."""
    pad = " " * (depth + 1)
    if isinstance(value, dict):
        opening, closing, items = "{", "}", list(value.items())
    else:
        opening, closing, items = "[", "]", [(None, v) for v in value]
    out.write(opening + "\n")
    for i, (key, item) in enumerate(items):
        out.write(pad + ("" if key is None else json.dumps(key) + ": "))
        if key is not None and isinstance(item, (dict, list)):
            write(item, out, depth + 1)
        else:
            out.write(json.dumps(item, allow_nan=False))
        out.write(",\n" if i + 1 < len(items) else "\n")
    out.write(" " * depth + closing)


def main():
    reference = {
        "made_with": {
            "python": platform.python_version(), "numpy": np.__version__,
            "scipy": scipy.__version__, "statsmodels": statsmodels.__version__,
        },
        "wilson": wilson(), "bca": bca(), "wilcoxon": wilcoxon(), "mcnemar": mcnemar_exact(),
        "sign": sign(), "holm": holm(), "correlation": correlation(), "normal": normal(),
        "fisher": fisher(), "chi2": chi2(), "paired": paired(), "ranks": ranks(),
    }
    write(plain(reference), sys.stdout)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
