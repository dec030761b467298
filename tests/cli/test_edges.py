"""What lies at the edges of the command line: odd numbers, names, files and documents; each has a sentence."""
import base64
import json
import os
import pathlib
import random
import stat
import struct
import unittest
from common import PARAMS, SRS, TOOLS, Case, data, golden, run

C1 = "porep-2k-v1_1-1"
WINNING = "winning-2k-1"


class Edges(Case):
    def fails(self, *args, status=2):
        """The error object of a command that must fail."""
        code, out, err = run(*args, "--json")
        self.assertEqual(code, status, f"cuzk {' '.join(map(str, args))}\n{out}\n{err}")
        answer = json.loads(out)
        self.assertGreater(len(answer["error"]), 10, answer)
        self.assertTrue(answer["status"], answer)
        return answer

    def test_every_failure_is_one_json_object(self):
        _, public = self.public(C1)
        proof = self.file("proof", bytes.fromhex(golden(C1)["groth16"]["proof"]))
        for args in (["nothing"], ["prove", "nothing"], ["prove"], ["circuit"], ["circuit", "porep-3k"], ["circuit", "porep-2k", "x"],
                     ["setup", "porep-2k"], ["params", "/nowhere"], ["params", self.tmp / "nowhere.vk"],
                     ["synth", "nothing", "--size", "2KiB", "--out", self.tmp / "s"],
                     ["synth", "porep", "--size", "3KiB", "--out", self.tmp / "s"],
                     ["prove", "porep", "--c1", self.file("c1", b""), "--out", self.tmp / "o", *PARAMS],
                     ["witness", "porep", "--c1", "/nowhere", "--threads", "x"],
                     ["circuit", "winning-2k", "--threads", 4096], ["params", proof, "--threads", 2**32, "--check"],
                     ["verify", "porep", *public, *PARAMS, "--proof", "/nowhere"],
                     ["verify", "porep", *public[:-2], *PARAMS, "--proof", proof],
                     ["circom", "info", proof], ["circom", "nothing"]):
            self.fails(*args)
        self.assertFalse((self.tmp / "s").exists())

    def test_verify_always_says_whether(self):
        _, public = self.public(C1)
        proof = bytes.fromhex(golden(C1)["groth16"]["proof"])
        self.assertIs(self.fails("verify", "porep", *public, *PARAMS, "--proof", self.file("p", proof[:-1]))["verified"], False)
        self.assertIs(self.fails("verify", "porep", *public, *PARAMS, "--proof", self.file("p", proof + b"\0"))["verified"], False)
        at = public.index("--comm-r") + 1
        beyond = [*public[:at], "ff" * 32, *public[at + 1:]]
        answer = self.fails("verify", "porep", *beyond, *PARAMS, "--proof", self.file("p", proof))
        self.assertIs(answer["verified"], False)
        self.assertIn("comm_r is not a field element", answer["error"])
        for garbage in (b"\0" * 192, b"\xff" * 192, b"\xc0" + bytes(47) + b"\xc0" + bytes(95) + b"\xc0" + bytes(47)):
            self.assertIs(self.fails("verify", "porep", *public, *PARAMS, "--proof", self.file("p", garbage), status=1)["verified"], False)

    def test_numbers_are_decimal(self):
        _, public = self.public(C1)
        proof = self.file("proof", bytes.fromhex(golden(C1)["groth16"]["proof"]))
        at = public.index("--sector") + 1
        padded = [*public[:at], f"0{public[at]}", *public[at + 1:]]
        self.assertTrue(self.json("verify", "porep", *padded, *PARAMS, "--proof", proof)["verified"])
        for bad in ("", "-1", "+1", "1 ", "0x3e9", "18446744073709551616", "1e3"):
            self.fails("verify", "porep", *public[:at], bad, *public[at + 1:], *PARAMS, "--proof", proof)

    def test_a_partition_that_is_not_there(self):
        kind, request = self.request(WINNING)
        out = self.tmp / "out"
        for k in (1, 2**32, 2**64 - 1):
            self.fails("witness", kind, *request, *TOOLS, "--partition", k)
            self.fails("prove", kind, *request, *TOOLS, *PARAMS, "--out", out, "--partition", k)
        self.assertFalse(out.exists())

    def test_names_of_the_wire(self):
        for name, plain in (("wpost-2k", "window-2k"), ("window-2k", "window-2k"), ("winning-2k", "winning-2k")):
            self.assertEqual(self.json("circuit", name, *TOOLS)["circuit"], plain)
        for name, plain in (("wpost", "window"), ("snap", "update")):
            for kind in (name, plain):
                self.json("synth", kind, "--size", "2KiB", "--out", self.tmp / kind)
            for file in ("vanilla-all.bin", "public.json"):
                self.assertEqual((self.tmp / name / file).read_bytes(), (self.tmp / plain / file).read_bytes())
        _, request = self.request("window-2k-1sector")
        self.assertEqual(self.json("witness", "wpost", *request, *TOOLS), self.json("witness", "window", *request, *TOOLS))

    def test_what_a_failure_quotes_is_utf8(self):
        text = base64.b64decode(json.loads(data(C1, "c1.json"))["Phase1Out"]).replace(b"StackedDrg2KiBV1_1", b"StackedDrg\xcbKiBV1_1")
        answer = self.fails("witness", "porep", "--c1", self.file("c1", text), *TOOLS)
        self.assertIn("StackedDrg?KiBV1_1", answer["error"])
        self.fails("prove", "nothing\udccb", "\udcff")

    def test_several_vanilla_proofs_in_one_file(self):
        kind, request = self.request("window-2k-3sectors")
        g = golden("window-2k-3sectors")
        proofs = [data("window-2k-3sectors", f"vanilla-{i}.bin") for i in range(3)]
        whole = b"".join(struct.pack("<Q", len(p)) + p for p in proofs)
        options = request[request.index("--registered-proof"):]
        made = self.json("witness", kind, "--vanilla-all", self.file("all", whole), *options, *TOOLS)
        self.assertEqual(made["aux_sha256"], g["partitions"][0]["aux_sha256"])
        # every remainder that is shorter than a length, and lengths near 2^64
        for extra in [b"x" * n for n in range(1, 9)] + [struct.pack("<Q", n) for n in (1, 2**64 - 1, 2**64 - 8, 2**63)]:
            answer = self.fails("witness", kind, "--vanilla-all", self.file("all", whole + extra), *options, *TOOLS)
            self.assertIn("cut short", answer["error"], extra)
        for cut in (0, 1, 7, 8, len(whole) // 2, len(whole) - 1):
            self.fails("witness", kind, "--vanilla-all", self.file("all", whole[:cut]), *options, *TOOLS)
        self.fails("witness", kind, "--vanilla-all", self.file("all", whole), "--vanilla", self.file("one", proofs[0]), *options)
        self.fails("witness", kind, *options)

    def test_where_the_proof_goes_is_seen_to_first(self):
        kind, request = self.request(WINNING)
        for out in (self.tmp, self.tmp / "no" / "such" / "folder"):
            # the parameters are missing as well: what is named is what was looked at first
            answer = self.fails("prove", kind, *request, "--params", self.tmp, "--out", out)
            self.assertIn(str(out), answer["error"])
        made = self.json("prove", kind, *request, *TOOLS, *PARAMS, "--test-randomness", "--out", "/dev/null")
        self.assertEqual(made["proof"], golden(WINNING)["groth16"]["proof"])
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_proofs_do_not_depend_on_threads_or_processor(self):
        kind, request = self.request(WINNING)
        want = golden(WINNING)["groth16"]["proof"]
        for cpu, threads in (("", 1), ("", 3), ("portable", 2), ("scalar", 5)):
            with self.subTest(cpu, threads=threads):
                code, out, err = run("prove", kind, *request, *TOOLS, *PARAMS, "--test-randomness", "--threads", threads, "--out",
                                     self.tmp / "p", "--json", env={**os.environ, "CUZK_CPU": cpu})
                self.assertEqual(code, 0, out + err)
                self.assertEqual(json.loads(out)["proof"], want)

    def test_verifying_keys_and_renamed_files(self):
        name = [f for f in os.listdir(SRS) if f.endswith(".vk") and "0170db1f" in f][0]
        key = pathlib.Path(SRS, name).read_bytes()
        made = self.json("params", os.path.join(SRS, name))
        self.assertEqual((made["circuit"], made["test_srs"], made["vk_bytes"], made["vk"]), ("window-2k", True, len(key), key.hex()))
        self.assertNotIn("params_bytes", made)
        self.assertEqual(made["inputs"], 23)
        # under the registered name it must be the published key, which it is not
        self.assertIs(self.json("params", self.file(name[5:], key), status=1)["published_digest_matches"], False)
        other = self.json("params", self.file("mine.vk", key))
        self.assertEqual((other["circuit"], other["published_digest_matches"]), (None, None))
        for cut in (0, 100, 863, 864, len(key) - 1):
            self.fails("params", self.file("cut.vk", key[:cut]))
        self.fails("params", self.file("long.vk", key + b"\0"))
        bad = bytearray(key)
        bad[900] ^= 1
        self.fails("params", self.file("bad.vk", bytes(bad)))

    def test_documents_of_every_form_are_the_same(self):
        outer = json.loads(data(C1, "c1.json"))
        inner = json.loads(base64.b64decode(outer["Phase1Out"]))
        want = golden(C1)["partitions"][0]
        rng = random.Random(11)

        def shuffled(value):
            if isinstance(value, dict):
                items = [(k, shuffled(v)) for k, v in value.items()]
                if "StackedDrg2KiBV1" not in value:
                    items += [("unknown", {"deep": [1, "x", None, {"root": []}]}), ("another_one", 1e300)]
                rng.shuffle(items)
                return dict(items)
            return [shuffled(v) for v in value] if isinstance(value, list) else value

        for form in ("bare", "wrapped", "bare spaced", "wrapped shuffled"):
            with self.subTest(form):
                text = json.dumps(shuffled(inner), indent=2 if "spaced" in form else None).encode()
                if "wrapped" in form:
                    members = [("Phase1Out", base64.b64encode(text).decode()), ("SectorNum", outer["SectorNum"]),
                               ("Unknown", {"a": [None, True]}), ("SectorSize", outer["SectorSize"])]
                    if "shuffled" in form:
                        members.reverse()
                    text = json.dumps(dict(members)).encode()
                made = self.json("witness", "porep", "--c1", self.file("c1", text), *TOOLS)
                self.assertEqual((made["aux_sha256"], made["inputs_sha256"]), (want["aux_sha256"], want["inputs_sha256"]))
        for bad in (b"[]", b"{}", b"null", b"0", b"\"x\"", b"{\"Phase1Out\":1}", b"{\"Phase1Out\":\"!\"}", b"\xff\xfe", b"[" * 100000,
                    data(C1, "c1.json") + b"x"):
            self.fails("witness", "porep", "--c1", self.file("c1", bad), *TOOLS)


if __name__ == "__main__":
    unittest.main()
