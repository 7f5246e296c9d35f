"""Where each folder of a clone lies when it is installed: under names that no other package has."""

from setuptools import find_namespace_packages, find_packages, setup
from setuptools.command.build_py import build_py


class BuildOnce(build_py):
    """`dpmf.py` is a module of its own, and no part of the app next to which it lies."""

    def find_package_modules(self, package, package_dir):
        modules = super().find_package_modules(package, package_dir)
        return [it for it in modules if it[:2] != ("dpmf_app", "dpmf")]


pages = find_namespace_packages(include=["pages", "pages.*"], exclude=["*.__pycache__"])
setup(
    packages=[
        *find_packages(include=["dpmf_core", "dpmf_core.*"]),
        *(f"dpmf_{name}" for name in find_packages(include=["datasets", "datasets.*"])),
        "dpmf_app",
        *(f"dpmf_app.{name}" for name in pages),
    ],
    py_modules=["dpmf"],
    cmdclass={"build_py": BuildOnce},
    script_name="setup.py",  # no part of the app
    package_dir={"dpmf_datasets": "datasets", "dpmf_app": "."},
)
