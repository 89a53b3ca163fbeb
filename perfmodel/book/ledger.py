"""The one ledger that all acts enter their numbers in."""

from perfmodel.number import Ledger

LEDGER = Ledger()
