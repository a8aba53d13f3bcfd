"""The embedded cloud: an AWS double, an engine without a cloud account, and what starts and ends them."""
