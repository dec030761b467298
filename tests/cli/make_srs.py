"""The 2 KiB test SRS that other tests use, each compared with its golden digest. Files that are there are kept."""
import json
import os
import pathlib
import sys
from common import CACHE, SRS, SRS_CIRCUITS, golden, run, sha256_file, DATA

EXPECTED = {
    "porep-2k": json.loads((DATA / "porep-2k-srs.json").read_text()),
    "winning-2k": golden("winning-2k-1")["srs"],
    "window-2k": golden("window-2k-1sector")["srs"],
    "update-2k": golden("update-2k-6")["srs"],
}
os.makedirs(SRS, exist_ok=True)
for circuit in SRS_CIRCUITS:
    want = EXPECTED[circuit]
    stamp = pathlib.Path(SRS, circuit + ".ok")
    if stamp.exists() and stamp.read_text() == want["params_sha256"]:
        print(f"{circuit}: kept")
        continue
    code, out, err = run("setup", circuit, "--test-srs", "--out", SRS, "--cache-dir", CACHE, "--json")
    if code:
        sys.exit(f"{circuit}: {out}{err}")
    made = json.loads(out)
    for key in ("params_sha256", "params_bytes", "params_blake2b_head16", "a", "b_g1", "b_g2", "h", "l"):
        if made[key] != want[key]:
            sys.exit(f"{circuit}: {key} is {made[key]}, not {want[key]}")
    vk = pathlib.Path(made["file"].replace(".params", ".vk")).read_bytes().hex()
    if vk != want["vk"]:
        sys.exit(f"{circuit}: the .vk differs from the golden one")
    if sha256_file(made["file"]) != want["params_sha256"]:
        sys.exit(f"{circuit}: the file does not have the digest that was printed")
    stamp.write_text(want["params_sha256"])
    print(f"{circuit}: made, equal to the golden digest")
