"""Act 6 · The 160-megabyte question."""

from __future__ import annotations

from perfmodel import collectives, kernels
from perfmodel.book.ledger import LEDGER
from perfmodel.hardware import V100_SHEET, one_way_bytes_per_s
from perfmodel.number import Number
from perfmodel.sources import D2L_PARAMETER_SERVERS, HERE, RING
from perfmodel.streams import Task, run
from perfmodel.units import GB, GBIT, KB, MB, US

_given, _model = LEDGER.given, LEDGER.model

_S = _given("sync.gradient", 160 * MB, "MB", "the gradients on each GPU after one minibatch", D2L_PARAMETER_SERVERS)
_n = _given("sync.gpus", 4, "", "the GPUs of the book's server", D2L_PARAMETER_SERVERS)
_B = _given("sync.link", 16 * GB, "GB/s", "what one PCIe 3.0 ×16 link carries each way", D2L_PARAMETER_SERVERS)
_step = {"gradient_bytes": _S.value, "link_bytes_per_s": _B.value}
_gpus = int(_n.value)
_book = D2L_PARAMETER_SERVERS


def _half(tasks: list[Task]) -> float:
    """When the last gradient has reached the place where it is summed."""
    return max(span.end_s for span in run(tasks).spans if span.role == "transfer")


_model("sync.hop", kernels.transfer_s(_S.value, _B.value, 0.0), "ms", "one transfer of all gradients over one link", _book,
       "S/B", S=_S, B=_B)  # fmt: skip
_model("sync.one_gpu_half", _half(collectives.one_gpu_tasks(gpus=_gpus, **_step)), "ms", "until all gradients have reached one GPU", _book,
       "(n-1)*S/B", n=_n, S=_S, B=_B)  # fmt: skip
_model("sync.one_gpu", collectives.one_gpu_s(gpus=_gpus, **_step), "ms", "the time to sum on one GPU and send the sum back", _book,
       "2*(n-1)*S/B", n=_n, S=_S, B=_B)  # fmt: skip
_model("sync.cpu_half", _half(collectives.cpu_tasks(gpus=_gpus, **_step)), "ms", "until all gradients have reached the CPU", _book,
       "n*S/B", n=_n, S=_S, B=_B)  # fmt: skip
_model("sync.cpu", collectives.cpu_s(gpus=_gpus, **_step), "ms", "the time to sum on the CPU and send the sum back", _book,
       "2*n*S/B", n=_n, S=_S, B=_B)  # fmt: skip
_shard = _model("sync.shard", _S.value / _n.value, "MB", "one shard: the part of the gradients that one GPU sums", _book,
                "S/n", S=_S, n=_n)  # fmt: skip
_model("sync.shard_hop", kernels.transfer_s(_shard.value, _B.value, 0.0), "ms", "one transfer of one shard", _book,
       "S/(n*B)", S=_S, n=_n, B=_B)  # fmt: skip
_model("sync.sharded_half", _half(collectives.sharded_tasks(gpus=_gpus, **_step)), "ms", "until every shard is summed", _book,
       "(n-1)*S/(n*B)", n=_n, S=_S, B=_B)  # fmt: skip
_model("sync.sharded", collectives.sharded_s(gpus=_gpus, **_step), "ms", "the time to sum in shards and share the sums", _book,
       "2*(n-1)*S/(n*B)", n=_n, S=_S, B=_B)  # fmt: skip
_model("sync.steps", 2 * (_n.value - 1), "", "the steps of a ring allreduce", RING, "2*(n-1)", n=_n)
_model("sync.phase_steps", _n.value - 1, "", "the steps of one phase of the ring", RING, "n-1", n=_n)
_model("sync.ring", collectives.ring_s(gpus=_gpus, **_step), "ms", "the time of a ring allreduce over the same links", RING,
       "2*(n-1)*S/(n*B)", n=_n, S=_S, B=_B)  # fmt: skip
_model("sync.limit", collectives.ring_limit_s(**_step), "ms", "what the bytes of a ring never pass, however many GPUs it has", RING,
       "2*S/B", S=_S, B=_B)  # fmt: skip
_model("sync.total_in_chunk", float(kernels.ring_state(_gpus, 2 * (_gpus - 1))[0][0]), "", "what every chunk holds at the end, when each GPU starts with one more than the GPU before it",
       RING, "n*(n+1)/2", n=_n)  # fmt: skip

# The same two ways over other numbers of GPUs.
_two = _given("scale.two", 2, "", "the smallest ring", HERE)
_three_gpus = _given("scale.three", 3, "", "a ring of three GPUs", HERE)
_eight_gpus = _given("scale.eight", 8, "", "the largest server of this act", HERE)
for _word, _count in (("two", _two), ("three", _three_gpus), ("eight", _eight_gpus)):
    _model(f"scale.ring_{_word}", collectives.ring_s(gpus=int(_count.value), **_step), "ms", f"the ring over {_word} GPUs", RING,
           "2*(n-1)*S/(n*B)", n=_count, S=_S, B=_B)  # fmt: skip
    _model(f"scale.one_gpu_{_word}", collectives.one_gpu_s(gpus=int(_count.value), **_step), "ms", f"all to one GPU and back, with {_word} GPUs",
           _book, "2*(n-1)*S/B", n=_count, S=_S, B=_B)  # fmt: skip

# When the message is tiny, or the ring is long: what the latency of each step adds up to.
_tiny = _given("tiny.gradient", 1 * KB, "KB", "a gradient so small that only latency counts", HERE)
_alpha = _given("tiny.latency", 5 * US, "µs", "the latency of one transfer", HERE)
_model("tiny.ring", collectives.ring_s(gradient_bytes=_tiny.value, gpus=int(_eight_gpus.value), link_bytes_per_s=_B.value, latency_s=_alpha.value), "µs",
       "a ring over eight GPUs with a tiny gradient", RING, "2*(n-1)*(alpha + S/(n*B))", n=_eight_gpus, alpha=_alpha, S=_tiny, B=_B)  # fmt: skip
_many = _given("scale.many", 1024, "", "so many GPUs that the latencies of a ring count", HERE)
for _name, _count, _unit in (("tiny.latencies", _eight_gpus, "µs"), ("scale.many_latencies", _many, "ms")):
    _model(_name, 2 * (_count.value - 1) * _alpha.value, _unit, "the latencies alone of such a ring, one for each step", RING,
           "2*(n-1)*alpha", n=_count, alpha=_alpha)  # fmt: skip

# The book's NVLink ring: eight V100s.
_v = _given("nvlink.gpus", 8, "", "the V100s of the book's larger server", _book)
_links = _given("nvlink.links", 3, "", "the NVLinks a GPU sends on at once: two in one ring, one in the other", _book)
_rounded = _given("nvlink.rounded_link", 18 * GB, "GB/s", "one NVLink in one direction, as the book rounds it", _book)
_both = _given("nvlink.both_ways", 300 * GBIT, "Gbit/s", "one NVLink, both directions together", _book)
_way = _model(
    "nvlink.link",
    one_way_bytes_per_s(both_ways_bytes_per_s=_both.value),
    "GB/s",
    "one NVLink in one direction",
    _book,
    "B/2",
    B=_both,
)
for _tag, _link, _how in (
    ("rounded", _rounded, "with the book's rounded link"),
    ("exact", _way, "with the book's rate for one direction"),
):
    _rate = _links.value * _link.value
    _model(f"nvlink.{_tag}_short", 2 * _S.value / _rate, "ms", f"the NVLink ring as it would be over very many GPUs, {_how}", _book,
           "2*S/(k*B)", S=_S, k=_links, B=_link)  # fmt: skip
    _model(f"nvlink.{_tag}", collectives.ring_s(gradient_bytes=_S.value, gpus=int(_v.value), link_bytes_per_s=_rate), "ms",
           f"the NVLink ring, {_how}", RING, "2*(n-1)*S/(n*k*B)", n=_v, S=_S, k=_links, B=_link)  # fmt: skip

# What NVIDIA states for the same links: six of them, both directions together.
_six = _given("nvlink.all_links", 6, "", "the NVLinks of a V100", _book)
_sheet = _given("nvlink.sheet", 300 * GB, "GB/s", "all NVLinks of a V100 together, both directions", V100_SHEET)
_fact = _model("nvlink.sheet_link", _sheet.value / (2 * _six.value), "GB/s", "one NVLink in one direction, by the data sheet", V100_SHEET,
               "B/(2*n)", B=_sheet, n=_six)  # fmt: skip
_model("nvlink.sheet_ring", collectives.ring_s(gradient_bytes=_S.value, gpus=int(_v.value), link_bytes_per_s=_links.value * _fact.value), "ms",
       "the NVLink ring with the data sheet's links", RING, "2*(n-1)*S/(n*k*B)", n=_v, S=_S, k=_links, B=_fact)  # fmt: skip

# Many machines: push to the parameter servers, pull from them. Every link as fast as in the server, so that only the route differs.
_workers = _given("ps.workers", 8, "", "the workers of the example", HERE)
_more = _given("ps.more_workers", 16, "", "as many workers again", HERE)
_servers = _given("ps.servers", 4, "", "the parameter servers that share the load", HERE)
_central = "2*m*S/B"
_split = "2*max(m, n)*S/(n*B)"


def _ps(workers: Number, servers: int) -> float:
    return collectives.parameter_server_s(workers=int(workers.value), servers=servers, **_step)


_model("ps.one", _ps(_workers, 1), "ms", "push and pull through one parameter server", _book, _central, m=_workers, S=_S, B=_B)
_model("ps.one_more", _ps(_more, 1), "ms", "the same with as many workers again", _book, _central, m=_more, S=_S, B=_B)
_model("ps.split", _ps(_workers, int(_servers.value)), "ms", "push and pull through four parameter servers", _book,
       _split, m=_workers, n=_servers, S=_S, B=_B)  # fmt: skip
_model("ps.matched", _ps(_workers, int(_workers.value)), "ms", "as many servers as workers", _book,
       "2*S/B", S=_S, B=_B)  # fmt: skip
