"""cuzk doctor: every finding is provoked, says what to do, and counts. What a test cannot change about the machine it
pretends through CUZK_DOCTOR_PRETEND (see cmd/cli/cmd_doctor.c)."""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import unittest

from common import CUZK, SRS, Case, run

EMULATED = pathlib.Path(CUZK).resolve().parent.parent / "lib" / "libcuzk_cuda_emu.so"


class Doctor(Case):
    def setUp(self):
        super().setUp()
        self.params = self.tmp / "params"
        self.params.mkdir()
        self.cache = self.tmp / "cache"

    def registered(self, prefix="TEST-v28-proof-of-spacetime"):
        """Puts a test file of the 2 KiB circuits under the name of the registered one."""
        source = next(p for p in sorted(pathlib.Path(SRS).iterdir()) if p.name.startswith(prefix) and p.suffix == ".params")
        target = self.params / source.name[len("TEST-"):]
        target.symlink_to(source)
        return target

    def look(self, *args, program=CUZK, pretend="", user=None, **env):
        """Runs the doctor; returns (exit status, {subject: [(verdict, sentence)]}, document)."""
        command = [str(program), "doctor", "--params", str(self.params), "--cache-dir", str(self.cache), "--listen", "127.0.0.1:0",
                   "--json", *map(str, args)]
        if user is not None and os.getuid() == 0:
            command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
        p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                           env={**os.environ, "CUZK_DOCTOR_PRETEND": pretend, **env})
        document = json.loads(p.stdout)
        found = {}
        for f in document["findings"]:
            found.setdefault(f["subject"], []).append((f["verdict"], f["finding"]))
        self.assertEqual(document["problems"], sum(f["verdict"] == "problem" for f in document["findings"]))
        self.assertEqual(p.returncode, 1 if document["problems"] else 0)
        return p.returncode, found, document

    def expect(self, found, subject, verdict, words):
        self.assertTrue(any(v == verdict and words in text for v, text in found[subject]), (subject, verdict, words, found.get(subject)))

    def test_nothing_wrong(self):
        self.registered()
        code, found, _ = self.look(pretend="memory=256,ifma=1,sha=1,hugepages=1,disk=500")
        self.assertEqual(code, 0, found)
        for subject, words in [("processor", "IFMA is in use"), ("memory", "256.0 GiB are available"), ("hugepages", "are available"),
                               ("parameters", "holds 1 registered"), ("circuits", "can be written"), ("port", "is free")]:
            self.expect(found, subject, "ok", words)

    def test_processor(self):
        _, found, _ = self.look(CUZK_CPU="portable")
        self.expect(found, "processor", "note", "unset it")
        _, found, _ = self.look(pretend="ifma=0,sha=0")
        self.expect(found, "processor", "note", "no AVX-512 IFMA")
        self.expect(found, "processor", "note", "no SHA instructions")

    def test_memory(self):
        _, found, _ = self.look(pretend="memory=3.5")
        self.expect(found, "memory", "problem", "3.5 GiB are available; 2 KiB circuits need 2 GiB")
        _, found, _ = self.look(pretend="memory=20")
        self.expect(found, "memory", "note", "needs about 48 GiB")
        _, found, _ = self.look(pretend="hugepages=0")
        self.expect(found, "hugepages", "note", "echo madvise")

    def test_parameters(self):
        _, found, _ = self.look()
        self.expect(found, "parameters", "problem", "holds no registered parameter file (and 0 test SRS); fetch them")
        file = self.registered()
        (self.params / ("TEST-" + file.name)).symlink_to(file)
        _, found, _ = self.look()
        self.expect(found, "parameters", "ok", "holds 1 registered")
        whole = file.resolve()
        file.unlink()
        with open(whole, "rb") as f:
            file.write_bytes(f.read(4 << 20))
        _, found, _ = self.look()
        self.expect(found, "parameters", "problem", "fetch the file again")
        file.write_bytes(b"<html><body>404</body></html>" * 100)
        _, found, _ = self.look()
        self.expect(found, "parameters", "problem", "fetch the file again")
        self.params = self.tmp / "nowhere"
        _, found, _ = self.look()
        self.expect(found, "parameters", "problem", "cannot be read: No such file or directory; fetch the files (curio fetch-params)")

    def test_permissions(self):
        os.chmod(self.tmp, 0o755)
        program = self.tmp / "cuzk"  # where another user may run it
        shutil.copy(CUZK, program)
        self.cache.mkdir()
        os.chmod(self.cache, 0o555)
        file = self.params / self.registered().name
        file.unlink()
        file.write_bytes(b"secret")
        os.chmod(file, 0)
        _, found, _ = self.look(program=program, user=65534)
        self.expect(found, "circuits", "problem", "cannot be written by user")
        self.expect(found, "parameters", "problem", "cannot be read by user")
        os.chmod(self.params, 0)
        try:
            _, found, _ = self.look(program=program, user=65534)
        finally:
            os.chmod(self.params, 0o755)
        self.expect(found, "parameters", "problem", "cannot be read: Permission denied")

    def test_folder(self):
        self.file("plain", b"")
        self.cache = self.tmp / "plain" / "cache"
        _, found, _ = self.look()
        self.expect(found, "circuits", "problem", "choose another folder or give the user permission")
        self.cache = self.tmp / "cache"
        _, found, _ = self.look(pretend="disk=0.7")
        self.expect(found, "circuits", "problem", "has 0.7 GiB left")

    def test_port(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen()
            _, found, _ = self.look("--listen", f"127.0.0.1:{s.getsockname()[1]}")
            self.expect(found, "port", "problem", "another program (perhaps a running daemon) has it")
        _, found, _ = self.look("--listen", "203.0.113.7:9820")
        self.expect(found, "port", "problem", "cannot be listened on")
        _, found, _ = self.look("--listen", "nonsense")
        self.expect(found, "port", "problem", "is not HOST:PORT")
        _, found, _ = self.look("--listen", "127.0.0.1:http-nothing")
        self.expect(found, "port", "problem", "127.0.0.1:http-nothing: ")
        _, found, _ = self.look("--listen", f"unix://{self.tmp}/sock")
        self.expect(found, "socket", "ok", "can be made")
        _, found, _ = self.look("--listen", f"unix://{self.tmp}/nowhere/sock")
        self.expect(found, "socket", "problem", "the folder cannot be written: No such file")

    def program_beside(self, plugin):
        """A copy of cuzk with a plug-in beside it."""
        program = self.tmp / "bin" / "cuzk"
        program.parent.mkdir(exist_ok=True)
        if not program.exists():
            shutil.copy(CUZK, program)
        target = program.parent / "libcuzk-cuda.so"
        target.unlink(missing_ok=True)
        if isinstance(plugin, bytes):
            target.write_bytes(plugin)
        elif plugin:
            shutil.copy(plugin, target)
        return program

    def test_gpu(self):
        _, found, _ = self.look(program=self.program_beside(None))
        self.assertTrue(found["gpu"], "something is said of GPUs")
        _, found, _ = self.look(program=self.program_beside(b"not a library"))
        self.expect(found, "gpu", "note", "cannot load the plug-in")
        other = next((p for p in ("/lib/x86_64-linux-gnu/libz.so.1", "/usr/lib/x86_64-linux-gnu/libyajl.so.2") if os.path.exists(p)), None)
        if other:
            _, found, _ = self.look(program=self.program_beside(other))
            self.expect(found, "gpu", "note", "is not a back end of cuzk")

    @unittest.skipUnless(EMULATED.exists(), "the emulated device is not built")
    def test_gpu_found(self):
        program = self.program_beside(EMULATED)
        _, found, _ = self.look(program=program, pretend="vram=80")
        self.expect(found, "gpu", "ok", "device 0: ")
        _, found, _ = self.look(program=program, pretend="vram=8")
        self.expect(found, "gpu", "note", "8 GiB; below 16 GiB")

    def test_text(self):
        code, out, err = run("doctor", "--params", self.params, "--cache-dir", self.cache, "--listen", "127.0.0.1:0")
        self.assertEqual(code, 1, err)
        self.assertRegex(out, r"(?m)^problem  parameters ")
        self.assertRegex(out, r"\n1 problem\n$")
        for line in out.splitlines()[:-1]:
            self.assertRegex(line, r"^(ok|note|problem) +\w+ +\S")


if __name__ == "__main__":
    unittest.main(verbosity=2)
