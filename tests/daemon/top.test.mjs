// cuzk top: a snapshot through a pipe, and the live view on a pseudo-terminal (made by Python's pty).
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { connect, env, request, startDaemon } from './support.mjs';

let d;
before(async () => {
  d = await startDaemon();
  assert.ok(d.port, d.log);
  const c = connect(d.address);
  assert.equal((await c.Prove({ submit: request('winning-2k-1') })).result.status, 'COMPLETED');
  c.close();
});
after(async () => { await d.stop(); });

// Runs top on a terminal of ROWS x COLUMNS, types q after a while; prints the exit status and what was drawn.
const PTY = `
import os, pty, sys, time, select, fcntl, termios, struct
rows, columns, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[4], sys.argv[4:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
out, end, typed = b"", time.time() + seconds, False
while True:
    if time.time() > end and not typed:
        os.write(fd, b"q"); typed = True
    try:
        if select.select([fd], [], [], 0.1)[0]:
            chunk = os.read(fd, 65536)
            if not chunk: break
            out += chunk
    except OSError: break
    if time.time() > end + 20: break
sys.stdout.buffer.write(out)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`;
const onTerminal = (rows, columns, seconds, ...args) => {
  const p = spawnSync('python3', ['-c', PTY, String(rows), String(columns), String(seconds), env.cuzk, 'top', ...args], { timeout: 60000 });
  return { code: p.status, out: String(p.stdout) };
};

test('a snapshot through a pipe', () => {
  const p = spawnSync(env.cuzk, ['top', '--addr', d.address]);
  assert.equal(p.status, 0, String(p.stderr));
  const out = String(p.stdout);
  assert.match(out, /1 proved, 0 failed/);
  assert.match(out, /WinningPoSt +0 +0/);
  assert.match(out, /winning-2k .*on the device/);
  assert.ok(!out.includes('\x1b'), 'no escapes');
});

test('the live view: drawn again, cut to the window, cleaned up', () => {
  const r = onTerminal(24, 60, 1.5, '--addr', d.address, '--interval-ms', '200');
  assert.equal(r.code, 0);
  assert.ok(r.out.split('\x1b[H').length > 4, 'drawn more than once');
  assert.match(r.out, /proofs a minute/);
  assert.ok(r.out.includes('\x1b[?1049h') && r.out.endsWith('\x1b[?25h\x1b[?1049l'), 'the screen is given back');
  const frame = r.out.split('\x1b[H').at(-2);
  for (const l of frame.split('\r\n')) assert.ok(l.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '').length <= 60, l);
  const small = onTerminal(6, 80, 0.5, '--addr', d.address);
  assert.equal(small.code, 0);
  assert.ok(small.out.split('\x1b[H')[1].split('\r\n').length <= 6, 'cut to the height');
});

test('no daemon: a sentence, live and once', () => {
  const p = spawnSync(env.cuzk, ['top', '--addr', 'unix:///nowhere/sock']);
  assert.equal(p.status, 3);
  assert.match(String(p.stderr), /no daemon answers/);
  const r = onTerminal(24, 100, 0.7, '--addr', 'unix:///nowhere/sock');
  assert.equal(r.code, 0);
  assert.match(r.out, /no daemon answers.*\r\n.*trying again/);
  assert.equal(spawnSync(env.cuzk, ['top', '--interval-ms', '5']).status, 2);
});
