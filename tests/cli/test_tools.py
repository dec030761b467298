"""circuit, witness, params and synth: counts, digests and files; snarkjs reads what cuzk writes."""
import json
import os
import pathlib
import subprocess
import unittest
from common import CACHE, DATA, NPM, PARAMS, SRS, TOOLS, Case, golden, run

SNARKJS = os.path.join(NPM, "snarkjs", "build", "cli.cjs")


class Tools(Case):
    def test_circuits_have_their_golden_digests(self):
        for name, size in (("porep-2k", "2KiB"), ("winning-2k", "2KiB"), ("window-2k", "2KiB"), ("update-2k", "2KiB"),
                           ("porep-8m", "8MiB"), ("winning-32g", "32GiB"), ("window-512m", "512MiB"), ("wpost-8m", "8MiB")):
            with self.subTest(name):
                kind = name.split("-")[0].replace("wpost", "window")
                want = json.loads((DATA / "structure" / f"{kind}-{size}.json").read_text())
                made = self.json("circuit", name, *TOOLS)
                for key, value in want.items():
                    if key not in ("blocks", "rows_per_block"):
                        self.assertEqual(made[key], value, key)

    def test_blocks_of_rows(self):
        want = json.loads((DATA / "structure" / "winning-2KiB.json").read_text())
        made = self.json("circuit", "winning-2k", "--rows-per-block", want["rows_per_block"], *TOOLS)
        self.assertEqual([(b["first_row"], b["sha256"]) for b in made["blocks"]],
                         [(b["first_row"], b["sha256"]) for b in want["blocks"]])

    def test_the_cache_and_no_cache_agree(self):
        cached = self.json("circuit", "window-2k", *TOOLS)
        fresh = self.json("circuit", "window-2k", "--no-cache")
        self.assertEqual(cached["rows_sha256"], fresh["rows_sha256"])
        path = os.path.join(CACHE, "window-2k.r1cs-cache")
        spoilt = self.tmp / "window-2k.r1cs-cache"
        content = bytearray(pathlib.Path(path).read_bytes())
        content[len(content) // 2] ^= 1
        spoilt.write_bytes(content)
        again = self.json("circuit", "window-2k", "--cache-dir", self.tmp)
        self.assertEqual(again["rows_sha256"], fresh["rows_sha256"])

    def test_witnesses_have_their_golden_digests(self):
        for case in ("porep-2k-v1_1-1", "porep-2k-ni-6", "porep-8m-7", "winning-2k-1", "window-8m-10", "update-2k-6"):
            for want in golden(case)["partitions"][:2]:
                with self.subTest(case, partition=want["partition"]):
                    kind, request = self.request(case)
                    made = self.json("witness", kind, *request, *TOOLS, "--partition", want["partition"], "--block",
                                     want["aux_per_block"])
                    for key, value in want.items():
                        if key in made and value != []:
                            self.assertEqual(made[key], value, key)

    def test_snarkjs_reads_the_r1cs_and_the_witness(self):
        r1cs, wtns = self.tmp / "c.r1cs", self.tmp / "c.wtns"
        kind, request = self.request("window-2k-1sector")
        self.json("circuit", "window-2k", "--r1cs", r1cs, *TOOLS)
        self.json("witness", kind, *request, "--wtns", wtns, *TOOLS)
        info = subprocess.run(["node", SNARKJS, "r1cs", "info", r1cs], capture_output=True, text=True, timeout=600)
        self.assertEqual(info.returncode, 0, info.stdout + info.stderr)
        self.assertIn("bls12-381", info.stdout.lower())
        self.assertIn("21889", info.stdout)
        check = subprocess.run(["node", SNARKJS, "wtns", "check", r1cs, wtns], capture_output=True, text=True, timeout=600)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        self.assertIn("WITNESS IS CORRECT", check.stdout)

    def test_params_says_what_a_file_is(self):
        name = [f for f in os.listdir(SRS) if f.endswith(".params") and "0170db1f" in f][0]
        made = self.json("params", os.path.join(SRS, name), "--check")
        want = golden("window-2k-1sector")["srs"]
        self.assertEqual(made["circuit"], "window-2k")
        self.assertTrue(made["test_srs"] and made["complete"] and made["points_checked"])
        for key in ("params_bytes", "params_sha256", "params_blake2b_head16", "a", "b_g1", "b_g2", "h", "l", "vk"):
            self.assertEqual(made[key], want[key], key)
        whole = pathlib.Path(SRS, name).read_bytes()
        # under the registered name it must be the published file, which it is not
        real = self.file(name[len("TEST-"):], whole)
        self.assertFalse(self.json("params", real, status=1)["published_digest_matches"])
        for cut in (0, 100, len(whole) // 3, len(whole) - 96, len(whole) - 1):
            code, _, err = run("params", self.file("cut.params", whole[:cut]))
            self.assertEqual(code, 2, f"cut at {cut}")
            self.assertTrue(err.strip())
        html = self.file("page.params", b"<!DOCTYPE html><html><body>404 Not Found</body></html>" * 50)
        self.assertEqual(run("params", html)[0], 2)

    def test_synthetic_inputs_are_valid_and_the_same_each_time(self):
        for kind in ("porep", "winning", "window", "update"):
            with self.subTest(kind):
                outs = []
                for i in range(2):
                    out = self.tmp / f"{kind}{i}"
                    self.json("synth", kind, "--size", "2KiB", "--seed", 5, "--out", out)
                    outs.append({f: (out / f).read_bytes() for f in sorted(os.listdir(out))})
                self.assertEqual(outs[0], outs[1])
                public = json.loads(outs[0]["public.json"])
                options = ["--c1", self.tmp / f"{kind}0" / "c1.json"] if kind == "porep" else \
                    ["--vanilla-all", self.tmp / f"{kind}0" / "vanilla-all.bin", "--registered-proof", public["registered_proof"]]
                if kind in ("winning", "window"):
                    options += ["--randomness", public["randomness"]]
                if kind == "update":
                    for n in ("comm_r_old", "comm_r_new", "comm_d_new"):
                        options += ["--" + n.replace("_", "-"), public[n]]
                self.assertTrue(self.json("witness", kind, *options, *TOOLS)["satisfied"])

    def test_a_secret_setup_differs_each_time_and_works(self):
        kind, request = self.request("window-2k-1sector")
        _, public = self.public("window-2k-1sector")
        digests = []
        for i in range(2):
            out = self.tmp / f"srs{i}"
            made = self.json("setup", "window-2k", "--out", out, *TOOLS)
            self.assertNotIn("TEST-", made["file"])
            digests.append(made["params_sha256"])
            proof = self.tmp / "proof"
            self.json("prove", kind, *request, *TOOLS, "--params", out, "--out", proof)
            self.assertTrue(self.json("verify", kind, *public, "--params", out, "--proof", proof)["verified"])
            # and not with the other key
            self.assertEqual(run("verify", kind, *public, *PARAMS, "--proof", proof)[0], 1)
        self.assertNotEqual(*digests)


if __name__ == "__main__":
    unittest.main()
