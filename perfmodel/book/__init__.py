"""The worked examples that the pages quote, each number under its name, a module per act and one for the module.

A `given` comes from outside: its value and source are stated here, once, and pinned a second time in verify/expected/given.csv.
A `model` is computed by this package; the formula printed beside it is evaluated on the same inputs and must agree.
"""

from perfmodel.book import act1, act2, act3, act4, act5, act6, lab, module, reality
from perfmodel.book.ledger import LEDGER

__all__ = ["LEDGER", "act1", "act2", "act3", "act4", "act5", "act6", "lab", "module", "reality"]
