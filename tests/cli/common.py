"""What the tests of the shell tool share: golden cases, running cuzk, test parameters."""
import hashlib
import json
import lzma
import os
import pathlib
import subprocess
import tempfile
import unittest

CUZK = os.environ["CUZK"]
DATA = pathlib.Path(os.environ["CUZK_TEST_DATA"])
SRS = os.environ["CUZK_TEST_SRS"]
CACHE = os.environ["CUZK_TEST_CACHE"]
NPM = os.environ.get("CUZK_NODE_MODULES", "")

# What the parameter files of the 2 KiB test SRS must be (golden/README.md states the toxic waste).
SRS_CIRCUITS = ["porep-2k", "winning-2k", "window-2k", "update-2k"]


def data(case, name):
    """Bytes of a file of a golden case, unpacked."""
    path = DATA / case / name
    if path.exists():
        return path.read_bytes()
    return lzma.decompress((DATA / case / (name + ".xz")).read_bytes())


def golden(case):
    return json.loads(data(case, "golden.json"))


def run(*args, **kwargs):
    """Runs cuzk; returns (exit status, stdout, stderr)."""
    p = subprocess.run([CUZK, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                       timeout=1200, **kwargs)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.tmp = pathlib.Path(self.dir.name)

    def tearDown(self):
        self.dir.cleanup()

    def file(self, name, content):
        path = self.tmp / name
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return path

    def json(self, *args, status=0):
        code, out, err = run(*args, "--json")
        self.assertEqual(code, status, f"cuzk {' '.join(map(str, args))}\n{out}\n{err}")
        return json.loads(out)

    def request(self, case):
        """The options that say what a golden case proves: (kind, options)."""
        g = golden(case)
        kind = case.split("-")[0]
        if kind == "porep":
            return kind, ["--c1", self.file(case + ".c1.json", data(case, "c1.json"))]
        files = []
        for i in range(100000):
            try:
                files.append(self.file(f"{case}-{i}.bin", data(case, f"vanilla-{i}.bin")))
            except FileNotFoundError:
                break
        options = ["--vanilla", *files] if files else \
            ["--vanilla-all", self.file(case + ".all", data(case, "vanilla-all.bin"))]
        options += ["--registered-proof", g["registered_proof"]]
        if kind == "update":
            for name in ("comm_r_old", "comm_r_new", "comm_d_new"):
                options += ["--" + name.replace("_", "-"), g[name]]
        else:
            options += ["--randomness", g["randomness"]]
        return kind, options

    def public(self, case):
        """Options for verification from public data alone."""
        g = golden(case)
        kind = case.split("-")[0]
        options = ["--registered-proof", g["registered_proof"]]
        if kind == "porep":
            options += ["--miner-id", 1000, "--sector", g["sector_id"]]
            for name in ("comm_r", "comm_d", "ticket", "seed"):
                options += ["--" + name.replace("_", "-"), g[name]]
        elif kind == "update":
            for name in ("comm_r_old", "comm_r_new", "comm_d_new"):
                options += ["--" + name.replace("_", "-"), g[name]]
        else:
            options += ["--randomness", g["randomness"], "--sectors", self.file(case + ".sectors", g["sectors"])]
        return kind, options


PARAMS = ["--params", SRS, "--allow-test-srs"]
TOOLS = ["--cache-dir", CACHE]


def sha256_file(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            h.update(block)
    return h.hexdigest()
