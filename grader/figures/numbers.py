"""What goes into a figure: numbers checked and copied, and the words that say what they are."""

import numpy as np


def array(values, what: str, ndim: int | None = None, finite: bool = True) -> np.ndarray:
    """A float copy: `array([1, 2], "bars: 'a'", 1)` -> `np.array([1.0, 2.0])`."""
    try:
        found = np.array(_plain(values))
    except (TypeError, ValueError):
        raise ValueError(f"{what} should hold rows of one length, but they differ.") from None
    if found.dtype.kind not in "biuf":
        raise ValueError(
            f"{what} should hold real numbers, but a {type(values).__name__} of "
            f"something else came."
        )
    if ndim is not None and found.ndim != ndim:
        raise ValueError(
            f"{what} should have {ndim} {'axis' if ndim == 1 else 'axes'}, "
            f"but its shape is {found.shape}."
        )
    if not found.size:
        raise ValueError(f"{what} should hold at least one number, but its shape is {found.shape}.")
    found = found.astype(float)
    if finite and (bad := int((~np.isfinite(found)).sum())):
        raise ValueError(
            f"{what} should hold finite numbers, but {bad} of {found.size} are nan or inf."
        )
    return found


def _plain(values):
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        return (values.double() if values.is_floating_point() else values).numpy()
    return [_plain(value) for value in values] if isinstance(values, list | tuple) else values


def series(named, figure: str) -> dict:
    """The same dict, unless it is none or empty."""
    if not isinstance(named, dict) or not named:
        came = "an empty one" if isinstance(named, dict) else f"a {type(named).__name__}"
        raise ValueError(f"{figure} needs a dict {{name: numbers}}, but {came} came.")
    return {str(name): values for name, values in named.items()}


def same_length(found: int, wanted: int, what: str, other: str) -> None:
    """Raise unless both lengths are equal."""
    if found != wanted:
        entries = "entry" if found == 1 else "entries"
        raise ValueError(f"{what} has {found} {entries}, but {other} has {wanted}.")


def names(labels, count: int, what: str, other: str) -> list[str]:
    """One word per place: `names(None, 2, ...)` -> `["0", "1"]`."""
    if labels is None:
        return [str(place) for place in range(count)]
    labels = [str(label.item() if hasattr(label, "item") else label) for label in labels]
    same_length(len(labels), count, what, other)
    return labels


def say(value: float, among=0.0) -> str:
    """Three digits, 0 for what is only rounding among the others, small integers whole.

    Example: `say(1234.5)` -> `"1230"`, `say(1024)` -> `"1024"`
    """
    if abs(value) <= 1e-6 * np.abs(among).max():
        return "0"
    if value == round(value) and abs(value) < 1e5:
        return f"{value:.0f}"
    return f"{float(f'{value:.3g}') + 0.0:g}"


def cell(value: float, among) -> str:
    """Short, in one style with its neighbours: `cell(0.3, [0.25, 0.3])` -> `"0.30"`."""
    among = np.asarray(among)[np.isfinite(among)]
    top = np.abs(among).max(initial=0)
    if not np.isfinite(value):
        text = f"{value}"
    elif abs(value) >= 1e4 or 0 < top < 0.01 and value:
        text = f"{value:.1e}".replace("e+0", "e").replace("e-0", "e-").replace(".0e", "e")
    elif (among == among.round()).all():
        text = f"{value:.0f}"
    else:
        text = f"{value:.{2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0}f}"
    return text.lstrip("-" if not float(text) else "").replace("-", "\N{MINUS SIGN}")


def largest(values) -> tuple[np.ndarray, int]:
    """Where the largest finite entry first is, and how many equal it but for rounding."""
    values = np.where(np.isfinite(values), values, -np.inf)
    top = values.max()
    where = np.argwhere(values >= top - 1e-6 * abs(top))
    return where[0], len(where)


def extremes(values, places: list[str]) -> str:
    """The range in words: `extremes([1, 3], ["a", "b"])` -> `"from 1 to 3, largest at b"`."""
    (at,), _ = largest(values)
    return f"from {say(min(values), values)} to {say(max(values), values)}, largest at {places[at]}"


def count(things, noun: str) -> str:
    """`count([1], "row")` -> `"1 row"`."""
    return f"{len(things)} {noun}{'s' if len(things) != 1 else ''}"


def alt_text(title: str, *sentences: str) -> str:
    """Sentences after the title: `alt_text("Why?", "Bars")` -> `"Why? Bars."`."""
    parts = [part for part in (title.strip(), *sentences) if part]
    return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts)
