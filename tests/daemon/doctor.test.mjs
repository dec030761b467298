// cuzk doctor beside a daemon that runs: its own configuration has no problem, and no address is called taken.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, startDaemon } from './support.mjs';

const look = (d, ...args) => {
  const p = spawnSync(env.cuzk, ['doctor', '--json', '--config', d.config, ...args],
    { env: { ...process.env, CUZK_DOCTOR_PRETEND: 'memory=256,disk=500,store_disk=500' } });
  const j = JSON.parse(String(p.stdout));
  return { code: p.status, of: (subject) => j.findings.filter((f) => f.subject === subject).map((f) => `${f.verdict}: ${f.finding}`), j };
};

test('the daemon that runs is known as one', async () => {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const page = `127.0.0.1:${free.address().port}`;
  free.close();
  await once(free, 'close');
  const d = await startDaemon({ toml: { daemon: { status_listen: page } } });
  assert.ok(d.port, d.log);
  try {
    const r = look(d, '--listen', d.address);
    assert.deepEqual(r.of('port'), [`ok: a daemon answers on ${d.address}`, `ok: ${page} is in use while the daemon runs`]);
    assert.equal(r.code, 0, JSON.stringify(r.j));
  } finally { await d.stop(); }
});

test('on a unix socket, and its store', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'cuzk-doctor-'));
  const d = await startDaemon({ listen: `unix://${dir}/sock`, toml: { store: { url: `sqlite:${dir}/store/jobs.db` } } });
  try {
    assert.match(d.log, /listens on/);
    assert.ok(existsSync(join(dir, 'store', 'jobs.db')));
    const r = look(d);
    assert.deepEqual(r.of('socket'), [`ok: a daemon answers on ${dir}/sock`]);
    assert.equal(r.of('store').filter((s) => s.startsWith('problem')).length, 0);
    assert.equal(r.code, 0, JSON.stringify(r.j));
  } finally {
    await d.stop();
    rmSync(dir, { recursive: true, force: true });
  }
});
