"""A model's card: its data, its split, how good it is beside the constant mean, where it does not hold."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from warpwatt.core.version import __version__
from warpwatt.lab.learn.evaluate import Split, by_group

if TYPE_CHECKING:
    from warpwatt.lab.learn.evaluate import Evaluation
    from warpwatt.lab.learn.regressors import Regressor
    from warpwatt.lab.learn.samples import Samples

_DISTRIBUTIONS = {"sklearn": "scikit-learn", "xgboost": "xgboost-cpu"}
_DIGITS = 6


def make_card(
    samples: Samples,
    regressor: Regressor,
    kept: Evaluation,
    evaluations: Sequence[Evaluation],
    *,
    tuned: bool,
    logarithmic: bool,
) -> dict[str, Any]:
    """Return the card of a trained model as JSON; the same training gives the same card."""
    return {
        "model": {
            "name": regressor.name,
            "title": regressor.title,
            "source": regressor.source,
            "hyper-parameters": dict(regressor.parameters),
            "renamed": dict(regressor.renamed),
            "tuned": tuned,
            "scaling": regressor.scaling,
            "learns the logarithm": logarithmic,
        },
        "data": _data(samples),
        "split": {
            "by": str(kept.split),
            "folds": len(kept.runs[0].per_fold),
            "seeds": [run.seed for run in kept.runs],
        },
        "figures": {each.regressor.name: figures(each) for each in evaluations},
        "spread": rounded(kept.spread(samples.y)),
        "held out by program": _by_program(samples, kept),
        "features": _features(samples),
        "limits": limits(samples, kept, evaluations),
        "versions": _versions(regressor),
    }


def limits(samples: Samples, kept: Evaluation, evaluations: Sequence[Evaluation]) -> list[str]:
    """Return in sentences where the model does not hold."""
    gpus = sorted(set(samples.gpus))
    where = ", ".join(gpus) if gpus else "the GPU of the data"
    found = [f"It predicts {samples.target} on {where} only, at the clocks of the measurements."]
    if kept.split is Split.ROWS:
        found.append(
            "Its figures come from a split by row: other launches of the same programs were in training. "
            "For a program it has not seen expect far less; `--split program` measures that."
        )
    else:
        found.append(
            "Its figures hold for programs it has not seen: no launch of a test program was in training."
        )
    baseline = evaluations[0].pooled
    if kept.pooled.mae >= baseline.mae or kept.pooled.r2 <= baseline.r2:
        found.append(
            f"It is no better than the constant mean of its training data (R² {kept.pooled.r2:.2f} against "
            f"{baseline.r2:.2f}): do not use it."
        )
    elif kept.pooled.r2 < 0.5:
        found.append(f"R² {kept.pooled.r2:.2f}: little better than the constant mean ({baseline.r2:.2f}).")
    found.append(
        "Outside the range of its features it extrapolates; the model names the features that leave it."
    )
    return found


def render_markdown(card: Mapping[str, Any]) -> str:
    """Return a card for readers."""
    data, model, split = card["data"], card["model"], card["split"]
    unit = data["unit"]
    settings = ", ".join(f"{name} = {value}" for name, value in model["hyper-parameters"].items()) or "none"
    lines = [
        f"# {model['title']}: {data['target']} from {data['file']}",
        "",
        f"- Data: {data['rows']} rows of {data['programs']} programs, SHA-256 `{data['sha256']}`.",
        *(f"- Left out: {count} rows, {reason}." for reason, count in data["left out"].items()),
        *(f"- Defect: {text}." for text in data["defects"]),
        f"- Hyper-parameters{' (tuned)' if model['tuned'] else ''}: {settings}. Source: {model['source']}.",
        *(f"- `{name}`: {text}." for name, text in model["renamed"].items()),
        f"- GPU: {', '.join(data.get('gpus', ())) or 'not stated'}.",
        f"- Split by {split['by']}, {split['folds']} folds, seeds {', '.join(map(str, split['seeds']))}.",
        f"- Scaling ({model['scaling']}) learned inside the folds.",
        "",
        f"| regressor | R² | RMSE, {unit} | MAE, {unit} | MAPE, % | R², pooled | MAE, pooled |",
        "|---|---|---|---|---|---|---|",
        *(_line(name, figures) for name, figures in card["figures"].items()),
        "",
        "Mean over folds and seeds ± standard deviation over seeds; pooled: over all held-out rows at once.",
        "",
        "## Limits",
        "",
        *(f"- {text}" for text in card["limits"]),
        "",
        *_other_split(card, unit),
        "## Programs, each predicted by a model that has not seen it"
        if split["by"] == "program"
        else "## Programs",
        "",
        f"| program | rows | MAE, {unit} | MAPE, % |",
        "|---|---:|---:|---:|",
        *(
            f"| {name} | {e['rows']} | {e['mae']:.4g} | {e['mape']:.3g} |"
            for name, e in card["held out by program"].items()
        ),
        "",
        "## Features",
        "",
        "| feature | lowest | mean | highest |",
        "|---|---|---|---|",
        *(f"| {f['name']} | {f['low']:g} | {f['mean']:g} | {f['high']:g} |" for f in card["features"]),
        "",
        "Made with " + ", ".join(f"{name} {text}" for name, text in card["versions"].items()) + ".",
    ]
    return "\n".join(lines) + "\n"


def _other_split(card: Mapping[str, Any], unit: str) -> list[str]:
    """Return the same model's figures in a split that was measured beside the card's own."""
    other = card.get("other split")
    if other is None:
        return []
    mean = other["mean"]
    return [
        f"R² {mean['r2']:.3f}, MAE {mean['mae']:.3g} {unit}, MAPE {mean['mape']:.3g} % by {other['by']}.",
        "",
    ]


def _line(name: str, figures: Mapping[str, Any]) -> str:
    mean, deviation, pooled = figures["mean"], figures["deviation"], figures["pooled"]
    cells = [f"{mean[key]:.4g} ± {deviation[key]:.2g}" for key in ("r2", "rmse", "mae", "mape")]
    return f"| {name} | {' | '.join(cells)} | {pooled['r2']:.4g} | {pooled['mae']:.4g} |"


def _data(samples: Samples) -> dict[str, Any]:
    programs = Counter(samples.programs)
    return {
        "file": samples.name,
        "sha256": samples.sha256,
        "target": samples.target,
        "unit": samples.unit,
        "rows": len(samples),
        "gpus": sorted(set(samples.gpus)),
        "convention": samples.convention,
        "programs": len(programs),
        "rows by program": dict(sorted(programs.items())),
        "left out": dict(samples.left_out),
        "defects": list(samples.defects),
        "lowest": float(samples.y.min()),
        "highest": float(samples.y.max()),
    }


def figures(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation as JSON: mean over folds and seeds, deviation, pooled."""
    parts = {"mean": evaluation.mean, "deviation": evaluation.deviation, "pooled": evaluation.pooled}
    return {name: {key: rounded(x) for key, x in asdict(part).items()} for name, part in parts.items()}


def rounded(x: float) -> float:
    """Return a figure with as many digits as cards hold.

    >>> rounded(1 / 3)
    0.333333
    """
    return float(f"{x:.{_DIGITS}g}")


def _by_program(samples: Samples, kept: Evaluation) -> dict[str, Any]:
    """Return each program's rows and errors, predicted without them or without the whole program."""
    found = by_group(samples, kept.runs[0].predicted, samples.programs)
    counts = Counter(samples.programs)
    return {
        name: {"rows": counts[name], "mae": rounded(e.mae), "mape": rounded(e.mape)}
        for name, e in found.items()
    }


def _features(samples: Samples) -> list[dict[str, Any]]:
    columns = zip(samples.features, samples.x.T, strict=True)
    return [
        {
            "name": name,
            "low": float(x.min()),
            "mean": float(x.mean()),
            "deviation": float(x.std()),
            "high": float(x.max()),
        }
        for name, x in columns
    ]


def _versions(regressor: Regressor) -> dict[str, str]:
    module = regressor.path.partition(":")[0].partition(".")[0]
    found = {"warpwatt": __version__, "python": platform.python_version(), "numpy": version("numpy")}
    name = _DISTRIBUTIONS.get(module, module)
    if name not in found:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found
