"""Where numbers come from: every outside fact names one of these, and a place in it."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, kw_only=True)
class Source:
    """A work, and the place in it. `licence` is the licence of the work, where its words or figures are reused."""

    title: str
    authors: str
    url: str = ""
    licence: str = ""
    place: str = ""

    def at(self, place: str, url: str = "") -> Source:
        """The same work, at one section, table or page."""
        return replace(self, place=place, url=url or self.url)

    def __str__(self) -> str:
        return f"{self.title}, {self.place}" if self.place else self.title


D2L = Source(
    title="Dive into Deep Learning",
    authors="Aston Zhang, Zachary C. Lipton, Mu Li and Alexander J. Smola",
    url="https://d2l.ai",
    licence="CC BY-SA 4.0",
)
_CHAPTER = "https://d2l.ai/chapter_computational-performance"
D2L_HYBRIDIZE = D2L.at("section 13.1", f"{_CHAPTER}/hybridize.html")
D2L_ASYNC = D2L.at("section 13.2", f"{_CHAPTER}/async-computation.html")
D2L_PARALLELISM = D2L.at("section 13.3", f"{_CHAPTER}/auto-parallelism.html")
D2L_HARDWARE = D2L.at("section 13.4", f"{_CHAPTER}/hardware.html")
D2L_MULTIPLE_GPUS = D2L.at("section 13.5", f"{_CHAPTER}/multiple-gpus.html")
D2L_MULTIPLE_GPUS_CONCISE = D2L.at("section 13.6", f"{_CHAPTER}/multiple-gpus-concise.html")
D2L_PARAMETER_SERVERS = D2L.at("section 13.7", f"{_CHAPTER}/parameterserver.html")
D2L_SECTIONS = {
    section.place.removeprefix("section "): section
    for section in (
        D2L_HYBRIDIZE,
        D2L_ASYNC,
        D2L_PARALLELISM,
        D2L_HARDWARE,
        D2L_MULTIPLE_GPUS,
        D2L_MULTIPLE_GPUS_CONCISE,
        D2L_PARAMETER_SERVERS,
    )
}
"""The sections that the acts are adapted from, by their number in the book."""

RING = Source(
    title="Bandwidth optimal all-reduce algorithms for clusters of workstations",
    authors="Pitch Patarasuk and Xin Yuan",
    url="https://doi.org/10.1016/j.jpdc.2008.09.002",
    place="Journal of Parallel and Distributed Computing 69 (2009)",
)
PYTORCH_DDP = Source(
    title="PyTorch Distributed: experiences on accelerating data parallel training",
    authors="Shen Li, Yanli Zhao, Rohan Varma, Omkar Salpekar, Pieter Noordhuis, Teng Li, Adam Paszke, Jeff Smith, Brian Vaughan, "
    "Pritam Damania and Soumith Chintala",
    url="https://arxiv.org/abs/2006.15704",
    place="arXiv:2006.15704 (2020)",
)
SITE = Source(title="Training at Scale", authors="the authors of this site")
"""What we made ourselves; its place says how."""
HERE = SITE.at("chosen here to make the point visible")
