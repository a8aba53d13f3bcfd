"""
The AWS double: one process that answers boto3 as AWS would, with moto inside and AWS's own rules around it.

`python -m gpukit_sandbox.cloud --state-dir DIR` serves it. `world.py` counts what stands in it; `docs/sandbox-cloud.md` lists what is modelled.
"""
