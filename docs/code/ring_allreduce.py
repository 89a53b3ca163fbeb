"""A ring allreduce between four processes, with nothing but send and receive between neighbours.

python ring_allreduce.py
"""

import os
import tempfile
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

RANKS = 4


# part: exchange
def exchange(outgoing: torch.Tensor, incoming: torch.Tensor, rank: int, ranks: int) -> None:
    """Send to the right, receive from the left, at once: if all sent first, all could wait."""
    sending = dist.isend(outgoing, (rank + 1) % ranks)
    dist.recv(incoming, (rank - 1) % ranks)
    sending.wait()


# end: exchange


# part: ring
def ring_allreduce(data: torch.Tensor, rank: int, ranks: int) -> None:
    """Sum `data` over all ranks, in place, in 2(n − 1) steps that each move one n-th of it."""
    chunks = list(data.tensor_split(ranks))  # views: to change a chunk is to change the data
    longest = torch.empty_like(chunks[0])
    for step in range(ranks - 1):  # reduce-scatter: partial sums travel, and grow
        out, into = (rank - step) % ranks, (rank - step - 1) % ranks
        arrived = longest[: len(chunks[into])]
        exchange(chunks[out], arrived, rank, ranks)
        chunks[into] += arrived
    for step in range(ranks - 1):  # all-gather: finished sums travel, and replace
        out, into = (rank - step + 1) % ranks, (rank - step) % ranks
        exchange(chunks[out], chunks[into], rank, ranks)


# end: ring


def worker(rank: int, store: str) -> None:
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=RANKS, timeout=timedelta(seconds=60))
    walk = torch.full((RANKS,), rank + 1.0)  # one number a chunk: rank + 1, as in the lab
    ring_allreduce(walk, rank, RANKS)

    random = torch.Generator().manual_seed(rank)
    uneven = torch.randint(-1000, 1000, (1003,), generator=random).double()  # whole numbers: any order of adding gives the same
    expected = uneven.clone()
    dist.all_reduce(expected)
    ring_allreduce(uneven, rank, RANKS)
    equal = torch.tensor([float(torch.equal(uneven, expected))])
    dist.all_reduce(equal, dist.ReduceOp.MIN)
    if rank == 0:
        print(f"{RANKS} processes, chunk sums {walk.int().tolist()}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    if not equal.item():
        raise SystemExit("the ring must give what all_reduce gives")


def main() -> None:
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # four processes need no thread pools
    if os.path.exists("/sys/class/net/lo"):
        os.environ["GLOO_SOCKET_IFNAME"] = "lo"  # all on one machine: stay off its network
    method = "spawn"
    if "forkserver" in mp.get_all_start_methods():
        method = "forkserver"  # one helper loads torch, once, and is then forked for each process
        mp.set_forkserver_preload(["torch.distributed"])
    with tempfile.TemporaryDirectory() as folder:  # they find each other through a file: no port to be taken
        mp.start_processes(worker, args=(os.path.join(folder, "store"),), nprocs=RANKS, start_method=method)
    print("OK: the ring gives what all_reduce gives, on every rank")


if __name__ == "__main__":
    main()
