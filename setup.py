"""Where each folder of a clone lies when it is installed: under names that no other package has."""

from setuptools import find_namespace_packages, find_packages, setup

pages = find_namespace_packages(include=["pages", "pages.*"], exclude=["*.__pycache__"])
setup(
    packages=[
        *find_packages(include=["dpmf_core", "dpmf_core.*"]),
        *(f"dpmf_{name}" for name in find_packages(include=["datasets", "datasets.*"])),
        "dpmf_app",
        *(f"dpmf_app.{name}" for name in pages),
    ],
    script_name="setup.py",  # no part of the app
    package_dir={"dpmf_datasets": "datasets", "dpmf_app": "."},
)
