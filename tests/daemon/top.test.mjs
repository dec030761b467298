// cuzk top: jobs, devices, parameters; a snapshot through a pipe, and the live view on a pseudo-terminal (made by Python's pty).
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { connect, env, request, startDaemon, until } from './support.mjs';

let d, first;
before(async () => {
  d = await startDaemon();
  assert.ok(d.port, d.log);
  const c = connect(d.address);
  const { result } = await c.Prove({ submit: request('winning-2k-1') });
  assert.equal(result.status, 'COMPLETED', result.error_message);
  first = result.job_id;
  c.close();
});
after(async () => { await d.stop(); });

// Runs top on a terminal of ROWS x COLUMNS until it was drawn FRAMES times; then types q, or first changes the window to
// what RESIZE says and waits for one more. Prints what was drawn; its exit status is top's.
const PTY = `
import os, pty, sys, time, select, fcntl, termios, struct
rows, columns, frames, resize = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
size = lambda fd, r, c: fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", r, c, 0, 0))
pid, fd = pty.fork()
if pid == 0:
    size(0, rows, columns)
    os.execv(sys.argv[5], sys.argv[5:])
out, end, typed = b"", time.time() + 100, False
while True:
    if out.count(b"\\x1b[H") >= frames and out.endswith(b"\\x1b[K") and resize:
        size(fd, *map(int, resize.split("x"))); resize = ""; frames += 1
    elif not typed and (time.time() > end or (out.count(b"\\x1b[H") >= frames and out.endswith(b"\\x1b[K"))):
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
const onTerminal = (rows, columns, frames, args, resize = '') => {
  const p = spawnSync('python3', ['-c', PTY, String(rows), String(columns), String(frames), resize, env.cuzk, 'top', ...args], { timeout: 180000 });
  const out = String(p.stdout);
  // the lines of each frame, without what steers the terminal, the last line (q quits) with them
  const drawn = out.split('\x1b[H').slice(1).map((f) => f.split('\r\n').map((l) => l.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '')));
  return { code: p.status, out, drawn };
};

test('a snapshot through a pipe', () => {
  const p = spawnSync(env.cuzk, ['top', '--addr', d.address]);
  assert.equal(p.status, 0, String(p.stderr));
  const out = String(p.stdout);
  assert.match(out, /1 proved, 0 failed/);
  assert.match(out, /0 waiting, 0 running; memory \d+\.\d of \d+\.\d GiB/);
  assert.match(out, /WinningPoSt +0 +0/);
  assert.match(out, /winning-2k .*on the device/);
  assert.match(out, new RegExp(`winpost-1000-5 +WinningPoSt +completed +1/1 #{16} +0 min \\d+ s +${first}`));
  assert.ok(!out.includes('\x1b'), 'no escapes');
});

test('the live view: drawn again, cut to the window, cleaned up', () => {
  const r = onTerminal(24, 60, 4, ['--addr', d.address, '--interval-ms', '200']);
  assert.equal(r.code, 0);
  assert.ok(r.drawn.length >= 4, 'drawn more than once');
  assert.match(r.out, /proofs a minute/);
  assert.ok(r.out.includes('\x1b[?1049h') && r.out.endsWith('\x1b[?25h\x1b[?1049l'), 'the screen is given back');
});

test('any size: nothing beyond the window, and what matters most stays', () => {
  for (const [rows, columns] of [[1, 1], [2, 5], [3, 10], [6, 80], [10, 40], [16, 60], [24, 80], [60, 200]]) {
    const r = onTerminal(rows, columns, 1, ['--addr', d.address]);
    assert.equal(r.code, 0, `${rows}x${columns}`);
    assert.ok(r.drawn[0].length <= rows, `${rows}x${columns}: ${r.drawn[0].length} lines`);
    for (const l of r.drawn[0]) assert.ok(l.length <= columns, `${rows}x${columns}: ${l}`);
    const text = r.drawn[0].join('\n');
    if (rows >= 10 && columns >= 40) assert.match(text, /\nJOB .*\nwinpost-10/, text);
    if (rows >= 16) assert.match(text, /PARAMETERS[\s\S]*winning-2k/, text);
    assert.equal(/QUEUE/.test(text), rows >= 24, text);
  }
});

test('a window that changes is drawn at once', () => {
  const r = onTerminal(40, 150, 1, ['--addr', d.address, '--interval-ms', '3600000'], '12x30');
  assert.equal(r.code, 0);
  assert.ok(r.drawn.length >= 2, 'once more, an hour too early');
  assert.ok(r.drawn[0].some((l) => l.length > 30));
  const last = r.drawn.at(-1);
  assert.ok(last.length <= 12 && last.every((l) => l.length <= 30), last.join('\n'));
});

test('a queue: what runs comes first, what waits in order, the rest is counted', async () => {
  const c = connect(d.address);
  const jobs = [];
  for (let i = 0; i < 215; i++) // more than a status lists: the one that runs must be among them, although it is the oldest
    jobs.push((await c.SubmitProof(request('porep-2k-v1_1-1', { request_id: `queue-${i}` }))).job_id);
  await until(async () => (await c.GetStatus({ jobs: 1 })).jobs[0]?.state === 'running', 'one of them runs');
  const s = await c.GetStatus({ jobs: 5 });
  assert.equal(s.jobs.length, 5);
  assert.equal(s.jobs[0].state, 'running');
  assert.equal(s.jobs[0].proof_kind, 'porep');
  assert.ok(s.jobs[0].age_ms >= s.jobs[0].running_ms && s.memory_budget_bytes > 0);
  assert.equal((await c.GetStatus({})).jobs.length, 0, 'only for those who ask');
  const r = onTerminal(16, 80, 1, ['--addr', d.address]);
  const rows = r.drawn[0].filter((l) => /^queue-\d/.test(l));
  assert.ok(rows.length >= 2, r.drawn[0].join('\n'));
  const states = rows.map((l) => l.split(/ +/)[2]);
  assert.deepEqual(states, [...states].sort().reverse(), 'running, then queued');
  const waiting = rows.filter((l) => / queued /.test(l)).map((l) => Number(/^queue-(\d+)/.exec(l)[1]));
  assert.deepEqual(waiting, [...waiting].sort((a, b) => a - b));
  assert.match(r.drawn[0].join('\n'), /and \d+ more that wait or run/);
  for (const id of jobs) await c.CancelProof({ job_id: id }).catch(() => {});
  c.close();
});

test('an id that would steer the terminal does not', async () => {
  const c = connect(d.address);
  const evil = 'evil\x1b[2J\x07\r\n';
  try {
    const { job_id } = await c.SubmitProof(request('winning-2k-1', { request_id: evil }));
    await c.AwaitProof({ job_id, timeout_ms: 60000 });
    const out = String(spawnSync(env.cuzk, ['top', '--addr', d.address]).stdout);
    assert.match(out, /evil\?\[2J\?\?\? /);
    assert.ok(!/[\x00-\x09\x0b-\x1f]/.test(out));
  } catch (e) { assert.equal(e.code, 3, String(e)); } // or such an id is refused
  c.close();
});

test('no daemon: a sentence, live and once', () => {
  const p = spawnSync(env.cuzk, ['top', '--addr', 'unix:///nowhere/sock']);
  assert.equal(p.status, 3);
  assert.match(String(p.stderr), /no daemon answers/);
  const r = onTerminal(24, 100, 1, ['--addr', 'unix:///nowhere/sock']);
  assert.equal(r.code, 0);
  assert.match(r.out, /no daemon answers.*\r\n.*trying again/);
  assert.equal(spawnSync(env.cuzk, ['top', '--interval-ms', '5']).status, 2);
});
