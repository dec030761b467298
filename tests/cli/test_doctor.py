"""cuzk doctor: every finding is provoked, says what to do, and counts. What a test cannot change about the machine it
pretends through CUZK_DOCTOR_PRETEND (see cmd/cli/doctor.h)."""
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
        os.chmod(self.tmp, 0o755)
        self.config = self.tmp / "cuzk.toml"  # always named, so that none of this machine is looked at
        self.configure("")

    def configure(self, text):
        """Writes the daemon's configuration; its store lies in the test's folder unless the text says otherwise."""
        if "[store]" not in text:
            text += f'\n[store]\nurl = "sqlite:{self.tmp}/store/jobs.db"\n'
        self.config.write_text(text)

    def registered(self, prefix="TEST-v28-proof-of-spacetime"):
        """Puts a test file of the 2 KiB circuits under the name of the registered one."""
        source = next(p for p in sorted(pathlib.Path(SRS).iterdir()) if p.name.startswith(prefix) and p.suffix == ".params")
        target = self.params / source.name[len("TEST-"):]
        target.symlink_to(source)
        return target

    def look(self, *args, program=CUZK, pretend="", user=None, options=True, **env):
        """Runs the doctor; returns (exit status, {subject: [(verdict, sentence)]}, document)."""
        command = [str(program), "doctor", "--json", "--config", str(self.config)]
        if options:  # over what the configuration says
            command += ["--params", str(self.params), "--cache-dir", str(self.cache), "--listen", "127.0.0.1:0"]
        command += map(str, args)
        if user is not None and os.getuid() == 0:
            command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
        p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
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
        code, found, _ = self.look(pretend="memory=256,ifma=1,sha=1,hugepages=1,disk=500,gpu_hardware=0,store_disk=500,file_system=1,uid=7")
        self.assertEqual(code, 0, found)
        self.assertNotIn("user", found)
        for subject, words in [("configuration", "cuzk.toml is valid"), ("store", "lies on a local disk"), ("processor", "IFMA is in use"), ("memory", "256.0 GiB are available"), ("hugepages", "are available"),
                               ("parameters", "holds 1 registered"), ("circuits", "can be written"), ("port", "is free")]:
            self.expect(found, subject, "ok", words)

    def test_processor(self):
        for form in ("scalar", "portable"):
            _, found, _ = self.look(CUZK_CPU=form)
            self.expect(found, "processor", "note", f"CUZK_CPU={form} forces the scalar code: unset it")
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

        self.configure('[memory]\ntotal_budget = "300GiB"\n')
        _, found, _ = self.look(pretend="memory=256")
        self.expect(found, "memory", "problem", "memory.total_budget is 300.0 GiB, more than the 256.0 GiB")
        _, found, _ = self.look(pretend="memory=301")
        self.assertEqual(len(found["memory"]), 1)

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
        file.unlink()
        _, found, _ = self.look("--allow-test-srs")  # the link under the TEST- name leads nowhere now
        self.expect(found, "parameters", "problem", "holds no registered parameter file (and 0 test SRS)")
        (self.params / ("TEST-" + file.name)).unlink()
        (self.params / ("TEST-" + file.name)).symlink_to(whole)
        _, found, _ = self.look()
        self.expect(found, "parameters", "problem", "holds no registered parameter file (and 1 test SRS)")
        _, found, _ = self.look("--allow-test-srs")
        self.expect(found, "parameters", "note", "prove nothing to anyone")
        self.configure("[srs]\nallow_test = true\n")
        _, found, _ = self.look()
        self.expect(found, "parameters", "note", "holds 1 test SRS, whose secrets are public")
        self.params = self.tmp / "nowhere"
        _, found, _ = self.look()
        self.expect(found, "parameters", "problem", "cannot be read: No such file or directory; fetch the files (curio fetch-params)")

    def test_permissions(self):
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
        self.assertFalse(self.cache.exists())
        _, found, _ = self.look()
        self.expect(found, "circuits", "ok", "can be written")
        self.assertFalse(self.cache.exists(), "looking makes nothing")
        _, found, _ = self.look(pretend="disk=0.7")
        self.expect(found, "circuits", "problem", "has 0.7 GiB left")

    def test_port(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen()
            _, found, _ = self.look("--listen", f"127.0.0.1:{s.getsockname()[1]}")
            self.expect(found, "port", "problem", "another program (perhaps a running daemon) has it")
        first = pathlib.Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")
        if first.exists() and int(first.read_text()) > 80:
            program = self.tmp / "cuzk"
            shutil.copy(CUZK, program)
            _, found, _ = self.look("--listen", "127.0.0.1:80", program=program, user=65534)
            if not any("has it" in text for _, text in found["port"]):
                self.expect(found, "port", "problem", "choose a port above 1023")
        _, found, _ = self.look("--listen", "203.0.113.7:9820")
        self.expect(found, "port", "problem", "choose an address of this machine")
        _, found, _ = self.look("--listen", "nonsense")
        self.expect(found, "port", "problem", "is not HOST:PORT")
        _, found, _ = self.look("--listen", "127.0.0.1:http-nothing")
        self.expect(found, "port", "problem", "127.0.0.1:http-nothing: ")
        _, found, _ = self.look("--listen", f"unix://{self.tmp}/sock")
        self.expect(found, "socket", "ok", "can be made")
        _, found, _ = self.look("--listen", f"unix://{self.tmp}/nowhere/sock")
        self.expect(found, "socket", "problem", "the folder cannot be written: No such file or directory; make it")
        _, found, _ = self.look("--listen", f"unix://{self.tmp}/{'x' * 100}")
        self.expect(found, "socket", "problem", "at most 100 bytes")
        _, found, _ = self.look("--listen", f"unix://{self.config}")
        self.expect(found, "socket", "problem", "is there and no socket")

    def test_open_doors(self):
        _, found, _ = self.look("--listen", "0.0.0.0:0")
        self.expect(found, "port", "note", "0.0.0.0:0 takes jobs from any machine, without encryption or token: set auth.token_file")
        token, pem = self.file("token", b"0123456789abcdef0123\n"), self.file("pem", b"")
        os.chmod(token, 0o600)
        os.chmod(pem, 0o600)
        self.configure(f'[auth]\ntoken_file = "{token}"\n')
        _, found, _ = self.look("--listen", "0.0.0.0:0")
        self.expect(found, "port", "note", "asks for a token but does not encrypt")
        self.configure(f'[tls]\ncert = "{pem}"\nkey = "{pem}"\n')
        _, found, _ = self.look("--listen", "0.0.0.0:0")
        self.expect(found, "port", "note", "takes jobs from any machine: set auth.token_file")
        self.configure(f'[tls]\ncert = "{pem}"\nkey = "{pem}"\n[auth]\ntoken_file = "{token}"\n')
        _, found, _ = self.look("--listen", "0.0.0.0:0")
        self.assertEqual([v for v, _ in found["port"]], ["ok"])
        self.assertNotIn("credentials", found)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen()
            self.configure(f'[daemon]\nstatus_listen = "127.0.0.1:{s.getsockname()[1]}"\n')
            _, found, _ = self.look()
            self.expect(found, "port", "problem", "has it: stop it or choose another port")
        self.configure('[daemon]\nstatus_listen = "0.0.0.0:0"\n')
        _, found, _ = self.look()
        self.expect(found, "port", "note", "the status page on 0.0.0.0:0 is open to any machine")

    def test_user(self):
        _, found, _ = self.look(pretend="uid=0")
        self.expect(found, "user", "note", "sudo -u cuzk cuzk doctor")

    def test_configuration(self):
        self.configure(f'[srs]\nparam_cache = "{self.tmp}/elsewhere"\ncircuit_cache = "{self.cache}"\n'
                       '[daemon]\nlisten = "127.0.0.1:nothing"\n')
        _, found, _ = self.look(options=False)
        self.expect(found, "configuration", "ok", "cuzk.toml is valid")
        self.expect(found, "parameters", "problem", "/elsewhere cannot be read")
        self.expect(found, "circuits", "ok", str(self.cache))
        self.expect(found, "port", "problem", "127.0.0.1:nothing")
        self.configure('[scheduler]\norder = "sideways"\nmax_queud = 3\n')
        _, found, _ = self.look()
        self.expect(found, "configuration", "problem", "scheduler.order")
        self.expect(found, "configuration", "problem", "max_queued")  # the nearest known key
        self.expect(found, "configuration", "note", "does not start with")
        self.configure("[srs]\npreload = []\n")
        _, found, _ = self.look()
        self.expect(found, "configuration", "note", "srs.preload")
        self.config.write_text("[daemon\n")
        _, found, _ = self.look()
        self.expect(found, "configuration", "problem", "cuzk.toml")
        self.config = self.tmp / "no" / "such.toml"
        _, found, _ = self.look()
        self.expect(found, "configuration", "problem", "correct the path or give the user permission")

    def test_credentials(self):
        pem, token = self.file("pem", b"x"), self.file("token", b"short\n")
        os.chmod(pem, 0o644)
        os.chmod(token, 0o644)
        self.configure(f'[tls]\ncert = "{pem}"\n[auth]\ntoken_file = "{token}"\n')
        _, found, _ = self.look()
        self.expect(found, "credentials", "problem", "tls.cert and tls.key go together")
        self.expect(found, "credentials", "problem", "at least 16 characters")
        self.expect(found, "credentials", "note", "chmod o-r")
        self.configure(f'[tls]\nclient_ca = "{pem}"\n')
        _, found, _ = self.look()
        self.expect(found, "credentials", "problem", "needs tls.cert and tls.key")
        self.configure(f'[tls]\ncert = "{pem}"\nkey = "{self.tmp}/nowhere"\n[auth]\ntoken_file = "{self.tmp}/none"\n')
        _, found, _ = self.look()
        self.expect(found, "credentials", "problem", f"tls.key: {self.tmp}/nowhere cannot be read by user")
        self.expect(found, "credentials", "problem", f"auth.token_file: {self.tmp}/none cannot be read by user")

    def store(self, path):
        self.configure(f'[store]\nurl = "{path}"\n')

    def test_store(self):
        self.store("sqlite::memory:")
        _, found, _ = self.look()
        self.expect(found, "store", "note", "lost when the daemon ends; set it to a file")
        self.store("nonsense")
        _, found, _ = self.look()
        self.expect(found, "store", "problem", "must begin with sqlite: or postgres://")
        self.store("sqlite:")
        _, found, _ = self.look()
        self.expect(found, "store", "problem", "needs a path")
        self.file("plain", b"this is no database")
        self.store(f"sqlite:{self.tmp}/plain")
        _, found, _ = self.look()
        self.expect(found, "store", "problem", "is no SQLite database: move it away")
        self.store(f"sqlite:{self.tmp}/plain/jobs.db")
        _, found, _ = self.look()
        self.expect(found, "store", "problem", "Not a directory; choose another folder")
        _, found, _ = self.look("--store", f"sqlite:{self.tmp}/jobs.db", pretend="file_system=1,store_disk=500")
        self.expect(found, "store", "ok", "lies on a local disk")
        self.assertFalse((self.tmp / "jobs.db").exists(), "looking makes nothing")
        self.configure("[scheduler]\nmax_queued = 100\n")
        for pretend, verdict, words in [
                ("file_system=0x6969", "problem", "is on a network file system (NFS)"),
                ("file_system=0xff534d42", "problem", "(CIFS)"),
                ("file_system=0x01021994", "note", "lost when the machine starts again"),
                ("file_system=0x65735546", "note", "make sure that it is a local disk"),
                ("store_disk=0.4", "problem", "has 0.4 GiB left; every waiting PoRep"),
                ("store_disk=3", "note", "of 100 PoReps of 32 GiB takes 4.9 GiB"),
                ("file_system=1,store_disk=5", "ok", "lies on a local disk")]:
            _, found, _ = self.look(pretend=pretend)
            self.expect(found, "store", verdict, words)

    def test_store_permissions(self):
        program = self.tmp / "cuzk"
        shutil.copy(CUZK, program)
        folder = self.tmp / "store"
        folder.mkdir()
        os.chmod(folder, 0o555)
        _, found, _ = self.look(program=program, user=65534)
        self.expect(found, "store", "problem", f"{folder} cannot be written by user")
        self.store(f"sqlite:{folder}/below/jobs.db")
        _, found, _ = self.look(program=program, user=65534)
        self.expect(found, "store", "problem", f"{folder}/below cannot be made by user")
        os.chmod(folder, 0o777)
        database = folder / "jobs.db"
        database.write_bytes(b"")
        os.chmod(database, 0o444)
        self.configure("")
        _, found, _ = self.look(program=program, user=65534)
        self.expect(found, "store", "problem", "jobs.db cannot be opened by user")

    def test_postgres(self):
        for url, words in [("postgres://127.0.0.1:1/cuzk", "the database does not answer"),
                           ("postgres://u:secret@127.0.0.1:nothing/cuzk", "the database does not answer")]:
            self.store(url)
            _, found, document = self.look()
            self.expect(found, "store", "problem", words)
            self.assertNotIn("secret", json.dumps(document))

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

    def test_gpu_and_driver(self):
        program = self.program_beside(None)
        self.configure('[gpus]\nbackend = "cuda"\n')
        _, found, _ = self.look(program=program, pretend="gpu_hardware=0")
        self.expect(found, "gpu", "problem", "gpus.backend is \"cuda\", but no device can be used")
        self.configure('[gpus]\nbackend = "cpu"\n')
        _, found, _ = self.look(program=program, pretend="gpu_hardware=1")
        self.expect(found, "gpu", "note", "GPUs are left alone")
        self.configure("")
        for pretend, words in [("gpu_driver=0", "its driver is not loaded: install the driver"),
                               ("gpu_driver=1,gpu_uvm=0", "nvidia-modprobe -u -c=0"),
                               ("gpu_driver=1,gpu_uvm=1,gpu_access=0", "may not use /dev/nvidiactl: put the user")]:
            _, found, _ = self.look(program=program, pretend="gpu_hardware=1," + pretend)
            self.expect(found, "gpu", "note", words)

    @unittest.skipUnless(EMULATED.exists(), "the emulated device is not built")
    def test_gpu_found(self):
        program = self.program_beside(EMULATED)
        _, found, _ = self.look(program=program, pretend="vram=80")
        self.expect(found, "gpu", "ok", "device 0: ")
        _, found, _ = self.look(program=program, pretend="vram=8")
        self.expect(found, "gpu", "note", "8 GiB; below 16 GiB")
        self.configure("[gpus]\ndevices = [0, 63]\n")
        _, found, _ = self.look(program=program)
        self.expect(found, "gpu", "problem", "gpus.devices names device 63, but there are")

    def test_text(self):
        code, out, err = run("doctor", "--config", self.config, "--params", self.params, "--cache-dir", self.cache, "--listen", "127.0.0.1:0")
        self.assertEqual(code, 1, err)
        self.assertRegex(out, r"(?m)^problem  parameters ")
        self.assertRegex(out, r"\n1 problem\n$")
        for line in out.splitlines()[:-1]:
            self.assertRegex(line, r"^(ok|note|problem) +\w+ +\S")


if __name__ == "__main__":
    unittest.main(verbosity=2)
