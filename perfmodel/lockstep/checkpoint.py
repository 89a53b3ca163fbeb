"""Checkpoints that are whole or refused: written beside and renamed, with a checksum and the name of the job they belong to."""

from __future__ import annotations

import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any

import torch


class CheckpointError(ValueError):
    """A checkpoint that must not be used: the message says why, and what to do."""


def save(path: Path, state: dict[str, Any], *, job: str) -> None:
    """Write `state` (tensors, numbers, lists) so that a reader finds the old file or the new one, never a part.

    The first line is JSON: the job that the state belongs to, and the SHA-256 of all that follows.
    """
    buffer = io.BytesIO()
    torch.save(state, buffer)
    content = buffer.getvalue()
    head = json.dumps({"job": job, "sha256": hashlib.sha256(content).hexdigest()})
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with new.open("wb") as file:
            file.write(head.encode() + b"\n" + content)
            file.flush()
            os.fsync(file.fileno())  # on the disk before the name: a crash must not leave a new name on an empty file
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def load(path: Path, *, job: str) -> dict[str, Any] | None:
    """The state in a checkpoint of this job; None where there is no file yet.

    Raises CheckpointError for a torn file (cut short, or changed in any bit) and for a stale one (of another job).
    """
    try:
        head, _, content = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        return None
    try:
        said = json.loads(head)
        whole = said["sha256"] == hashlib.sha256(content).hexdigest()
    except (ValueError, TypeError, KeyError) as error:
        raise CheckpointError(f"{path.name} is torn: its first line cannot be read; delete it to begin again") from error
    if not whole:
        raise CheckpointError(f"{path.name} is torn: its checksum is another; delete it to begin again")
    if said.get("job") != job:
        raise CheckpointError(
            f"{path.name} is stale: it belongs to job {said.get('job')}, and this is {job}; delete it to begin again"
        )
    state: dict[str, Any] = torch.load(io.BytesIO(content), weights_only=True)
    return state
