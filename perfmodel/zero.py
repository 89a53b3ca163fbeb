"""ZeRO: the state of a model, sharded over the ranks of data-parallel training, one part of it more at each stage.

Stage 1 shards what the optimizer keeps, stage 2 the gradients too, stage 3 the parameters too. What a parameter costs in each of
the three is in `perfmodel.memory`. Left out are activations, buffers and fragmentation, as there.

Source: Rajbhandari et al. 2020, section 5.
"""

from __future__ import annotations

from perfmodel.memory import MIXED_ADAM, ModelState, model_state
from perfmodel.units import at_least, is_whole, shown

STAGES = (0, 1, 2, 3)
"""Nothing sharded, optimizer, gradients too, parameters too."""


def zero_state(*, parameters: int, ranks: int, stage: int, recipe: ModelState = MIXED_ADAM) -> ModelState:
    """What one of N ranks holds of a model of P parameters: with the default recipe 16·P, and at the stages 1 to 3
    (2+2+12/N)·P, (2+14/N)·P and 16·P/N bytes.

    A shard is an N-th, not rounded to whole parameters. Raises ValueError for `parameters` or `ranks` below 1, and another stage.

    >>> [zero_state(parameters=7_500_000_000, ranks=64, stage=stage).total_bytes / 1e9 for stage in STAGES]
    [120.0, 31.40625, 16.640625, 1.875]

    Source: Rajbhandari et al. 2020, sections 5.1 to 5.3, figure 1.
    """
    if not is_whole(stage) or stage not in STAGES:
        raise ValueError(f"stage must be 0, 1, 2 or 3, got {shown(stage)}")
    whole = model_state(parameters=parameters, recipe=recipe)
    at_least("ranks", ranks, 1)
    return ModelState(
        parameters_bytes=whole.parameters_bytes / (ranks if stage >= 3 else 1),
        gradients_bytes=whole.gradients_bytes / (ranks if stage >= 2 else 1),
        optimizer_bytes=whole.optimizer_bytes / (ranks if stage >= 1 else 1),
    )
