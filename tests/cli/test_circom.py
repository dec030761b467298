"""circom circuits: golden files, snarkjs in both directions, damaged files."""
import json
import os
import struct
import subprocess
import unittest
from common import NPM, Case, data, run

SNARKJS = os.path.join(NPM, "snarkjs", "build", "cli.cjs")
CIRCUITS = ["mul", "mimc", "poseidon"]


def snarkjs(*args):
    p = subprocess.run(["node", SNARKJS, *map(str, args)], capture_output=True, text=True, timeout=600)
    return p.returncode, p.stdout + p.stderr


def sections(blob):
    """(type, offset of the 12-byte head, size) of each section."""
    at, out = 12, []
    for _ in range(struct.unpack_from("<I", blob, 8)[0]):
        kind, size = struct.unpack_from("<IQ", blob, at)
        out.append((kind, at, size))
        at += 12 + size
    return out


class Circom(Case):
    def golden(self, name, *suffixes):
        return [self.file(f"{name}.{s}" if s in ("zkey", "r1cs", "wtns") else f"{name}-{s}",
                          data(f"circom/{name}", f"{name}.{s}" if s in ("zkey", "r1cs", "wtns") else s)) for s in suffixes]

    def test_golden_proofs_verify(self):
        for name in CIRCUITS:
            vkey, proof, public = self.golden(name, "vkey.json", "proof.json", "public.json")
            self.assertTrue(self.json("circom", "verify", "--vkey", vkey, "--proof", proof, "--public", public)["verified"])
            signals = json.loads(public.read_text())
            signals[0] = str((int(signals[0]) + 1) % 1000)
            wrong = self.file("wrong", signals)
            self.assertFalse(self.json("circom", "verify", "--vkey", vkey, "--proof", proof, "--public", wrong, status=1)["verified"])
            bad = json.loads(proof.read_text())
            bad["pi_a"], bad["pi_c"] = bad["pi_c"], bad["pi_a"]
            self.assertEqual(run("circom", "verify", "--vkey", vkey, "--proof", self.file("bad", bad), "--public", public)[0], 1)
            bad["pi_a"] = ["1", "2", "1"]
            self.assertEqual(run("circom", "verify", "--vkey", vkey, "--proof", self.file("bad", bad), "--public", public)[0], 1)

    def test_our_proofs_verify_with_snarkjs(self):
        for name in CIRCUITS:
            zkey, wtns, vkey, want = self.golden(name, "zkey", "wtns", "vkey.json", "public.json")
            proof, public = self.tmp / "proof.json", self.tmp / "public.json"
            self.json("circom", "prove", "--zkey", zkey, "--wtns", wtns, "--proof", proof, "--public", public)
            self.assertEqual(json.loads(public.read_text()), json.loads(want.read_text()))
            code, text = snarkjs("groth16", "verify", vkey, public, proof)
            self.assertEqual(code, 0, text)

    def test_our_keys_work_with_snarkjs(self):
        for name in CIRCUITS:
            r1cs, wtns = self.golden(name, "r1cs", "wtns")
            zkey, vkey, params = self.tmp / "own.zkey", self.tmp / "own.json", self.tmp / "own.params"
            self.json("circom", "setup", "--r1cs", r1cs, "--zkey", zkey, "--vkey", vkey, "--params", params)
            proof, public, exported = self.tmp / "p.json", self.tmp / "s.json", self.tmp / "exported.json"
            self.assertEqual(snarkjs("groth16", "prove", zkey, wtns, proof, public)[0], 0)
            self.assertTrue(self.json("circom", "verify", "--vkey", vkey, "--proof", proof, "--public", public)["verified"])
            self.assertEqual(snarkjs("zkey", "export", "verificationkey", zkey, exported)[0], 0)
            self.json("circom", "prove", "--zkey", zkey, "--wtns", wtns, "--proof", proof, "--public", public)
            self.assertEqual(snarkjs("groth16", "verify", exported, public, proof)[0], 0)
            self.assertTrue(self.json("circom", "info", zkey, "--check")["points_checked"])
            self.json("circom", "prove", "--r1cs", r1cs, "--params", params, "--wtns", wtns, "--proof", proof, "--public", public)

    def test_test_srs_is_reproducible(self):
        r1cs, wtns = self.golden("mimc", "r1cs", "wtns")
        keys, proofs = [], []
        for i in range(2):
            zkey = self.tmp / f"t{i}.zkey"
            self.json("circom", "setup", "--r1cs", r1cs, "--zkey", zkey, "--test-srs", "--threads", i + 1)
            keys.append(zkey.read_bytes())
            proofs.append(self.json("circom", "prove", "--zkey", zkey, "--wtns", wtns, "--proof", self.tmp / "p", "--public",
                                    self.tmp / "s", "--test-randomness", "--threads", i + 1)["proof"])
        self.assertEqual(*keys)
        self.assertEqual(*proofs)

    def test_a_witness_that_does_not_satisfy(self):
        r1cs, zkey, wtns = self.golden("poseidon", "r1cs", "zkey", "wtns")
        blob = bytearray(wtns.read_bytes())
        blob[-32] ^= 1
        bad = self.file("bad.wtns", bytes(blob))
        out = ["--proof", self.tmp / "p", "--public", self.tmp / "s"]
        code, _, err = run("circom", "prove", "--zkey", zkey, "--wtns", bad, *out)
        self.assertEqual(code, 1, err)
        params = self.tmp / "c.params"
        self.json("circom", "setup", "--r1cs", r1cs, "--params", params)
        code, _, err = run("circom", "prove", "--r1cs", r1cs, "--params", params, "--wtns", bad, *out)
        self.assertEqual(code, 1, err)
        self.assertRegex(err, "row|constraint")
        self.assertFalse((self.tmp / "p").exists())

    def test_damaged_keys_are_refused(self):
        zkey, wtns = self.golden("mul", "zkey", "wtns")
        blob = zkey.read_bytes()
        heads = {kind: (at, size) for kind, at, size in sections(blob)}
        cases = {}
        for cut in range(0, len(blob), 211):
            cases[f"cut at {cut}"] = blob[:cut]
        for kind, (at, size) in heads.items():
            huge = bytearray(blob)
            struct.pack_into("<Q", huge, at + 4, 2**64 - 8)
            cases[f"section {kind} near 2^64"] = bytes(huge)
            if kind <= 9:
                renamed = bytearray(blob)
                struct.pack_into("<I", renamed, at, 30)
                cases[f"section {kind} missing"] = bytes(renamed)
                twice = bytearray(blob)
                struct.pack_into("<I", twice, at, 1 if kind != 1 else 2)
                cases[f"section {kind} replaced by a second one"] = bytes(twice)
        at = heads[2][0] + 12
        other = bytearray(blob)
        other[at + 4 + 48 + 4] ^= 2
        cases["another prime"] = bytes(other)
        point = bytearray(blob)
        point[heads[3][0] + 12 + 5] ^= 1
        cases["a point of the key off the curve"] = bytes(point)
        count = bytearray(blob)
        struct.pack_into("<I", count, heads[4][0] + 12, 0xFFFFFFFF)
        cases["a coefficient count of 0xFFFFFFFF"] = bytes(count)
        coef = bytearray(blob)
        struct.pack_into("<I", coef, heads[4][0] + 12 + 4 + 8, 0xFFFFFFFF)
        cases["a coefficient of wire 0xFFFFFFFF"] = bytes(coef)
        for name, content in cases.items():
            code, _, err = run("circom", "prove", "--zkey", self.file("bad.zkey", content), "--wtns", wtns, "--proof", self.tmp / "p",
                               "--public", self.tmp / "s")
            self.assertEqual(code, 2, f"{name}: {err}")
            self.assertTrue(err.strip(), name)
        damaged = bytearray(blob)
        damaged[heads[9][0] + 12 + 100] ^= 1
        self.assertEqual(run("circom", "info", self.file("h.zkey", bytes(damaged)), "--check")[0], 2)

    def test_sections_in_another_order_are_read(self):
        zkey, wtns = self.golden("mul", "zkey", "wtns")
        blob = zkey.read_bytes()
        parts = [blob[at:at + 12 + size] for _, at, size in sections(blob)]
        turned = self.file("turned.zkey", blob[:12] + b"".join(parts[::-1]))
        self.json("circom", "prove", "--zkey", turned, "--wtns", wtns, "--proof", self.tmp / "p", "--public", self.tmp / "s")

    def test_a_bn254_file_is_named_as_such(self):
        prime = (21888242871839275222246405745257275088548364400416034343698204186575808495617).to_bytes(32, "little")
        r1cs = self.golden("mul", "r1cs")[0].read_bytes()
        at = {kind: at for kind, at, _ in sections(r1cs)}[1] + 16
        bad = self.file("bn.r1cs", r1cs[:at] + prime + r1cs[at + 32:])
        for args in (["circom", "info", bad], ["circom", "setup", "--r1cs", bad, "--zkey", self.tmp / "z"]):
            code, _, err = run(*args)
            self.assertEqual(code, 2)
            self.assertIn("only BLS12-381 is supported", err)

    def test_a_number_of_wires_that_the_file_cannot_hold(self):
        r1cs = self.golden("mul", "r1cs")[0].read_bytes()
        at = {kind: at for kind, at, _ in sections(r1cs)}[1] + 12 + 36
        for wires in (2**32 - 1, 2**31, 2**30, struct.unpack_from("<I", r1cs, at)[0] + 1):
            bad = self.file("wires.r1cs", r1cs[:at] + struct.pack("<I", wires) + r1cs[at + 4:])
            for args in (["circom", "info", bad], ["circom", "setup", "--r1cs", bad, "--zkey", self.tmp / "z"]):
                code, _, err = run(*args)
                self.assertEqual(code, 2)
                self.assertIn(f"{wires} wires do not fit", err)

    def test_damaged_circuits_and_witnesses(self):
        r1cs, wtns, zkey = self.golden("mul", "r1cs", "wtns", "zkey")
        for suffix, path in (("r1cs", r1cs), ("wtns", wtns)):
            blob = path.read_bytes()
            for cut in list(range(0, len(blob) - 1, 13)):
                bad = self.file("cut." + suffix, blob[:cut])
                code, _, err = run("circom", "info", bad)
                if code == 0 and suffix == "r1cs":
                    continue  # cut inside the labels, which are not needed
                self.assertEqual(code, 2, f"{suffix} cut at {cut}")
        self.assertEqual(run("circom", "prove", "--zkey", zkey, "--wtns", r1cs, "--proof", self.tmp / "p", "--public",
                             self.tmp / "s")[0], 2)


if __name__ == "__main__":
    unittest.main()
