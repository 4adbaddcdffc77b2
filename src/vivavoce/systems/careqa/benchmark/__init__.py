"""CareQA's benchmarks: the closed questions in two languages, and their open form."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
