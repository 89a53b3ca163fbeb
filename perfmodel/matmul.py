"""The arithmetic of training: what matrix products count, what a dense network counts, and how long a product takes.

A product of an m×k and a k×n matrix is m·k·n multiply-adds: a FLOP for the product, and one for the sum. Biases, activation
functions, the loss and the optimizer are left out: they touch each number once, where a product touches it many times.

Source: hand calculation; Williams, Waterman & Patterson 2009 for the roofline.
"""

from __future__ import annotations

from collections.abc import Sequence

from perfmodel.splitting import Dense, parameters
from perfmodel.units import at_least, finite, is_finite, listed, not_negative, positive, shown


def multiply_adds(*, rows: int, inner: int, columns: int) -> int:
    """The multiply-adds of a product of a rows×inner and an inner×columns matrix: rows·inner·columns.

    No two of them need each other, but that the `inner` products of each result are added up. Raises ValueError for a side below 1.

    >>> multiply_adds(rows=512, inner=512, columns=512) == 512**3
    True
    >>> multiply_adds(rows=128, inner=784, columns=256)  # nn.Linear(784, 256) on 128 samples
    25690112

    Source: hand calculation.
    """
    return at_least("rows", rows, 1) * at_least("inner", inner, 1) * at_least("columns", columns, 1)


def dense_forward_flop(layers: Sequence[Dense], *, batch: int) -> int:
    """The FLOP of one forward pass through dense layers: 2·batch·inputs·outputs for each, 2 for a multiply-add.

    Raises ValueError for layers that do not fit together, and a batch below 1.

    >>> from perfmodel.splitting import mlp
    >>> dense_forward_flop(mlp(784, 256, 10), batch=1)  # 2 · (784·256 + 256·10)
    406528

    Source: hand calculation.
    """
    layers = listed("layers", layers)
    parameters(layers)  # refuses layers that do not fit
    at_least("batch", batch, 1)
    return 2 * sum(multiply_adds(rows=batch, inner=layer.inputs, columns=layer.outputs) for layer in layers)


def dense_backward_flop(layers: Sequence[Dense], *, batch: int) -> int:
    """The FLOP of the backward pass: two products for each of forward, but one in the first layer.

    One gives the gradient of the weights, the other that of the inputs, of the same size. The first layer's inputs are data and need
    none: backward is one forward pass for a single layer, and comes near two in a deep network. Raises as `dense_forward_flop` does.

    >>> from perfmodel.splitting import mlp
    >>> dense_backward_flop(mlp(784, 256, 10), batch=1)  # 2 · (784·256 + 2·256·10)
    411648

    Source: hand calculation.
    """
    return 2 * dense_forward_flop(layers, batch=batch) - dense_forward_flop(layers[:1], batch=batch)


def product_s(
    *,
    rows: int,
    inner: int,
    columns: int,
    element_bytes: float,
    peak_flop_per_s: float,
    bytes_per_s: float,
    overhead_s: float = 0.0,
) -> float:
    """Seconds for a product of any shape: an overhead for the call, then max(2·m·k·n/peak, (m·k + k·n + m·n)·bytes/bandwidth).

    The roofline in time. With the peak of a data sheet, and no overhead, it is the least time there can be; a measured ceiling in
    place of the peak makes it a prediction for large products. It ignores that a small product may not fill all lanes, and that
    tiles at its edges compute more than is asked for. Raises ValueError for a side below 1, for a rate or an element of 0 or below,
    for an overhead that is negative or not finite, and for a time that is not finite.

    >>> product_s(rows=512, inner=784, columns=256, element_bytes=4, peak_flop_per_s=1e12, bytes_per_s=1e15) == 2 * 512 * 784 * 256 / 1e12
    True

    Source: Williams, Waterman & Patterson 2009; hand calculation.
    """
    flop = 2 * multiply_adds(rows=rows, inner=inner, columns=columns)
    moved = (rows * inner + inner * columns + rows * columns) * positive("element_bytes", element_bytes)
    computing_s = flop / positive("peak_flop_per_s", peak_flop_per_s)
    moving_s = moved / positive("bytes_per_s", bytes_per_s)
    return finite("product_s", not_negative("overhead_s", overhead_s) + max(computing_s, moving_s))


def matmul_s(*, n: int, element_bytes: float, peak_flop_per_s: float, bytes_per_s: float, overhead_s: float = 0.0) -> float:
    """Seconds for an n×n product: `product_s` for three equal sides. Raises ValueError for `n` below 1, and as it does.

    >>> matmul_s(n=1000, element_bytes=4, peak_flop_per_s=1e12, bytes_per_s=1e12, overhead_s=1e-3)  # 1 ms + 2·10⁹ / 10¹²
    0.003

    Source: Williams, Waterman & Patterson 2009; a launch of 10 µs is in Dive into Deep Learning 13.4.
    """
    at_least("n", n, 1)
    return product_s(
        rows=n,
        inner=n,
        columns=n,
        element_bytes=element_bytes,
        peak_flop_per_s=peak_flop_per_s,
        bytes_per_s=bytes_per_s,
        overhead_s=overhead_s,
    )


def multiply_add_s(*, n: int, time_s: float, overhead_s: float) -> float:
    """Seconds for one multiply-add among many, from the time of one large product: c = (t − overhead)/n³.

    Raises ValueError for `n` below 1, for an overhead that is negative, and for a time not above it.

    >>> multiply_add_s(n=10, time_s=3.0, overhead_s=1.0)
    0.002

    Source: hand calculation.
    """
    at_least("n", n, 1)
    not_negative("overhead_s", overhead_s)
    if not is_finite(time_s) or time_s <= overhead_s:
        raise ValueError(f"time_s must be a finite number above the overhead, {overhead_s!r}; got {shown(time_s)}")
    return (time_s - overhead_s) / n**3


def cubic_s(*, n: int, overhead_s: float, each_s: float) -> float:
    """Seconds for an n×n product when every multiply-add costs the same: overhead + n³·c; a straight line over n³.

    It ignores all that makes a multiply-add of a small product dearer: lanes without work, threads that must be woken, a result
    too small for the tiles of the library; and memory. Raises ValueError for `n` below 1, an overhead below 0, and a cost of 0 or
    below.

    >>> cubic_s(n=10, overhead_s=1.0, each_s=0.002)
    3.0

    Source: hand calculation.
    """
    at_least("n", n, 1)
    return finite("cubic_s", not_negative("overhead_s", overhead_s) + n**3 * positive("each_s", each_s))


def half_speed_side(*, overhead_s: float, each_s: float) -> float:
    """The side at which the overhead takes as long as the multiply-adds: the cube root of overhead/c. Raises as `cubic_s` does.

    >>> round(half_speed_side(overhead_s=1e-3, each_s=1e-9), 9)
    100.0

    Source: hand calculation: overhead = n³·c.
    """
    cube = finite("overhead_s / each_s", not_negative("overhead_s", overhead_s) / positive("each_s", each_s))
    return float(cube ** (1 / 3))
