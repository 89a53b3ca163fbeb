"""Lockstep: a batch split over k replicas trains the same network as the whole batch on one.

The gradient of a sum of losses is the sum of the gradients, so in exact arithmetic k replicas that add theirs up take the step
that one replica takes. In floating point the order of the additions differs, and so do the last bits. This package trains both
and measures how far apart they end: in one process (`train`), or in a process per replica (`processes.run`), where
torch.distributed sends the gradients and torchrun starts the processes.

A method is data: the functions of a step, so that a fault can be put in the place of one of them.

>>> one, two = train(1, 20), train(2, 20)
>>> in_lockstep(two, one), two.spreads
(True, (0, 0, 0))
>>> why_not(train(2, 20, method=FAULTS["mean of means"]), one)[0].partition(" is ")[0]
'after step 20 the relative L2 distance'

The only part of perfmodel that needs torch, 2.11 or newer: `import perfmodel` never imports it.
Source: data parallelism as in Dive into Deep Learning 13.5, with shards of unequal size.
"""

from perfmodel.lockstep.compare import LIMIT_ELSEWHERE, LIMITS, Difference, compare, in_lockstep, part_in_ten_to, why_not
from perfmodel.lockstep.faults import FAULTS, ONCE_AT, SHOWN, faults, forget, mean_loss, rounded
from perfmodel.lockstep.networks import BATCH, image_batch, lenet, xor_batch, xor_net
from perfmodel.lockstep.runs import EVERY, LR, STEPS, Run, train
from perfmodel.lockstep.shown import record
from perfmodel.lockstep.step import LOCKSTEP, Gradients, Method, Shard, allreduce, check_model, split_batch, train_batch

__all__ = [
    "BATCH", "EVERY", "FAULTS", "LIMITS", "LIMIT_ELSEWHERE", "LOCKSTEP", "LR", "ONCE_AT", "SHOWN", "STEPS", "Difference", "Gradients", "Method",
    "Run", "Shard", "allreduce", "check_model", "compare", "faults", "forget", "image_batch", "in_lockstep", "lenet", "mean_loss", "part_in_ten_to",
    "record", "rounded", "split_batch", "train", "train_batch", "why_not", "xor_batch", "xor_net",
]  # fmt: skip
