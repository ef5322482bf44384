"""The fixture `gpt` and the option --gpt, in other people's pytest runs."""

import pytest

pytest_plugins = ["pytester"]


def test_a_missing_subject_is_a_usage_error_before_any_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(gpt): pass")
    result = pytester.runpytest_subprocess("--gpt", "nothing_like_it")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*no bug, file or folder is called nothing_like_it*"])


def test_a_subject_that_does_not_import_is_a_usage_error(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(gpt): pass", broken="import no_such_package")
    result = pytester.runpytest_subprocess("--gpt", "broken.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--gpt broken.py*no_such_package*"])


def test_anybody_s_test_gets_the_correct_gpt_by_default(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_it(gpt):
            assert gpt.gelu(0.0) == 0.0
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_the_named_subject_is_the_one_that_is_tested(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(gpt): assert gpt.gelu(1.0) == 7", mine="def gelu(x): return 7")
    pytester.runpytest_subprocess("--gpt", "mine.py").assert_outcomes(passed=1)
    pytester.runpytest_subprocess().assert_outcomes(failed=1)


def test_a_test_of_a_missing_name_is_skipped(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(gpt): gpt.softmax", mine="x = 1")
    result = pytester.runpytest_subprocess("--gpt", "mine.py", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*softmax is not offered*"])


def test_numerical_warnings_do_not_decide_a_verdict(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import numpy as np
        def test_it(gpt):
            assert np.isnan(gpt.gelu(np.inf) - gpt.gelu(np.inf))
        """
    )
    pytester.runpytest_subprocess("-W", "error").assert_outcomes(passed=1)


def test_a_run_that_uses_nothing_of_it_is_left_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import sys\ndef test_it(): assert 'numpy' not in sys.modules")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
