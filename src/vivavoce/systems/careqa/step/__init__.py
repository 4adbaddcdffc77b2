"""Steps of CareQA's recipe: examination papers in, open questions out."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
