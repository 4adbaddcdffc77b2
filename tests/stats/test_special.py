"""`scipy.special` loads the functions that are used here, and is whole for everybody else."""

import subprocess
import sys

import pytest

FIRST = "import sys, vivavoce.stats, scipy.special as special\n"
PLAIN = "import sys, scipy.special as special\n"


def printed(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


def test_a_function_of_ours_loads_neither_the_package_nor_what_it_brings():
    loaded = printed(FIRST + "special.stdtrit(3.0, 0.9); print(*sys.modules)").split()
    assert "scipy.special._ufuncs" in loaded
    assert not {"scipy.special._basic", "numpy.f2py", "numpy.testing", "numpy.ma"} & {*loaded}


def test_the_functions_are_the_same_objects_in_the_whole_package():
    code = (
        "from vivavoce.stats._special import _COMPILED\n"
        "early = {name: getattr(special, name) for name in _COMPILED}\n"
        "special.logsumexp\n"
        "print(all(vars(special)[name] is function for name, function in early.items()), len(early))"
    )
    assert printed(FIRST + code).split() == ["True", "13"]


def test_the_package_has_the_names_that_it_has_elsewhere():
    code = "special.xlogy; print(*sorted(name for name in vars(special) if not name.startswith('_')))"
    assert printed(FIRST + code) == printed(PLAIN + code)


def test_threads_that_use_it_first_at_once_get_every_name():
    code = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "names = ['logsumexp', 'roots_legendre', 'softmax', 'xlogy', 'gamma', 'erf', '__all__', 'yn'] * 3\n"
        "with ThreadPoolExecutor(24) as pool:\n"
        "    print(len([*pool.map(lambda name: getattr(special, name), names)]))"
    )
    assert printed(FIRST + code).strip() == "24"


@pytest.mark.parametrize(
    "statement", ["from scipy.special import *; gamma", "from scipy import stats", "special.gamma"]
)
def test_other_ways_to_import_it_work(statement):
    printed(FIRST + statement)


def test_a_name_that_is_nowhere_is_refused():
    code = "try:\n    special.nowhere\nexcept AttributeError as error:\n    print(error)"
    assert printed(FIRST + code) == printed(PLAIN + code)
