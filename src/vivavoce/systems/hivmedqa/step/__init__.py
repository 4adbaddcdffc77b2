"""Steps of HIVMedQA's recipe: a bank of closed questions in, open ones on a subject out."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
