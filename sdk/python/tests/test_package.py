import pathlib
import re
import subprocess
import sys
import unittest

import parley

ROOT = pathlib.Path(__file__).resolve().parent.parent


class PackageTest(unittest.TestCase):
    def test_no_framework_is_imported(self) -> None:
        program = (
            "import sys, parley, parley.webhooks\n"
            "print([name for name in ('flask', 'django', 'starlette', 'fastapi') if name in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONPATH": str(ROOT / "src")},
            check=True,
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.stdout.strip(), "[]")

    def test_one_version_everywhere(self) -> None:
        project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        self.assertIn(f'version = "{parley.__version__}"', project)
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"parley_sdk-([0-9.]+)-py3", readme), [parley.__version__])

    def test_all_names_exist(self) -> None:
        for name in parley.__all__:
            getattr(parley, name)
        self.assertEqual(len(parley.__all__), len(set(parley.__all__)))

    def test_code_of_the_readme_is_valid(self) -> None:
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
        self.assertGreater(len(blocks), 5)
        for block in blocks:
            compile(block, "README.md", "exec")


if __name__ == "__main__":
    unittest.main()
