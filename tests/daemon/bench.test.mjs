// cuzk-bench daemon: a load against a daemon that runs, a sweep over options, what cannot be done.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { env, golden, goldenJson, startDaemon } from './support.mjs';

let d, dir, input;
const bench = (...args) => {
  const p = spawnSync(join(dirname(env.cuzk), 'cuzk-bench'), ['daemon', ...args], { timeout: 600000 });
  return { code: p.status, out: String(p.stdout), err: String(p.stderr) };
};
before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'cuzk-bench-test-'));
  d = await startDaemon();
  assert.ok(d.port, d.log);
  const g = goldenJson('winning-2k-1');
  writeFileSync(join(dir, 'vanilla'), golden('winning-2k-1', 'vanilla-0.bin'));
  input = ['--kind', 'winning', '--vanilla', join(dir, 'vanilla'), '--registered-proof', g.registered_proof, '--randomness', g.randomness];
});
after(async () => {
  assert.equal((await d.stop()).code, 0, d.log);
  rmSync(dir, { recursive: true, force: true });
});

test('a load: every proof is made, figures agree with each other', () => {
  const svg = join(dir, 'waterfall.svg');
  const r = bench('-c', '3', '-j', '5', ...input, '--addr', d.address, '--pid', String(d.child.pid), '--svg', svg, '--json');
  assert.equal(r.code, 0, r.err);
  const j = JSON.parse(r.out);
  assert.equal(j.completed, 5);
  assert.equal(j.failed, 0);
  assert.ok(Math.abs(j.proofs_per_minute - 300 / j.seconds) < 0.1);
  const l = j.latency_seconds;
  assert.ok(0 < l.least && l.least <= l.p50 && l.p50 <= l.p90 && l.p90 <= l.p99 && l.p99 <= l.most && l.most <= j.seconds);
  // never more than three under way
  const edges = j.jobs.flatMap((b) => [[b.start_ms, 1], [b.end_ms, -1]]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let open = 0;
  for (const [, step] of edges) assert.ok((open += step) <= 3);
  for (const b of j.jobs) {
    assert.ok(b.stages.some((s) => s.stage === 'prove'), 'a timeline');
    for (const s of b.stages) assert.ok(s.start_ms >= b.start_ms - 1 && s.end_ms <= b.end_ms + 100, JSON.stringify([b.start_ms, b.end_ms, s]));
  }
  assert.ok(j.rss_peak_bytes > 10 << 20 && j.rss.length > 1 && Math.max(...j.rss.map((x) => x.bytes)) === j.rss_peak_bytes);
  execFileSync('python3', ['-c', 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])', svg]);
  const text = readFileSync(svg, 'utf8');
  assert.equal(text.match(/class="prove"[^>]*><title>/g).length, 5);
  assert.match(text, /<polyline/);
});

test('as text', () => {
  const r = bench('-c', '2', '-j', '2', ...input, '--addr', d.address, '--warm-up', '0');
  assert.equal(r.code, 0, r.err);
  assert.match(r.out, /2 proofs in .* a minute/);
  assert.equal(r.out.match(/\|.*P.*\|/g).length, 2);
});

test('a sweep restarts the daemon with each value', () => {
  const before = readdirSync('/tmp').filter((n) => /^cuzk-bench-\w{6}$/.test(n)).length;
  const r = bench('-c', '2', '-j', '2', ...input, '--daemon-config', d.config, '--daemon', env.daemon, '--json', '--sweep',
    'gpus.gpu_workers_per_device=1,2', 'gpus.backend=cpu', 'scheduler.order=sideways', 'scheduler.nothing=1');
  assert.equal(r.code, 1, r.err);
  const rows = JSON.parse(r.out).rows;
  assert.deepEqual(rows.map((x) => [x.option, x.value, x.completed]), [['gpus.gpu_workers_per_device', '1', 2], ['gpus.gpu_workers_per_device', '2', 2],
    ['gpus.backend', 'cpu', 2], ['scheduler.order', 'sideways', undefined], ['scheduler.nothing', '1', undefined]]);
  assert.match(rows[3].error, /scheduler\.order/);
  assert.match(rows[4].error, /no option scheduler\.nothing/);
  assert.ok(rows[0].proofs_per_minute > 0 && rows[0].rss_peak_bytes > 0);
  assert.equal(readdirSync('/tmp').filter((n) => /^cuzk-bench-\w{6}$/.test(n)).length, before, 'nothing is left behind');
});

test('what cannot be done is a sentence', () => {
  assert.equal(bench('--addr', d.address).code, 2);
  assert.match(bench('--c1', join(dir, 'vanilla'), '--addr', d.address).err, /not JSON/);
  assert.equal(bench(...input, '-c', '0').code, 2);
  assert.equal(bench(...input, '--sweep', 'a.b=1').code, 2);
  assert.equal(bench(...input, '--daemon-config', d.config, '--sweep', 'nonsense').code, 2);
  const nobody = bench(...input, '--addr', `unix://${join(dir, 'nobody')}`);
  assert.equal(nobody.code, 3);
  assert.match(nobody.err, /no daemon answers/);
  const svg = join(dir, 'no', 'such', 'folder.svg');
  assert.equal(bench('-c', '1', '-j', '1', ...input, '--addr', d.address, '--warm-up', '0', '--svg', svg).code, 2);
  assert.ok(!existsSync(svg));
  // a job that fails is counted, not hidden
  const wrong = [...input.slice(0, -1), '00'.repeat(31) + '07'];
  const r = bench('-c', '2', '-j', '2', ...wrong, '--addr', d.address, '--warm-up', '0', '--json');
  assert.equal(r.code, 1, r.err);
  const j = JSON.parse(r.out);
  assert.equal(j.failed, 2);
  assert.match(j.first_error, /sector|challenge/);
});
