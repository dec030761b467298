"""Golden proofs, byte for byte, through the shell tool; verification from public data; what must not verify."""
import random
import unittest
from common import PARAMS, TOOLS, Case, data, golden, run

PROVED = ["porep-2k-v1_1-1", "winning-2k-1", "window-2k-3sectors", "window-v1-2k-2sectors", "update-2k-6"]
VERIFIED = ["porep-2k-v1_1-1", "porep-2k-v1_1-2", "porep-2k-v1_1-3", "porep-2k-v1-4", "porep-2k-synth-5", "winning-2k-1",
            "window-2k-1sector", "window-2k-3sectors", "window-v1-2k-2sectors", "update-2k-5", "update-2k-6"]


class Proofs(Case):
    def test_golden_proofs_are_reproduced(self):
        for case in PROVED:
            with self.subTest(case):
                kind, request = self.request(case)
                out = self.tmp / "proof"
                made = self.json("prove", kind, *request, *PARAMS, *TOOLS, "--test-randomness", "--out", out)
                self.assertEqual(made["proof"], golden(case)["groth16"]["proof"])
                self.assertEqual(out.read_bytes().hex(), made["proof"])

    def test_golden_proofs_verify_from_public_data(self):
        for case in VERIFIED:
            with self.subTest(case):
                if "groth16" not in golden(case):
                    continue
                kind, public = self.public(case)
                proof = self.file("proof", bytes.fromhex(golden(case)["groth16"]["proof"]))
                self.assertTrue(self.json("verify", kind, *public, *PARAMS, "--proof", proof)["verified"])

    def test_two_partitions_of_the_non_interactive_proof(self):
        case = "porep-2k-ni-6"
        proof = bytes.fromhex(golden(case)["groth16"]["proof"])
        _, request = self.request(case)
        for k in range(len(proof) // 192):
            one = self.file("one", proof[192 * k:192 * k + 192])
            self.assertTrue(self.json("verify", "porep", *request, *PARAMS, "--proof", one, "--partition", k)["verified"])
            other = self.json("verify", "porep", *request, *PARAMS, "--proof", one, "--partition", k + 1, status=1)
            self.assertFalse(other["verified"])
        out = self.tmp / "p1"
        made = self.json("prove", "porep", *request, *PARAMS, *TOOLS, "--partition", 1, "--test-randomness", "--out", out)
        self.assertEqual(made["proof"], proof[192:384].hex())

    def test_fresh_randomness_gives_another_valid_proof(self):
        kind, request = self.request("window-2k-1sector")
        kind, public = self.public("window-2k-1sector")
        proofs = set()
        for i in range(3):
            out = self.tmp / f"proof{i}"
            proofs.add(self.json("prove", kind, *request, *PARAMS, *TOOLS, "--out", out)["proof"])
            self.assertTrue(self.json("verify", kind, *public, *PARAMS, "--proof", out)["verified"])
        self.assertEqual(len(proofs), 3)

    def test_any_flipped_bit_of_a_proof_is_noticed(self):
        case = "porep-2k-v1_1-1"
        kind, public = self.public(case)
        proof = bytes.fromhex(golden(case)["groth16"]["proof"])
        bits = random.Random(7).sample(range(192 * 8), 24) + [0, 5, 6, 7, 48 * 8, 144 * 8]
        for bit in bits:
            bad = bytearray(proof)
            bad[bit // 8] ^= 1 << bit % 8
            answer = self.json("verify", kind, *public, *PARAMS, "--proof", self.file("bad", bytes(bad)), status=1)
            self.assertFalse(answer["verified"], f"bit {bit}")

    def test_any_flipped_bit_of_the_public_data_is_noticed(self):
        case = "porep-2k-v1_1-1"
        kind, public = self.public(case)
        proof = self.file("proof", bytes.fromhex(golden(case)["groth16"]["proof"]))
        for name in ("--comm-r", "--comm-d", "--ticket", "--seed"):
            for bit in (0, 77, 200):
                changed = list(public)
                at = changed.index(name) + 1
                value = bytearray(bytes.fromhex(changed[at]))
                value[bit // 8] ^= 1 << bit % 8
                changed[at] = bytes(value).hex()
                code, out, err = run("verify", kind, *changed, *PARAMS, "--proof", proof)
                self.assertEqual(code, 1, f"{name} bit {bit}: {out}{err}")
        for name, value in (("--miner-id", 1001), ("--sector", 1002)):
            changed = list(public)
            changed[changed.index(name) + 1] = value
            self.assertEqual(run("verify", kind, *changed, *PARAMS, "--proof", proof)[0], 1, name)

    def test_other_sectors_and_randomness_do_not_verify(self):
        case = "window-2k-3sectors"
        kind, public = self.public(case)
        proof = self.file("proof", bytes.fromhex(golden(case)["groth16"]["proof"]))
        sectors = golden(case)["sectors"]
        shuffled = self.file("shuffled", sectors[::-1])
        at = public.index("--sectors") + 1
        self.assertTrue(self.json("verify", kind, *public[:at], shuffled, *public[at + 1:], *PARAMS, "--proof", proof)["verified"])
        sectors[0]["comm_r"] = sectors[1]["comm_r"]
        wrong = self.file("wrong", sectors)
        self.assertEqual(run("verify", kind, *public[:at], wrong, *public[at + 1:], *PARAMS, "--proof", proof)[0], 1)
        at = public.index("--randomness") + 1
        self.assertEqual(run("verify", kind, *public[:at], "00" * 32, *public[at + 1:], *PARAMS, "--proof", proof)[0], 1)

    def test_a_miner_id_that_is_not_the_sectors(self):
        _, request = self.request("porep-2k-v1_1-1")
        out = self.tmp / "proof"
        for verb, extra in (("prove", ["--out", out, *TOOLS]),
                            ("verify", ["--proof", self.file("p", bytes.fromhex(golden("porep-2k-v1_1-1")["groth16"]["proof"]))])):
            code, text, err = run(verb, "porep", *request, *PARAMS, *extra, "--miner-id", 4711)
            self.assertEqual(code, 1, text + err)
            self.assertIn("replica_id", text + err)
        self.assertFalse(out.exists())

    def test_usage(self):
        _, public = self.public("porep-2k-v1_1-1")
        for args in (["prove", "porep"], ["prove", "nothing"], ["verify", "porep", "--proof", "/nowhere"], ["setup", "porep-3k"],
                     ["witness", "porep", "--c1", "/nowhere"], ["circuit"], ["prove", "porep", "--c1", "x", "--out"],
                     ["verify", "porep", *public, "--proof", self.file("short", b"x" * 191), *PARAMS],
                     ["prove", "porep", "--c1", self.file("c1", data("porep-2k-v1_1-1", "c1.json")), "--out", self.tmp / "o", *TOOLS,
                      "--params", self.tmp]):
            code, out, err = run(*args)
            self.assertEqual(code, 2, f"{args}: {out}{err}")
            self.assertTrue(err.strip(), args)

    def test_a_test_srs_is_used_only_where_allowed(self):
        kind, request = self.request("window-2k-1sector")
        out = self.tmp / "proof"
        code, _, err = run("prove", kind, *request, *TOOLS, "--params", PARAMS[1], "--out", out)
        self.assertEqual(code, 2)
        self.assertIn("TEST-", err)
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
