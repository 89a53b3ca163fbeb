"""Cost models of deep-learning training, in SI floats.

Import the module you need (`from perfmodel import collectives`): `streams` runs tasks on streams, `pipeline` and `collectives`
are programs for it with their closed forms, `kernels` is the arithmetic that the browser runs too, `units` names the units.
"""
