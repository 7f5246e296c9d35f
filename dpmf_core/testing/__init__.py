"""The contract of a private algorithm, for algorithms of any package.

`contract.Contract` holds the tests: derive a class from it that names an algorithm, or name ids on
pytest's command line (`plugin`). The other modules are what the tests use: small worlds, their
worst units, instruments that replace the curator's noise, and the laws themselves.
"""
