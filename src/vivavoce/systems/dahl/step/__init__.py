"""Steps of DAHL's recipe: articles in, questions out; and its rules for questions as a filter."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
